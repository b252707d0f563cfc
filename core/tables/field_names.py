"""The names under which files from outside keep a question's parts and its answer: one table for question banks,
results and all importers.

Names are compared by their letters and digits alone (:func:`plain_name`): ``answerKey``, ``answer_key`` and
``Answer Key`` are the same. Of several names that a file has, the one that stands first in its list counts.
"""

import functools
from collections.abc import Iterable, Sequence

from core.records import Role

LABEL_NAMES = (
    *("label", "answer", "gold", "target", "truth", "correct", "y", "answer_key", "answerkey", "correct_answer"),
    *("right_answer", "correct_option", "gold_label", "gold_index", "gold_idx", "label_idx", "label_index"),
    *("answer_idx", "answer_index", "ground_truth", "true_label", "y_true", "reference", "solution", "expected"),
    *("expected_answer", "correct_choice", "correct_label", "answer_letter", "gold_answer", "cop", "ans"),
    *("correct_idx", "correct_index", "correct_answer_num", "correct_answer_id", "correct_answer_idx"),
    *("correct_answer_index", "correct_option_index", "correct_option_idx", "correct_option_letter", "correct_letter"),
    *("correct_answer_letter", "right_option", "right_choice", "answer_id", "answer_num", "answer_number"),
    *("answer_right_ending", "best_answer", "final_decision", "final_answer", "gold_choice", "mc_answer"),
    *("correct_answers", "correct_options", "correct_choices", "right_answers", "gold_answer_letter", "targets", "ra"),
    *("true_class", "actual", "actual_label", "actual_class", "gt", "gt_label", "true_answer", "y_test"),
    *("key", "answers", "richtig", "respuesta", "respuesta_correcta", "答案", "正确答案"),
)
"""The right option: its letter, its number or its text."""
CLASS_LABEL_NAMES = (
    *("labels", "targets", "answers", "golds", "gold_labels", "true_labels", "correct_answers"),
    *("true_class", "y_test", "true", "actual", "actual_class", "actual_label", "true_category", "true_y", "y_actual"),
    *("target_class", "target_label", "target_name", "class_label", "label_name", "test_label", "gt", "gt_label"),
    *("observed", "outcome", "class", "y_val", "y_cal", "true_name", "gold_class", "reference_class"),
)
"""The right option in a table of results where no column has one of ``LABEL_NAMES``: arrays, and classifiers."""
RIGHT_NAMES = ("correct", "is_correct", "acc", "accuracy", "right")
"""Columns that may say whether the model was right, which is not which option is."""
PICK_NAMES = (
    *("prediction", "pred", "predicted", "model_answer", "response", "output", "pick", "choice", "model_output"),
    *("predicted_answer", "predicted_label", "pred_label", "generated_text", "completion", "extracted_answer"),
)
ID_NAMES = ("id", "qid", "question_id", "doc_id", "sample_id", "item_id", "example_id", "instance_id")
TEXT_NAMES = ("question", "text", "prompt", "query", "stem", "question_text", "input")
QUESTION_NAMES = (
    *("question", "question_text", "question_stem", "stem", "prompt", "query", "question_content", "ques", "q"),
    *("problem", "goal", "input", "sentence", "text", "questions", "instruction", "qtext", "question_en", "inputs"),
    *("inputs_pretokenized", "frage", "pregunta", "问题", "题目"),
)
"""What is asked, in a question bank. ``text`` and ``input`` beside a question are its context."""
HYPOTHESIS_NAMES = ("hypothesis", "sentence2", "claim")
"""A statement about the context, which is part of what is asked."""
CONTEXT_NAMES = (
    *("context", "passage", "article", "support", "story", "sentence1", "premise", "ctx", "paragraph", "para"),
    *("document", "dialogue", "dialogue_history", "dialog", "conversation", "background", "scenario", "situation"),
    *("case", "vignette", "narrative", "essay", "abstract", "contexts", "flores_passage", "reading_passage"),
    *("passage_text", "context_text", "body", "excerpt", "startphrase", "citing_prompt", "text", "input"),
)
"""What a question is about: a text that stands before it."""
CONTEXT_BEGINNINGS = ("input_sentence", "observation", "obs", "context", "sentence", "turn")
"""The words before the number of a sentence of the context, where each sentence is a field."""
OPTIONS_NAMES = (
    *("options", "choices", "option", "choice", "answers", "endings", "candidates", "alternatives", "option_texts"),
    *("choice_texts", "possible_answers", "answer_choices", "answer_options", "options_list", "choice_list", "ops"),
    *("mc_options", "mcq_options", "mc1_targets", "target_scores", "multiple_choice_targets"),
)
"""One field with all options: a list, an object or their text."""
OPTION_BEGINNINGS = (
    *("option", "opt", "op", "choice", "answer", "ans", "ending", "candidate", "alternative", "sol", "mc_answer"),
    *("sentence_quiz", "random_fifth_sentence_quiz", "solution", "hypothesis", "text_option"),
)
"""The words before the letter or number of an option's own column: ``option_a``, ``opa``, ``choice1``, ``ans0``."""
WRONG_BEGINNINGS = ("distractor", "incorrect_answer", "incorrect", "wrong_answer", "wrong", "false_answer")
"""The words before the number of a wrong option's own column, beside a column with the right one's text."""
WRONG_NAMES = ("distractors", "incorrect_answers", "wrong_answers", "false_answers", "incorrect_options")
"""One field with all wrong options, beside a field with the right one's text."""
CLUSTER_NAMES = ("cluster",)
"""A column of names or numbers: rows with the same one belong together, as the questions about one passage do."""
ORDERED_NAMES = ("ordered", "is_ordered")
"""A column of true and false: whether a question's options are ordered levels."""
GROUP_NAMES = ("group", "subject", "category", "topic", "subject_name", "activity_label")
SPLIT_NAMES = (
    *("split", "role", "set", "fold", "part", "subset", "partition", "dataset_split", "data_split", "split_name"),
    *("phase", "stage", "usage"),
)
TRAIN_FLAGS = ("is_train", "train", "in_train", "is_training", "training")
"""Columns that say with 1 or true which rows a model was fitted to."""
ROLES: dict[str, Role] = {
    **dict.fromkeys(("calibration", "calibrate", "calib", "cal", "validation", "valid", "val", "dev"), "calibration"),
    **dict.fromkeys(("test", "testing", "evaluation", "eval"), "test"),
    **dict.fromkeys(("demonstration", "demo"), "demonstration"),
    "rotation": "rotation",
}
"""From a word in the split's column to what a question is for."""
TRAINING = {"train", "training", "trn", "fit", "fitting", "learn", "learning"}
"""Words in the split's column for rows that a model was fitted to, which neither calibrate nor test."""
MODEL_NAMES = ("model", "model_name", "model_id")
TASK_NAMES = ("task", "task_name", "dataset", "benchmark")
OPTION_NAMES = ("option", "choice", "letter", "option_letter", "choice_letter", "option_id", "choice_id", "label")
"""Columns that name the option of a row, in a table with a row for each option."""
CLASS_NAMES = ("classes", "class_names", "target_names", "label_names", "categories", "class_labels", "options")
"""The names of the options once for all rows, beside arrays of their figures."""
JUROR_NAMES = ("juror", "judge", "judge_model", "judge_name", "rater", "evaluator", "annotator", "grader")
VERDICT_NAMES = ("p_true", "verdict", "judgement", "judgment", "vote", "decision", "probability")
"""Columns of a table with a row for each verdict: who gave it, and what it is."""
JUDGED_NAMES = (
    *("answer", "response", "output", "completion", "claim", "statement", "model_answer", "candidate", "reply"),
)
"""In the table of a jury, the answer that is judged."""
TRUTH_NAMES = (
    *("human", "human_label", "human_verdict", "human_judgement", "human_judgment", "human_preference", "human_winner"),
    *("human_annotation", "human_choice", "expert", "gold", "gold_label", "ground_truth", "truth", "label"),
    *("accurate_judgement", "correctness", "is_correct", "correct", "target", "preferred"),
)
"""In the table of a jury, columns that say what is right."""


@functools.lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """A field's name by its letters and digits alone, in lower case.

    >>> plain_name("Correct Answer"), plain_name("answerKey")
    ('correctanswer', 'answerkey')
    """
    return "".join(character for character in name.lower() if character.isalnum())


def matching(names: Iterable[str], candidates: Sequence[str]) -> list[str]:
    """All names of a file that are among the candidates, in the order of the candidates.

    >>> matching(["text", "Label", "Question"], TEXT_NAMES)
    ['Question', 'text']
    """
    names_of_file: dict[str, list[str]] = {}
    for name in names:
        names_of_file.setdefault(plain_name(str(name)), []).append(name)
    wanted = dict.fromkeys(plain_name(candidate) for candidate in candidates)
    return [name for candidate in wanted for name in names_of_file.get(candidate, [])]


def first(names: Iterable[str], candidates: Sequence[str]) -> str:
    """The name of a file's field that is the first of the candidates; empty if it has none of them.

    >>> first(["id", "answerKey"], LABEL_NAMES), first(["id"], LABEL_NAMES)
    ('answerKey', '')
    """
    return next(iter(matching(names, candidates)), "")
