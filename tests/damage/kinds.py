"""The kinds of files that Hedge keeps, each made by the code that people use, with what they get from it."""

from __future__ import annotations

import contextlib
import csv
import importlib
import io
import itertools
import json
import random
import shutil
import socket
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from core.errors import InputError, RunCancelled
from core.inference.server import client
from core.jury_pipeline import jury_spec, jury_store
from core.jury_pipeline.jury_spec import JurySpec
from core.perplexity import conversation_files
from core.perplexity.prompts import EMPTY, FITTING
from core.perplexity.request import Request
from core.records import LETTERS
from core.reports import perplexity_results
from core.runs import store
from core.runs.execution import jury_run, perplexity_run
from core.runs.execution.execute import execute
from core.runs.spec import RunSpec
from core.settings import settings
from tests.conftest import synthetic_run, without_digests
from tests.core.inference.server.loopback import loopback_server
from tests.damage.looks import Look, Refused, command, exported, listed, pages, report, run, run_and_told
from tests.damage.tries import Kind

Names = dict[str, str]
QUESTIONS = ("run", "--model", "fake", "--task", "qa")
TEXT = "The capital of France is Paris."


def _other_run(model: str = "brook", seed: int = 0) -> str:
    """A finished run that no damage is done to."""
    return synthetic_run(60, model=model, seed=seed)


# ---------------------------------------------------------------- runs


def _finished() -> Names:
    (letters,) = run(*QUESTIONS, "--samples", "60", "--repeats", "2")["runs"]
    (cloze,) = run(*QUESTIONS, "--samples", "60", "--form", "cloze")["runs"]
    return {"letters": letters, "cloze": cloze, "brook": _other_run(), "reef": _other_run("reef")}


def _of_runs(names: Names) -> list[Look]:
    letters, cloze, brook, reef = (names[name] for name in ("letters", "cloze", "brook", "reef"))
    every = (letters, cloze, brook, reef)
    return [
        *map(report, every),
        *map(listed, every),
        Look("calibration", (letters,), command("calibration", letters), costly=True),
        Look("compare", (letters, cloze), command("compare", letters, cloze), costly=True),
        Look("compare others", (brook, reef), command("compare", brook, reef), costly=True),
        Look("prompting", (letters, cloze), command("prompting", letters, cloze), costly=True),
        exported("export", (letters,), "export", letters, "--format", "csv"),
        exported("export cloze", (cloze,), "export", cloze, "--format", "csv"),
        pages({"brook": brook}, overview={}, compare={"runs": f"{letters},{brook}"}, new_run={}),
    ]


def _runs_without_digests() -> Names:
    names = _finished()
    import pyarrow.parquet as pq

    for path in settings().runs.glob("*/*"):
        if path.suffix == ".parquet":
            pq.write_table(pq.read_table(path), path, compression="zstd")
        elif path.suffix == ".json":
            path.write_text(json.dumps(without_digests(path)))
    return names


# ---------------------------------------------------------------- runs that are not finished

WORDS = (*QUESTIONS, "--samples", "230", "--repeats", "2")


def _stopped(spec: RunSpec, cancelled: Callable[[], bool]) -> Names:
    """Execute a run, keep what it makes, and execute it once more until it is ``cancelled``."""
    execute(spec)
    undisturbed = _content(spec.run_id)
    shutil.rmtree(settings().runs / spec.run_id)
    with contextlib.suppress(RunCancelled):
        execute(spec, cancelled=cancelled)
    assert store.read_record(spec.run_id).state == "cancelled"
    return {"run": spec.run_id, "undisturbed": undisturbed, "brook": _other_run()}


def _content(run_id: str) -> str:
    """All that a run is read as, but for when and where it was executed."""
    if store.read_record(run_id).spec.measures_perplexity:
        found = perplexity_results.read(run_id)
        return repr((found.messages, found.dropped, found.notes))
    scored, written = store.read_logits(run_id), store.read_written(run_id)
    values = {"logits": scored.logits.tolist(), "ids": list(scored.ids)}
    return json.dumps(values | {"written": written.to_pylist() if written else []})


def _continued(names: Names, *words: str) -> list[Look]:
    """The run is continued, and equals one that was never stopped."""

    def continued() -> Any:
        run(*words)
        return _content(names["run"]) == names["undisturbed"] or _content(names["run"])

    of = (f"{names['run']}/run.json",)
    return [Look("continued", of, continued), report(names["brook"]), listed(names["brook"])]


def _unfinished() -> Names:
    spec = RunSpec(model="fake", task="qa", samples=230, repeats=2)
    asked = itertools.count()
    written = settings().runs / spec.run_id / "chunks" / store.WRITTEN
    return _stopped(spec, lambda: next(asked) > 80 and written.is_file())


def _of_unfinished(names: Names) -> list[Look]:
    return _continued(names, *WORDS)


SERVED = ("run", "--model", "pocket-3m", "--task", "qa", "--samples", "40")
SOON = client.Patience(answer_s=60, gone_s=0.3, tries=2, first_pause_s=0.01, longest_pause_s=0.05)


def _served() -> Names:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    importlib.import_module("core.inference.server.connect")  # makes a Patience of its own
    with loopback_server(port=port) as server, patch.object(client, "Patience", lambda: SOON):
        (run_id,) = run(*SERVED, "--server", server.url)["runs"]
        undisturbed = _content(run_id)
        shutil.rmtree(settings().runs / run_id)
        server.reset(fault=lambda number: "cut" if number > 70 else "")
        with contextlib.suppress(Refused):
            run(*SERVED, "--server", server.url)
    assert store.read_record(run_id).state == "paused"
    return {"run": run_id, "undisturbed": undisturbed, "port": str(port), "url": server.url, "brook": _other_run()}


def _of_served(names: Names) -> list[Look]:
    (continued, *others) = _continued(names, *SERVED, "--server", names["url"])

    def with_server() -> Any:
        with loopback_server(port=int(names["port"])):
            return continued.get()

    return [replace(continued, get=with_server), *others]


def _unfinished_perplexity() -> Names:
    talk = settings().home / "talk.txt"
    talk.parent.mkdir(parents=True, exist_ok=True)
    talk.write_text(TALK)
    talks = conversation_files.read(talk).conversations
    spec = perplexity_run.spec_of(Request((FITTING, EMPTY), tuple(talks)), "pocket-1m")
    chunks = settings().runs / spec.run_id / "chunks"
    return _stopped(spec, lambda: len(list(chunks.glob("*.parquet"))) >= 1) | {"talk": str(talk)}


def _of_unfinished_perplexity(names: Names) -> list[Look]:
    words = ("--model", "pocket-1m", "--prompt", "fitting", "empty", "--conversation", names["talk"])
    return _continued(names, "perplexity", "run", *words)


PATH = JurySpec(base="pocket-1m", jurors=("pocket-1m",) * 2, samples=30, steps=3, rows=4, rank=2)


def _jury_path() -> Names:
    path_id = jury_spec.create(PATH)
    spec = jury_run.spec_of(jury_spec.read_spec(path_id))
    execute(spec)
    undisturbed = _judgements(spec.run_id).to_json(double_precision=15)
    for folder in (settings().runs / spec.run_id, settings().home / "juries", jury_spec.folder_of(path_id)):
        shutil.rmtree(folder)
    jury_spec.create(PATH)
    part = jury_spec.folder_of(path_id) / "judged-pocket-1m-2.jsonl"
    with contextlib.suppress(RunCancelled):
        execute(spec, cancelled=lambda: part.is_file() and part.stat().st_size > 200)
    assert part.is_file()
    return {"path": path_id, "undisturbed": undisturbed, "run": spec.run_id, "brook": _other_run()}


def _judgements(run_id: str) -> pd.DataFrame:
    return jury_store.read(str(store.read_record(run_id).provenance["jury"])).table()


def _of_jury_path(names: Names) -> list[Look]:
    def made() -> Any:
        try:
            execute(jury_run.spec_of(jury_spec.read_spec(names["path"])))
        except InputError as error:
            raise Refused(str(error)) from error
        table, before = _judgements(names["run"]), pd.read_json(io.StringIO(names["undisturbed"]))
        others = list(zip(table["question"], table["answer"], table["juror"], table["label"], strict=True))
        # Verdicts depend in their seventh digit on which answers share a batch.
        same = np.allclose(table["p_true"], before["p_true"], rtol=0, atol=1e-5)
        return [bool(same) or table["p_true"].tolist(), others]

    of = ("/path.json", "/jurors/", "/jury.json")
    return [Look("made", of, made), report(names["brook"]), listed(names["brook"])]


# ---------------------------------------------------------------- juries


def _juries() -> Names:
    made = {}
    for name, seed in (("bench", 1), ("panel", 2)):
        rng = random.Random(seed)
        path = settings().home.parent / f"{name}.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["question", "answer", "juror", "p_true", "label"])
            for i in range(60):
                label = rng.random() < 0.6
                for juror in ("ada", "bob", "cy"):
                    p = min(max(0.5 + (0.2 if label else -0.2) + rng.gauss(0, 0.25), 0.01), 0.99)
                    table.writerow([f"Question {i}?", f"answer {i}", juror, f"{p:.4f}", int(label)])
        made[name] = run("jury", "import", "--judgements", str(path), "--name", name)["jury"]
        path.unlink()
    return made | {"brook": _other_run()}


def _of_juries(names: Names) -> list[Look]:
    looks = [report(names["brook"]), listed(names["brook"])]
    for jury in (names["bench"], names["panel"]):
        looks += [
            Look(f"jury list, {jury}", (jury,), _in_list(jury)),
            Look(f"agreement, {jury}", (jury,), command("jury", "agreement", "--judgements", jury)),
            Look(
                f"evaluate, {jury}", (jury,), command("jury", "evaluate", "--judgements", jury, "--seeds", "0-1"), True
            ),
            exported(f"export, {jury}", (jury,), "jury", "export", "--judgements", jury),
        ]
    return looks


def _in_list(jury: str) -> Callable[[], Any]:
    def row() -> Any:
        rows, told = run_and_told("jury", "list")
        own = [row for row in rows if jury in row.values()]
        sentences = [str(row["message"]) for row in own if row.get("message")] + told.splitlines()
        if len(own) != 1 or sentences:
            raise Refused(next((sentence for sentence in sentences if jury in sentence), f"{len(own)} rows: {told}"))
        return own[0]

    return row


# ---------------------------------------------------------------- perplexity

TALK = """Counselor: Hello, how are you?
Client: I am sad today.
Counselor: Tell me more about it.
Client: My dog is ill.
Counselor: That must be hard for you.
"""


def _perplexities() -> Names:
    path = settings().home / "talk.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TALK)
    made = {}
    for model in ("pocket-1m", "pocket-3m-instruct"):
        words = ("--model", model, "--prompt", "fitting", "empty", "--conversation", str(path))
        (made[model],) = run("perplexity", "run", *words)["runs"]
    return made | {"brook": _other_run()}


def _of_perplexities(names: Names) -> list[Look]:
    looks = [report(names["brook"]), listed(names["brook"])]
    for run_id in (names["pocket-1m"], names["pocket-3m-instruct"]):
        looks += [
            listed(run_id),
            Look(f"perplexity {run_id}", (run_id, "perplexity/"), command("perplexity", "report", run_id)),
        ]
    return looks


# ---------------------------------------------------------------- adapters, tokens


def _model(folder: Path) -> Path:
    """A small random model, with a tokenizer of its own."""
    from tests.core.inference.architectures import VOCABULARY, tiny
    from tests.core.inference.conftest import WORDS, save_tokenizer

    assert len(WORDS) <= VOCABULARY
    tiny("llama").save_pretrained(folder)
    save_tokenizer(folder, WORDS)
    return folder


def _adapters() -> Names:
    made = {"model": str(_model(settings().home / "models" / "base"))}
    texts = settings().home / "texts.jsonl"
    texts.write_text(
        "".join(json.dumps({"instruction": f"w{i} w{i + 1}", "output": f"w{i} w{i + 2} ."}) + "\n" for i in range(20))
    )
    for kind in ("ard-lora", "lora"):
        out = settings().home / "adapters" / kind
        words = ("--model", made["model"], "--kind", kind, "--epochs", "1", "--rank", "2", "--data", str(texts))
        run("train-adapter", *words, "--out", str(out))
        made[kind] = str(out)
    return made | {"brook": _other_run()}


def _of_adapters(names: Names) -> list[Look]:
    looks = [report(names["brook"])]
    for kind in ("ard-lora", "lora"):
        of = (f"adapters/{kind}/",)
        looks.append(
            Look(f"view {kind}", of, command("tokens", "view", "--model", names[kind], "--text", "w1 w2 w3 ?"))
        )
    return looks


def _tokens() -> Names:
    made = _adapters()
    data = str(settings().home / "texts.jsonl")
    for kind in ("model", "ard-lora", "lora"):
        run("tokens", "evaluate", "--model", made[kind], "--data", data, "--part", "all", "--num-samples", "40")
    from core.answering import token_text

    for text in (TEXT, "w1 w2 w3"):
        asked = token_text.token_text(made["model"], text)
        token_text.write_view(asked, run("tokens", "view", "--model", made["model"], "--text", text))
    return made


def _of_tokens(names: Names) -> list[Look]:
    looks = [report(names["brook"])]
    for kind, stem in (("model", "base"), ("ard-lora", "ard-lora"), ("lora", "lora")):
        looks.append(
            Look(f"tokens of {kind}", (f"tokens/{stem}-", f"tokens/{stem}"), lambda stem=stem: _evaluation(stem))
        )
    for text in (TEXT, "w1 w2 w3"):
        looks.append(Look(f"view of {text}", ("answers/tokens/",), lambda text=text: _view(names["model"], text)))
    return looks


def _evaluation(stem: str) -> Any:
    """An evaluation as the Tokens page shows it."""
    from core.reports import tokens

    found, problems = tokens.results()
    if told := [problem for problem in problems if f"/{stem}-" in problem]:
        raise Refused(told[0])
    of_model = [one for one in found if one.values["model"] == stem and not one.ships]
    if len(of_model) != 1:
        raise AssertionError(f"{len(of_model)} evaluations of {stem}: {problems}")
    (one,) = of_model
    frames = [tokens.figures_frame((one,)), tokens.reliability_frame((one,)), tokens.variances_frame(one)]
    estimates = [repr(tokens.estimate_of(one, figure)) for figure in tokens.FIGURES]
    return [one.name, [frame.to_json(double_precision=15) for frame in frames], estimates]


def _view(model: str, text: str) -> Any:
    from core.answering import token_text

    asked = token_text.token_text(model, text)
    if (found := token_text.read_view(asked)) is None:
        raise Refused(f"{asked.answer_id} is asked again")
    return found


# ---------------------------------------------------------------- a person's own question


def _answers() -> Names:
    from core.answering.custom_question import CustomQuestion, ModelAnswer, write_answer

    made = {}
    for name in ("first", "second"):
        own = CustomQuestion("pocket-1m", "pocket-1m-qa", f"Which is {name}?", ("one", "two"))
        k = len(own.all_options)
        logits = tuple(np.random.default_rng(len(name)).normal(size=k).tolist())
        answer = ModelAnswer(
            own, own.all_options, logits, 0.9, 12.0, 0.0, "prompt", "cpu", "one by one", 1e-6, 1e-4, 0, 1e9, first=" A"
        )
        write_answer(answer)
        made[name] = answer.answer_id
    return made | {"brook": _other_run()}


def _of_answers(names: Names) -> list[Look]:
    def answer(answer_id: str) -> Any:
        from core.answering.custom_question import read_answer

        return repr(read_answer(answer_id))

    own = [names["first"], names["second"]]
    return [report(names["brook"]), *(Look(name, (name,), lambda name=name: answer(name)) for name in own)]


# ---------------------------------------------------------------- question banks that were brought in


def _banks() -> Names:
    from core.exchange.dropped import question_files

    made = {}
    for name in ("rivers", "towns"):
        rows = [
            {
                "question": f"Which is number {i} of the {name}?",
                "choices": [f"{name} {i + j}" for j in range(4)],
                "answer": LETTERS[i % 4],
            }
            for i in range(40)
        ]
        path = settings().home.parent / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        made[name] = question_files.keep(path, path.name)
        path.unlink()
    return made | {"brook": _other_run()}


def _of_banks(names: Names) -> list[Look]:
    looks = [report(names["brook"])]
    for name in ("rivers", "towns"):
        words = ("run", "--model", "fake", "--task", names[name])
        looks.append(Look(f"questions of {name}", (f"/{name}.",), lambda task=names[name]: _questions(task)))
        looks.append(Look(f"run on {name}", (f"/{name}.",), lambda words=words: run(*words)["reports"], costly=True))
    return looks


def _questions(task: str) -> Any:
    from core.tasks import catalogue

    return [asdict(question) for question in catalogue.load(task).questions]


# ---------------------------------------------------------------- classes


def _classes() -> Names:
    from core.classroom import class_store, lecture, quiz

    made = {}
    for name, seed in (("first", 1), ("second", 2)):
        live = lecture.open_class(quiz.draw("qa", n=6, calibration=3, seed=seed))
        made[name] = live.code
        for seat in range(6):
            live.join(f"{seed}{seat:031x}", f"Ada {seat}")
        for question in range(6):
            lecture.ask_next(live.code)
            for seat in range(6):
                shares = [10] * 6
                shares[(seat + question) % 6] += 40
                live.answer(f"{seed}{seat:031x}", question=question, shares=shares, turn=1)
            lecture.show_answer(live.code)
    lecture.ask_next(made["first"])
    for connection in class_store._open.values():
        connection.close()
    return made | {"brook": _other_run()}


def _of_classes(names: Names) -> list[Look]:
    def shown(code: str) -> Any:
        from core.classroom import class_run, class_state, lecture
        from core.classroom.refusals import ClassRefusal

        try:
            live = lecture.led(code)
            table = class_run.answers_table(code, names=True)
            return [class_state.for_phones(live), class_state.for_projector(live), table.to_json()]
        except ClassRefusal as error:
            raise Refused(f"classes.sqlite: {error}") from error

    def codes() -> Any:
        from core.classroom import lecture

        return sorted(lecture.own_classes())

    of = ("classes.sqlite",)
    own = [Look(name, of, lambda code=names[name]: shown(code)) for name in ("first", "second")]
    return [report(names["brook"]), listed(names["brook"]), Look("codes", of, codes), *own]


# ---------------------------------------------------------------- the run engine's database


def _queued() -> Names:
    made = {"brook": _other_run()}
    for seed in (1, 2, 3):
        (made[f"queued {seed}"],) = run(*QUESTIONS, "--samples", "60", "--seed", str(seed), "--queue")["runs"]
    return made


def _of_queue(names: Names) -> list[Look]:
    def queue() -> Any:
        from core.runs import engine

        return [[now.run_id, now.state, now.message] for now in engine.statuses()]

    of = ("engine.sqlite",)
    queued = [Look(look.name, (*look.of, *of), look.get) for look in map(listed, list(names.values())[1:])]
    brook = names["brook"]
    first = Look("first", of, command("first", names["queued 3"]), costly=True)
    cancel = Look("cancel", of, command("cancel", names["queued 2"]), costly=True)
    new_run = pages({"brook": brook}, overview={}, compare={"runs": brook}, new_run={})
    return [report(brook), listed(brook), *queued, Look("queue", of, queue), first, cancel, new_run]


# ---------------------------------------------------------------- figures that are kept, and other small files


def _kept_figures() -> Names:
    names = _finished()
    _rows(names)
    return names


def _rows(names: Names) -> Any:
    from core.reports.compare.benchmark import SetRule
    from core.reports.compare.kept_rows import compared_rows
    from core.reports.evaluation import load

    rule = SetRule(100, ("lac", "aps"))
    return json.loads(compared_rows([names["letters"], names["cloze"]], rule, load).to_json(double_precision=15))


def _of_kept_figures(names: Names) -> list[Look]:
    return [Look("compared rows", (), lambda: _rows(names)), report(names["brook"])]


def _small() -> Names:
    from core.exchange import column_mappings
    from core.exchange.table_columns import Columns
    from core.inference import kept_checks
    from core.inference.engine import SelfCheck
    from core.inference.server import known_servers
    from core.runs import groups

    names = {"brook": _other_run(), "reef": _other_run("reef")}
    runs = list(names.values())
    names["group"] = groups.create(runs, name="both").id
    names["other group"] = groups.create(runs[:1], name="one").id
    kept_checks.keep("0" * 32, SelfCheck(8, 1e-6, 1e-4), longest=100)
    known_servers.remember(["http://127.0.0.1:8000/v1"])
    column_mappings.remember(["a", "b", "c"], Columns(label="a", options=("b", "c")))
    store.write_progress(store.folder_of(names["brook"]), store.Progress(3, 60, "scoring"))
    return names


def _of_small(names: Names) -> list[Look]:
    from core.exchange import column_mappings
    from core.inference import kept_checks
    from core.inference.server import known_servers
    from core.runs import groups

    def there(get: Callable[[], Any], name: str) -> Callable[[], Any]:
        """What is only remembered may be forgotten, but is never another."""

        def found() -> Any:
            if not (value := get()):
                raise Refused(f"{name} is forgotten")
            return repr(value)

        return found

    def all_groups() -> Any:
        return sorted(map(repr, [group for group in groups.known() if group.id == names["group"]]))

    def progress() -> Any:
        found = store.read_progress(names["brook"])
        return found and (found.done, found.total, found.stage)

    return [
        *map(report, (names["brook"], names["reef"])),
        *(listed(names[name]) for name in ("brook", "reef")),
        Look("group", (names["group"],), lambda: repr(groups.read(names["group"]))),
        Look("groups", (names["group"],), there(all_groups, names["group"])),
        Look("self-check", ("self_checks/",), there(lambda: kept_checks.find("0" * 32, longest=9), "0" * 32)),
        Look("servers", ("servers.json",), there(known_servers.remembered, "servers.json")),
        Look(
            "columns",
            ("table-mappings.json",),
            there(lambda: column_mappings.recall(["a", "b", "c"]), "table-mappings.json"),
        ),
        Look("progress", ("progress.json",), there(progress, "progress.json")),
        pages({"reef": names["reef"]}, overview={}, compare={"runs": names["reef"]}, new_run={}),
    ]


# ---------------------------------------------------------------- copies


def _archived() -> Names:
    from core.runs.storage import archive

    names = _finished()
    archive.push()
    return names


def _of_archive(names: Names) -> list[Look]:
    import shutil

    def brought_back(run_id: str) -> Any:
        target = settings().runs / run_id
        shutil.rmtree(target)
        shutil.copytree(settings().home / "archive" / run_id, target)
        return report(run_id).get()

    own = [
        Look(f"brought back, {run_id}", (run_id,), lambda r=run_id: brought_back(r))
        for run_id in list(names.values())[:3]
    ]
    return [report(names["reef"]), *own]


def _trashed() -> Names:
    names = _finished()
    run("delete", names["letters"], names["brook"])
    return names


def _of_trash(names: Names) -> list[Look]:
    def restored(run_id: str) -> Any:
        run("restore", run_id)
        return [report(run_id).get(), listed(run_id).get()]

    own = [
        Look(f"restored, {names[name]}", (names[name],), lambda r=names[name]: restored(r))
        for name in ("letters", "brook")
    ]
    return [
        report(names["cloze"]),
        report(names["reef"]),
        Look("bin", (), lambda: sorted(row["run"] for row in run("bin"))),
        *own,
    ]


RUN_FILES = ("runs/*/*.parquet", "runs/*/run.json", "runs/*/log.txt")
KINDS: dict[str, Kind] = {
    "run": Kind(_finished, _of_runs, RUN_FILES),
    "chunk": Kind(_unfinished, _of_unfinished, ("runs/*/chunks/*",)),
    "part": Kind(_served, _of_served, ("runs/pocket*/chunks/*",)),
    "perplexity chunk": Kind(_unfinished_perplexity, _of_unfinished_perplexity, ("runs/pocket*/chunks/*",)),
    "jury path": Kind(_jury_path, _of_jury_path, ("jury-paths/**/*",)),
    "unfinished": Kind(_unfinished, _of_unfinished, ("runs/fake*/*.json", "runs/fake*/*.parquet")),
    "jury": Kind(_juries, _of_juries, ("juries/*/*",)),
    "perplexity": Kind(_perplexities, _of_perplexities, ("runs/*perplexity*/*.*", "perplexity/*")),
    "adapter": Kind(_adapters, _of_adapters, ("adapters/*/*",)),
    "tokens": Kind(_tokens, _of_tokens, ("tokens/*", "answers/tokens/*")),
    "answer": Kind(_answers, _of_answers, ("answers/*",)),
    "bank": Kind(_banks, _of_banks, ("questions/*/*",)),
    "class": Kind(_classes, _of_classes, ("classes.sqlite*",)),
    "database": Kind(_queued, _of_queue, ("engine.sqlite*",)),
    "kept figures": Kind(_kept_figures, _of_kept_figures, ("cache/run_rows/*",)),
    "small": Kind(_small, _of_small, ("groups/*", "cache/self_checks/*", "*.json", "runs/*/progress.json")),
    "archive": Kind(_archived, _of_archive, ("archive/*/*",)),
    "trash": Kind(_trashed, _of_trash, ("bin/*/*",)),
    "older run": Kind(_runs_without_digests, _of_runs, RUN_FILES, older=True),
}
