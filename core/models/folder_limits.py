"""Limits for the files of a model's folder, checked before a library reads them. Loads no torch.

A configuration can ask for a billion layers, and a tokenizer can write a text a thousand times as long: both take all
memory or never end. The limits are far above those of the largest published models (126 layers, 512 experts, 262,144
tokens). Weights have no limit here: the headers of their files are checked in :mod:`core.models.safetensors_files`.
"""

import base64
import json
import re
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.errors import InputError
from core.models.hub_sizes import of_config
from core.models.safetensors_files import read_json

MB = 1_000_000
LARGEST_MB = {".json": 100, ".txt": 100, ".model": 100, ".jinja": 1}
"""The largest files of a tokenizer, by their ending; published ones reach 35 MB."""
OF_TOKENIZER = (
    "tokenizer", "vocab.", "merges.", "spiece.", "sentencepiece.", "tekken.", "added_tokens", "special_", "chat_temp"
)  # fmt: skip
"""The beginnings of the names of a tokenizer's files; a folder may hold others of any size."""
CONFIGURATIONS = ("config.json", "adapter_config.json", "generation_config.json")
LARGEST_CONFIGURATION_MB = 10
NUMBERS: dict[str, int] = {
    r"layers?$|^depths?$|(^|_)n(um)?_(blocks|stages|groups)$": 1_000,
    r"experts(_|$)|heads$|head_count": 4_096,
    r"(^|_)(r|rank)$": 8_192,
    r"labels$|codebooks": 100_000,
    r"vocab|words$": 10_000_000,
    r"position|context|length|ctx$|window|param|tokens|theta|base|seed|max_seq|(^|_)id$": 10**40,
    r"hidden|embd|embed|d_model|dim$|width|inner|intermediate|ffn|channels|^num_|^n_|_num$|_size$": 1_000_000,
}
"""The largest number under a name that fits; the first that fits holds, and other names hold no sizes."""
MOST_LAYERS_WITH_EXPERTS = 200_000
"""Layers times experts."""
ASKED_FOR_EACH, FREE = 20, 1_000_000_000
"""A configuration may ask for this many parameters for each stored number, plus this many."""
MOST_ADDED = 300_000
MOST_TOKENS = 4_000_000
MOST_STEPS = 200
MOST_GROWTH = 64
"""All replacements of a tokenizer together may make a text this many times longer."""
MOST_UNICODE_STEPS = 4
UNICODE_STEPS = frozenset({"NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "BertNormalizer", "ByteLevel"})
"""Each of them makes a text at most 18 times longer, and longer again if it is repeated."""
LONGEST_TEXT = 1_000
"""Characters that a tokenizer puts before or after a text, and that a character becomes."""
LONGEST_PATTERN = 10_000
LARGEST_REPEAT = 100_000
LONGEST_WORD = 10_000
LARGEST_PADDING = 1_000_000
PARTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
INSIDE = ("normalizers", "pretokenizers", "processors", "decoders")
TAKE = "take the file that came with the model"


def check_limits(folder: Path) -> None:
    """Raise :class:`InputError` if a file of a model's or an adapter's folder is beyond the limits."""
    for path in sorted(folder.iterdir()):
        if not path.is_file():
            continue
        if path.name in CONFIGURATIONS:
            check_size(path, most=LARGEST_CONFIGURATION_MB)
            check_configuration(read_json(path), where=str(path))
        elif path.suffix in LARGEST_MB and path.name.startswith(OF_TOKENIZER):
            check_size(path)
            if path.name.startswith("tokenizer") and path.suffix == ".json":
                check_tokenizer(path)


def check_size(path: Path, *, most: int = 0) -> None:
    """Raise :class:`InputError` if a file has more than ``most`` MB (0: than a tokenizer's file of its ending may)."""
    size, most = path.stat().st_size, most or LARGEST_MB[path.suffix]
    if size > most * MB:
        raise InputError(f"{path} has {size / MB:,.0f} MB, and such a file may have {most} MB; {TAKE}")


# ---------------------------------------------------------------- configurations


def check_configuration(values: Mapping[str, Any], *, where: str) -> None:
    """Raise :class:`InputError` if a configuration asks for a model that can't be."""
    layers = experts = 1.0
    for name, value in _numbers("", values):
        rule = next((rule for rule in NUMBERS if re.search(rule, name.lower())), None)
        if rule is None:
            continue
        if not value <= NUMBERS[rule]:  # also NaN
            raise InputError(f"{where} has {value:,.9g} as {name!r:.60}, and at most {NUMBERS[rule]:,} can be; {TAKE}")
        if "layer" in rule:
            layers = max(layers, value)
        elif "expert" in name:
            experts = max(experts, value)
    if layers * experts > MOST_LAYERS_WITH_EXPERTS:
        raise InputError(
            f"{where} asks for {layers:,.0f} layers with {experts:,.0f} experts each, and at most "
            f"{MOST_LAYERS_WITH_EXPERTS:,} can be in all layers; {TAKE}"
        )


def _numbers(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """All numbers in a value, each with the name that is nearest above it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _numbers(str(key), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(name, inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield name, float(value) if abs(value) < 10**300 else float("inf")


def check_stored_size(values: Mapping[str, Any], stored: int, *, where: str) -> None:
    """Raise :class:`InputError` if a configuration asks for far more numbers than the ``stored`` ones of the weights.

    The rest would be made up and fill the memory before the loaded tensors are compared. Quantised weights are packed,
    and layers may differ, so only a large difference counts.
    """
    expected = of_config(values)
    if expected > ASKED_FOR_EACH * stored + FREE:
        raise InputError(
            f"{where} asks for {expected:,.3g} parameters, and the weights beside it have {stored:,.3g}; {TAKE}"
        )


# ---------------------------------------------------------------- tokenizers


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Raise :class:`InputError` where the tokenizers library, which is written in Rust, panics: over a file that
    contradicts itself, or a pattern that it gives up on a text. Its panic is not an Exception."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(
            "the tokenizer can't write this text as tokens, because its library stopped; choose another model, or take "
            "the tokenizer's files that came with this one"
        ) from error


def check_tokenizer(path: Path) -> None:
    """Raise :class:`InputError` if a ``tokenizer.json`` is beyond the limits. One that was not changed is read once."""
    check_size(path)
    about = path.stat()
    if problem := _problem_of(path, about.st_mtime_ns, about.st_size):
        raise InputError(f"{path} {problem}; {TAKE}")


@lru_cache(maxsize=64)
def _problem_of(path: Path, written: int, size: int) -> str:
    values = read_json(path)
    if path.name == "tokenizer_config.json":
        added = values.get("added_tokens_decoder")
        return _too_many(added, MOST_ADDED, "added tokens") if isinstance(added, dict) else ""
    return tokenizer_problem(values)


def tokenizer_problem(values: Mapping[str, Any]) -> str:
    """Why a tokenizer is beyond the limits, as the end of a sentence about its file; empty if it is not.

    ``values`` are those of a ``tokenizer.json``, or some of its parts.
    """
    model = values.get("model")
    model = model if isinstance(model, dict) else {}
    problems = (
        _too_many(values.get("added_tokens"), MOST_ADDED, "added tokens"),
        _too_many(model.get("vocab"), MOST_TOKENS, "tokens"),
        _too_many(model.get("merges"), MOST_TOKENS, "merges"),
        _too_large(model.get("max_input_chars_per_word"), LONGEST_WORD, "reads words"),
        _padding_problem(values.get("padding")),
        *(_part_problem(name.replace("_", "-"), values.get(name)) for name in PARTS),
    )
    return next(filter(None, problems), "")


def _too_many(entries: Any, most: int, what: str) -> str:
    count = len(entries) if isinstance(entries, (list, dict)) else 0
    return f"has {count:,} {what}, and at most {most:,} can be read" if count > most else ""


def _too_large(value: Any, most: int, what: str) -> str:
    is_too_large = isinstance(value, (int, float)) and not value <= most
    return f"{what} of {value:,.9g} characters, and at most {most:,} can be" if is_too_large else ""


def _padding_problem(padding: Any) -> str:
    numbers = _numbers("", padding) if isinstance(padding, dict) else ()
    largest = max((value for _, value in numbers), default=0)
    return (
        f"fills each text up to {largest:,.0f} tokens, and at most {LARGEST_PADDING:,} can be"
        if largest > LARGEST_PADDING
        else ""
    )


def _part_problem(part: str, value: Any) -> str:
    """What is wrong with a part that is a step, or a sequence of steps."""
    steps = list(_steps(value))
    if len(steps) > MOST_STEPS:
        return f"has a {part} of {len(steps):,} steps, and at most {MOST_STEPS} can be"
    again = sum(step.get("type") in UNICODE_STEPS for step in steps)
    if again > MOST_UNICODE_STEPS:
        return f"rewrites a text {again} times in its {part}, and at most {MOST_UNICODE_STEPS} times can be"
    growth, added = 1.0, 0
    for step in steps:
        pattern = step.get("pattern")
        pattern = pattern if isinstance(pattern, dict) else {}
        regex = pattern.get("Regex")
        if isinstance(regex, str) and (problem := _pattern_problem(regex)):
            return f"has a {part} with a pattern that {problem}"
        if step.get("type") == "Replace":
            growth *= _growth(pattern, str(step.get("content", "")))
        else:
            added += _added(step)
    if growth > MOST_GROWTH:
        return f"makes a text up to {growth:,.3g} times longer in its {part}, and {MOST_GROWTH} times is the most"
    if added > LONGEST_TEXT:
        return f"adds {added:,} characters to each text in its {part}, and at most {LONGEST_TEXT:,} can be added"
    return ""


def _steps(value: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        return
    inside = [value[name] for name in INSIDE if isinstance(value.get(name), list)]
    if not inside:
        yield value
    for steps in inside:
        for step in steps:
            yield from _steps(step)


def _growth(pattern: Mapping[str, Any], content: str) -> float:
    text = pattern.get("String")
    if isinstance(text, str):
        return max(1.0, len(content) / max(1, len(text)))
    regex = pattern.get("Regex")
    shortest = _parsed(regex).getwidth()[0] if isinstance(regex, str) and _parsed(regex) else 0
    return max(1.0, len(content) / shortest) if shortest else 1.0 + len(content)


def _added(step: Mapping[str, Any]) -> int:
    """The characters or tokens that a step adds to a text, or makes of one character."""
    if step.get("type") == "Precompiled":
        return _longest_mapped(str(step.get("precompiled_charsmap") or ""))
    if step.get("type") == "TemplateProcessing":
        return sum(len(json.dumps(step.get(name))) for name in ("single", "pair", "special_tokens")) // 20
    return sum(len(value) for name, value in step.items() if isinstance(value, str) and name != "type")


def _longest_mapped(charsmap: str) -> int:
    """The longest text that a map of characters (SentencePiece) makes of one, in bytes."""
    try:
        content = base64.b64decode(charsmap)
    except ValueError:
        return 0  # the library refuses it
    return max(map(len, content[4 + int.from_bytes(content[:4], "little") :].split(b"\0")))


def _pattern_problem(pattern: str) -> str:
    """Why a pattern may take very long on some text; empty if nothing says so. The library gives up such a search."""
    if len(pattern) > LONGEST_PATTERN:
        return f"has {len(pattern):,} characters, and at most {LONGEST_PATTERN:,} can be"
    tree = _parsed(pattern)
    return "" if tree is None else _repeat_problem(tree, times=1, endless=False)


PROPERTY = re.compile(r"\\[pP]\{\^?\w+\}")


@lru_cache(maxsize=256)
def _parsed(pattern: str) -> Any:
    """The parsed pattern, in which a class such as ``\\p{L}`` is any letter; None if Python can't read it."""
    try:
        return parser.parse(PROPERTY.sub(r"\\w", pattern))
    except (re.error, RecursionError, OverflowError, ValueError):
        return None


def _repeat_problem(tree: Any, *, times: int, endless: bool) -> str:
    """``tree`` is repeated ``times`` times at least, and perhaps without end.

    It is refused if, as in ``(a+)+``, nothing in it stands between one endless repeat and the next.
    """
    endless = endless and not any(_width(tree, element) and not _is_endless(element) for element in tree)
    for code, value in tree:
        inner, repeats, is_endless = value, times, endless
        if code in (parser.MAX_REPEAT, parser.MIN_REPEAT):
            least, most, inner = value
            is_endless = most == parser.MAXREPEAT
            if is_endless and endless:
                return "repeats what repeats without end"
            repeats, is_endless = times * max(1, least if is_endless else most), is_endless or endless
            if repeats > LARGEST_REPEAT:
                return f"repeats {repeats:,} times, and at most {LARGEST_REPEAT:,} can be"
        for part in _parts(inner):
            if problem := _repeat_problem(part, times=repeats, endless=is_endless):
                return problem
    return ""


def _width(tree: Any, element: Any) -> int:
    """The fewest characters that one element of a parsed pattern takes."""
    return int(parser.SubPattern(tree.state, [element]).getwidth()[0])


def _is_endless(element: Any) -> bool:
    code, value = element
    if code in (parser.MAX_REPEAT, parser.MIN_REPEAT) and value[1] == parser.MAXREPEAT:
        return True
    return any(_is_endless(inner) for part in _parts(value) for inner in part)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _parts(inner)
