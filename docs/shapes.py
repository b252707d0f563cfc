"""The page of the kinds of files that Hedge reads, generated from their records, with their examples."""

import json

from core.exchange.dropped.examples import OPTIONS, P
from core.exchange.dropped.kind import FileExample, Kind, Place
from core.exchange.dropped.kinds import KINDS, UNCLEAR

PLACES: dict[Place, tuple[str, str]] = {
    "runs": ("Results that become runs", "The Data page and `hedge import` read these."),
    "jury": ("Judgements that become juries", "The Data page and `hedge import` read these."),
    "new_run": (
        "Questions and models for a new run",
        "The Data page leads to New run; `hedge run --task FILE` asks them.",
    ),
    "perplexity": ("Texts for Perplexity", "The Data page leads to Perplexity; `hedge perplexity` scores them."),
}
"""Where kinds go, with the heading and a sentence of each."""
MOST_LINES, WIDEST = 12, 110


def page() -> str:
    """Every kind by where it goes, with its examples, then those that Hedge recognises and refuses."""
    parts = [
        "# Files that Hedge reads",
        "What a file is, Hedge decides from the content of all its rows, never from its name. This page is generated "
        "from the records of the kinds (`core/exchange/dropped/kinds.py`). A test reads each example. Their questions "
        "and figures are made up: the probabilities of three options "
        f"({', '.join(OPTIONS)}) in the tables begin with {', '.join(map(str, P[0]))}.",
        "Files may be compressed (gzip, bzip2, xz, Zstandard) or lie in archives (zip, tar). Tables may be CSV with "
        "commas, semicolons, tabs or bars, JSON, JSON lines, Parquet or XLSX.",
    ]
    for place, (heading, sentence) in PLACES.items():
        parts += [f"## {heading}", sentence]
        for kind in KINDS.values():
            if kind.place == place and kind.examples:
                parts += _kind(kind)
    parts += ["## Where Hedge asks", f"A {KINDS[UNCLEAR].title}: {KINDS[UNCLEAR].sentence}."]
    parts += [block for example in KINDS[UNCLEAR].examples for block in _example(example)]
    parts += [
        "The numbers of right options may count from 0 or from 1. All rows decide. Where they can't, Hedge asks: "
        "`--labels-from 0` or `--labels-from 1`."
    ]
    parts += ["## What is recognised and not read", "| File | What Hedge says |\n| --- | --- |\n" + _refused()]
    return "\n\n".join(parts) + "\n"


def _refused() -> str:
    kinds = [kind for name, kind in KINDS.items() if not kind.place and name != UNCLEAR]
    return "\n".join(f"| {kind.title} | {kind.sentence} |" for kind in kinds)


def _kind(kind: Kind) -> list[str]:
    parts = [f"### {kind.title[:1].upper()}{kind.title[1:]}"]
    if kind.cited:
        title = kind.cited.title
        parts.append(f"Source: {f'[{title}]({kind.cited.url})' if kind.cited.url else title}, {kind.cited.year}.")
    return [*parts, *(block for example in kind.examples for block in _example(example))]


def _example(example: FileExample) -> list[str]:
    parts = [f"**{example.title}.** {example.sentence}".rstrip()]
    return [*parts, *(_file(name, content) for name, content in example.files().items())]


def _file(name: str, content: bytes) -> str:
    """A file's name and its beginning; the size of one that is no text."""
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError:
        return f"`{name}` ({len(content):,} bytes)"
    if "\0" in content.decode():
        return f"`{name}` ({len(content):,} bytes)"
    if len(lines) == 1 and len(lines[0]) > WIDEST and name.endswith(".json"):
        lines = json.dumps(json.loads(content), indent=1, ensure_ascii=False).splitlines()
    shown = [line if len(line) <= WIDEST else f"{line[:WIDEST]} …" for line in lines[:MOST_LINES]]
    more = [f"… {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return f"`{name}`:\n\n```text\n" + "\n".join([*shown, *more]) + "\n```"
