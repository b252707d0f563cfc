"""The names under which files from outside keep a question's parts and its answer: one table for question banks,
results and all importers. Names are compared in lower case."""

from __future__ import annotations

LABEL_NAMES = (
    *("label", "answer", "gold", "target", "truth", "correct", "y", "answer_key", "answerkey", "correct_answer"),
    *("right_answer", "correct_option", "gold_label", "gold_index", "gold_idx", "label_idx", "label_index"),
    *("answer_idx", "answer_index", "ground_truth", "true_label", "y_true", "reference", "solution", "expected"),
    *("expected_answer", "correct_choice", "correct_label", "answer_letter", "gold_answer"),
)
RIGHT_NAMES = ("correct", "is_correct", "acc", "accuracy", "right")
"""Columns that may say whether the model was right, which is not which option is."""
PICK_NAMES = (
    *("prediction", "pred", "predicted", "model_answer", "response", "output", "pick", "choice", "model_output"),
    *("predicted_answer", "predicted_label", "pred_label", "generated_text", "completion", "extracted_answer"),
)
ID_NAMES = ("id", "qid", "question_id", "doc_id", "sample_id", "item_id", "example_id", "instance_id")
TEXT_NAMES = ("question", "text", "prompt", "query", "stem", "question_text", "input")
CLUSTER_NAMES = ("cluster",)
"""A column of names or numbers: rows with the same one belong together, as the questions about one passage do."""
GROUP_NAMES = ("group", "subject", "category", "topic")
SPLIT_NAMES = ("split", "role", "set", "fold", "part")
MODEL_NAMES = ("model", "model_name", "model_id")
TASK_NAMES = ("task", "task_name", "dataset", "benchmark")
OPTION_NAMES = ("option", "choice", "letter", "option_letter", "choice_letter", "option_id", "choice_id", "label")
"""Columns that say of which option a row is, in a table with a row for each option."""
