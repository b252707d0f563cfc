"""Every kind of file that Hedge tells apart: one record each, from which all that depends on the kind follows.

A new importer is a module that ends with its record, ``KIND``, and a line here. A file is of the first kind whose
record recognises it, so the order matters where two would.
"""

from core.exchange import (
    bluq,
    decision_index,
    helm,
    inspect_log,
    judged_pairs,
    lighteval,
    llm_uncertainty_bench,
    opencompass,
    run_folder,
    score_arrays,
    vlm_uncertainty_bench,
)
from core.exchange import lm_eval as lm_eval_samples
from core.exchange.cited_work import CitedWork
from core.exchange.dropped import examples, marks
from core.exchange.dropped.kind import Kind
from core.exchange.dropped.marks import rows_have
from core.exchange.dropped.other_tools import holds_picks, holds_tensors, torch_arrays
from core.models.perplexity import conversation_files
from core.questions import finished, quiz_files

MEANS = "it holds scores of a whole run; sets need the probability of every option of every question"

UNCLEAR = "unclear"
"""The kind of a table that may have questions or results: a person has to say which."""
MEANT = {"questions": "questions", "results": "table"}
"""What a person can say that a table has, and the kind that it then is."""

KINDS: dict[str, Kind] = {
    # -------------------------------------------------------- results of tools
    "helm": helm.KIND,
    "opencompass": opencompass.KIND,
    "run": Kind(
        title="run of Hedge",
        place="runs",
        listed="what Hedge exports",
        document=run_folder.is_record,
    ),
    "run parts": Kind(
        title="part of a run of Hedge",
        place="runs",
        document=lambda values: set(values) == {"shared"},
        table=marks.is_run_part,
    ),
    "inspect": inspect_log.KIND,
    "lighteval": lighteval.KIND,
    "decision index": decision_index.KIND,
    "decision suite": decision_index.SUITE_KIND,
    "bench": Kind(
        title="option logits of LLM-Uncertainty-Bench",
        article="",
        place="runs",
        listed="LLM-Uncertainty-Bench pickles with their answers",
        pickled=llm_uncertainty_bench.is_result,
        origin=llm_uncertainty_bench.ORIGIN,
        examples=examples.BENCH,
    ),
    "vlm": vlm_uncertainty_bench.KIND,
    "bluq": bluq.KIND,
    "npz": Kind(
        title="numpy archive",
        place="runs",
        listed="numpy arrays of scores and labels",
        archive=lambda names, path: marks.is_npz(names),
        read=score_arrays.read_npz,
        origin=score_arrays.ORIGIN,
        examples=examples.NPZ,
    ),
    "npy": Kind(title="numpy array", place="runs", begins=(b"\x93NUMPY",), examples=examples.NPY),
    # -------------------------------------------------------- picks and answers
    "picks": Kind(
        title="answers of a model",
        article="",
        sentence="it says which answers a model gave or whether they were right; sets need the probability of every "
        "option",
        document=holds_picks,
        line=holds_picks,
        examples=examples.PICKS,
    ),
    "lm-eval": Kind(
        title="samples of lm-evaluation-harness",
        article="",
        place="runs",
        listed="lm-evaluation-harness samples",
        document=lm_eval_samples.is_document,
        line=lm_eval_samples.is_sample,
        origin=lm_eval_samples.ORIGIN,
        cited=CitedWork(
            "eval-harness",
            "misc",
            "Gao, Leo and others",
            "A Framework for Few-Shot Language Model Evaluation",
            2023,
            "Zenodo",
            doi="10.5281/zenodo.10256836",
        ),
        examples=examples.LM_EVAL,
    ),
    # -------------------------------------------------------- juries
    "pairs": Kind(
        title="judged pairs of answers",
        article="",
        place="jury",
        listed="LLMBar, PandaLM and AlpacaEval",
        entries=lambda rows: judged_pairs.format_of(rows) is not None,
        examples=examples.PAIRS,
    ),
    "jury": Kind(
        title="judgements of jurors",
        article="",
        place="jury",
        listed="judgements of several models",
        table=marks.is_jury,
        examples=examples.JURY,
    ),
    "jury labels": Kind(title="labels of a jury's answers", article="", place="jury", table=marks.is_jury_labels),
    "jury text": Kind(
        title="judgements of a juror", article="", place="jury", text=marks.is_juror_text, examples=examples.JURY_TEXT
    ),
    # -------------------------------------------------------- questions and texts
    "answers": Kind(
        title="answers of a data set",
        article="",
        place="runs",
        document=lambda values: rows_have(values.get("labels"), "id", "answer"),
        entries=lambda rows: finished.is_finished([row for row in rows[:1] if isinstance(row, dict)]),
    ),
    "conversation": Kind(
        title="conversation",
        place="perplexity",
        sentence="The Perplexity page scores the words of conversations.",
        listed="conversations",
        document=conversation_files.holds_conversations,
        entries=conversation_files.is_conversations,
        line=conversation_files.is_conversation,
        table=lambda view: (
            not view.is_scored and not view.texts and conversation_files.is_conversation_table(view.sheet)
        ),
        text=conversation_files.is_conversation_text,
        examples=examples.CONVERSATION,
    ),
    "choices": Kind(
        title="file of choices",
        plural="files of choices",
        place="perplexity",
        sentence="The Perplexity page shows which ending a model finds likeliest.",
        listed="choices of endings",
        line=marks.is_choice,
        table=marks.is_choices,
        examples=examples.CHOICES,
    ),
    "table": Kind(
        title="table of option probabilities",
        place="runs",
        listed="tables (CSV, XLSX, Parquet, JSON) with a probability, logit or log-probability for each option",
        document=marks.is_table,
        table=marks.is_results_table,
        origin="table",
        examples=examples.TABLE,
    ),
    "workbook": Kind(
        title="workbook",
        place="runs",
        archive=lambda names, path: "xl/workbook.xml" in names,
        origin="table",
        examples=examples.WORKBOOK,
    ),
    UNCLEAR: Kind(
        title="table of questions or of results",
        sentence="its options are numbers, so it may be a question bank or a model's results; say which with --as "
        "questions or --as results",
        table=marks.is_unclear,
        examples=examples.UNCLEAR,
    ),
    "questions": Kind(
        title="question bank",
        place="new_run",
        sentence="A model can answer its questions on the page New run.",
        listed="question banks (tables, Moodle XML, GIFT)",
        head=quiz_files.is_quiz,
        line=lambda row: isinstance(row.get("question"), dict) and "choices" in row["question"],
        table=marks.is_bank,
        examples=examples.BANK,
    ),
    # -------------------------------------------------------- files without anything to import
    "results": Kind(
        title="results file of lm-evaluation-harness",
        place="runs",
        document=marks.is_results_file,
        examples=examples.RESULTS,
    ),
    "model": Kind(
        title="model folder",
        place="new_run",
        sentence="Give the path of its folder as the model of a new run.",
        document=marks.is_model,
        examples=examples.MODEL,
    ),
    "weights": Kind(
        title="file of model weights",
        plural="files of model weights",
        place="new_run",
        sentence="Give the path of the model's folder on the page New run.",
        begins=(b"GGUF", b"\x89HDF"),
        head=marks.is_safetensors,
        archive=lambda names, path: holds_tensors(names) and not torch_arrays(path),
    ),
    "claims": Kind(
        title="claims with scores",
        article="",
        sentence="it holds claims with scores, which no page of Hedge shows",
        document=lambda values: len(values) == 1 and rows_have(values.get("data"), "prompt"),
    ),
    "helm parts": Kind(
        title="predictions of HELM",
        article="",
        sentence="it holds predictions of HELM without the options' log-probabilities; import the "
        "scenario_state.json that stands beside it",
        entries=lambda rows: any(rows_have(rows, "instance_id", n) for n in ("predicted_text", "request", "stats")),
    ),
    "summary": Kind(
        title="scores of a whole run",
        article="",
        plural="files with scores of whole runs",
        sentence=MEANS,
        document=marks.holds_scores,
        entries=lambda rows: any(
            rows_have(rows, *keys)
            for keys in (("avg_set_size",), ("coverage_rate",), ("stats",), ("name", "count", "sum", "mean"))
        ),
        table=marks.is_summary,
        examples=examples.SUMMARY,
    ),
    "torch": Kind(
        title="file of PyTorch",
        sentence="it is a file of PyTorch, which can run code when it is opened and is not read; save its arrays with "
        "numpy as npz",
        archive=lambda names, path: holds_tensors(names) and torch_arrays(path),
    ),
    "text": Kind(
        title="text",
        sentence="it is text without results",
        document=lambda values: {"cells", "nbformat"} <= values.keys(),
    ),
    "opendocument": Kind(
        title="OpenDocument file",
        article="an",
        sentence="it is an OpenDocument file, which is not read; save it as XLSX or CSV",
        archive=lambda names, path: {"mimetype", "content.xml"} <= set(names),
    ),
    "picture": Kind(
        title="picture or document",
        sentence="it is a picture or a document without results",
        begins=(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"%PDF", b"<svg", b"<!DOCTYPE", b"<html"),
        archive=lambda names, path: "[Content_Types].xml" in names or "mimetype" in names,
    ),
    "config": Kind(
        title="settings of a run",
        article="",
        sentence="it holds settings, no results",
        document=marks.is_settings,
        examples=examples.CONFIG,
    ),
    "arrow": Kind(
        title="Arrow file",
        article="an",
        sentence="it is an Arrow (Feather) file, which is not read; save it as Parquet",
        begins=(b"ARROW1", b"\xff\xff\xff\xff"),  # a file of it, and a stream, as data sets are kept
    ),
    "xls": Kind(
        title="old workbook",
        article="an",
        sentence="it is an old Excel workbook (XLS), which is not read; save it as XLSX or CSV",
        begins=(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",),
    ),
    "pointer": Kind(
        title="Git LFS pointer",
        sentence="it is a pointer of Git LFS and not the file itself; fetch that with `git lfs pull`",
        begins=(b"version https://git-lfs.github.com",),
    ),
}
"""Every kind of file, by its name in the code."""


def listed(*places: str) -> str:
    """What goes to these places, as a list of names in a sentence."""
    return "; ".join(kind.listed for kind in KINDS.values() if kind.listed and kind.place in places)


def all_listed() -> str:
    """Everything that can be dropped, for the help of the command line."""
    return f"{listed('runs').replace('`', '')}; juries: {listed('jury')}; for other pages: " + listed(
        "new_run", "perplexity"
    )
