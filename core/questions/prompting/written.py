"""Which option a written answer names, by rules that anybody can check.

Only one line counts (:func:`answer_line`): the first that has text, after what a reasoning model thinks aloud. In it, a
capital letter that stands by itself is an option's letter in three places:

1. alone on the line: ``B``, ``(B)``, ``**B**``, ``B.``; so is a small one: ``b``, ``b)``;
2. at the beginning, with a mark, its own text or a verdict after it: ``B. Paris``, ``B) Paris``, ``(B) Paris``,
   ``B: Paris``, ``B - Paris``, ``B, because …``, ``B Paris``, ``B is correct``; of small ones only ``b)`` and ``b.``;
3. after words that announce it, in English or another large language: ``the answer is B``, ``Antwort: B``,
   ``la respuesta es la B``, ``option B``, ``I think B``.

A letter that belongs to a word, a name or a formula does not stand by itself: ``C'est``, ``D'accord``, ``I'm``,
``D-Day``, ``C++``, ``E=mc2``, ``D.C.`` Before a word, ``A`` is an article and ``I`` a pronoun. A letter that is denied
(``not B``, ``B is wrong``) does not count.

The letter decides if there is only one and nothing contradicts it: no second letter (``B or C``), and no text of
another option behind it or as the whole line. Without a letter, the line names the option whose text it is, or the only
one whose text it holds as whole words, whatever their case, and not denied. Everything else is not found, which is
counted and never guessed.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from core.records import LETTERS

NOT_FOUND = -1
LINE, LONGEST, NEAR = 10_000, 2_000, 100
"""Characters: of a line that are read, of a line that is searched for letters, and before a letter to look at."""

# ---------------------------------------------------------------- the line

_THINKING = r"(?:think|thinking|thought|reasoning|reflection|seed:think)"
OPENS = re.compile(rf"<{_THINKING}>|◁think▷|\[THINK\]", re.IGNORECASE)
CLOSES = re.compile(rf"</{_THINKING}>|◁/think▷|\[/THINK\]", re.IGNORECASE)
"""The marks around what a reasoning model thinks aloud."""
UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
"""Characters without a shape, which :meth:`str.strip` keeps."""
ROLE = re.compile(r"^(?:<\|?assistant\|?>|assistant(?=\s*:|$))\s*:?\s*", re.IGNORECASE)
SKIPPED = re.compile(
    r"(?:```|~~~)[\w+-]*"
    r"|[*_# ]*(?:(?:final|correct) )?(?:answer|antwort|réponse|respuesta|risposta|resposta)[*_ ]*:[*_ ]*",
    re.IGNORECASE,
)
"""Lines that only introduce the next one: a mark of code, or a label."""

# ---------------------------------------------------------------- letters

_PART = r"[^\W\u3040-\u30ff\u3400-\u9fff]"
"""A character of a word; Chinese and Japanese need no blank before a letter."""
MENTION = re.compile(rf"(?<!{_PART})(?<![+#=&@.\\-])(?<!\w')([A-Z])(?!{_PART}|[+#=@]|'\w|[-.&]\w)")
"""A letter that belongs to no word, name or formula."""
SMALL = re.compile(r"[(\[\"']*([a-z])(?:[)\]\"'.:!?]*$|[)\]]+\s?|\.\s)")
OPENING, CLOSING = "([{\"'< ", ")]}\"'>"
_NOUN = (
    "(?:answer|ans\\.?|option|choice|letter|response|solution|pick|one|réponse|lettre|antwort|lösung|respuesta|opción|letra|"
    "risposta|opzione|lettera|resposta|opção|antwoord|optie)"
)
_RIGHT = "(?:correct|right|best|correcte|juste|richtig|correcta|corretta|giusta|correta|certa|juist)"
_IS = "(?:is|was|would be|should be|must be|will be|est|ist|lautet|es|sería|è|é)"
FIRMLY = re.compile(
    rf"(?:\b{_NOUN}(?: {_RIGHT})?(?: {_IS})?(?: ?[:=]| ?->| ?→| [-–—])?(?: (?:the|la|le|a|{_NOUN}))*"
    r"|答案(?:应该)?[是为]? ?:?|选[择项]?|正解は|\\boxed(?:\{\\text)?)$",
    re.IGNORECASE,
)
LOOSELY = re.compile(
    r"\b(?:think|believe|say|choose|chose|pick|picked|guess|select|go with|going with|suppose|only|it's|it is|that's|"
    r"that is|this is|must be|should be|would be|so|therefore|thus|hence|probably|definitely|clearly|maybe|perhaps|"
    r"but|c'est|das ist|es ist|es|dit is|choisis|wähle|elijo|scelgo|escolho|kies)"
    r"(?:,| (?:that|it's|it is|is|the|la))*$",
    re.IGNORECASE,
)
"""What announces a letter. Words that are frequent before other things announce no ``I``."""
VERDICT = re.compile(
    r" (?:(?:is|seems|must be|est|ist|es|è|é) (?:the |la )?(?:only |most )?"
    rf"(?:{_RIGHT}|true|answer|likely)|because|since)\b"
)
REJECTED = re.compile(
    r"(?:(?:which|it|that) )?(?:(?:is|was|can|could|would|does|do) not|\w+n't|cannot|(?:is |was |are )?"
    r"(?:wrong|incorrect|false|impossible)|ist (?:falsch|nicht)|n'est pas|est faux|no es|non è|não é)\b",
    re.IGNORECASE,
)
"""What may stand after a letter to say that it is not the answer."""
ENDS = re.compile(r"[.,;:!?。，]+(?: |$)| ?$| (?:because|since|as|but|and not|not|[-–—(])")
"""What may stand after a letter that was announced."""
JOINS = re.compile(
    r"[)\]\"'.]* ?[,/&|]? ?(?:\b(?:or|and|oder|und|ou|et|o|y|e|of|en)\b)? ?(?:option|answer|choice)? ?[(\[\"']*"
)
"""What stands between two letters of a list."""
DENIED = re.compile(
    r"(?:\b(?:not|never|neither|nor|nicht|kein|pas|niet|no|non|não)|n't)(?: [\w']+){0,3} ?[(\[\"']*$", re.I
)


FINAL = re.compile(
    r"(?:answer|choice|option|antwort|respuesta|réponse|答案)(?:\s+is|\s*ist|是)?\s*[:：]?\s*(?:\\boxed\{)?[\s*(\[$\"']*"
    r"(?P<letter>[A-Z])(?![A-Za-z])",
    re.IGNORECASE,
)
"""An answer that is announced anywhere in a text, as at the end of a chain of thought."""
BEGINS = re.compile(r"[\W_]*[A-Z](?![\w'])")
"""A line that begins with a letter."""
SHORT = 40
"""Characters of an answer that is no chain of thought."""


def answer_line(text: str) -> str:
    """What counts of a written answer: the first line that has text, whatever kind of line break and blanks there are.

    The reasoning of a model is no answer; if the text ends before that does, the line is empty. A mark of
    code, a label such as "Answer:" on a line of its own, and the name "assistant" at the beginning are no answer
    either.

    >>> answer_line("\\n B. Paris\\nQuestion: and Rome?"), answer_line("<think>Well</think>\\r\\n\\r\\nRome")
    ('B. Paris', 'Rome')
    """
    for line in _after_thoughts(text).splitlines():
        shown = _stripped(ROLE.sub("", _stripped(line), count=1))
        if shown and not SKIPPED.fullmatch(shown):
            return shown
    return ""


def _after_thoughts(text: str) -> str:
    """What follows the last thought that ends, up to one that does not."""
    closing = [mark.end() for mark in CLOSES.finditer(text)]
    return OPENS.split(text[closing[-1] :] if closing else text, maxsplit=1)[0]


def _stripped(line: str) -> str:
    return line.strip().strip(UNSEEN).strip()


def is_unfinished(text: str) -> bool:
    """Whether a text has no answer because it ends while a reasoning model still thinks aloud."""
    return OPENS.search(text) is not None and not answer_line(text)


def without_answer(answers: Iterable[str]) -> str:
    """How many answers are empty, as the end of a sentence about them; empty if all have text.

    >>> without_answer(["Rome", ""]), without_answer(["Rome"])
    ('; 1 is empty: the model wrote nothing, or its reasoning did not end', '')
    """
    empty = sum(not answer for answer in answers)
    if not empty:
        return ""
    return f"; {empty:,} {'is' if empty == 1 else 'are'} empty: the model wrote nothing, or its reasoning did not end"


def find_answer(text: str, options: Sequence[str]) -> int:
    """The place of the option that ``text`` names, -1 if none can be found.

    >>> options = ("Paris", "Rome", "New York")
    >>> [find_answer(text, options) for text in ("B", "(C) New York", "The answer is A.", "C'est rome", "A city")]
    [1, 2, 0, 1, -1]
    """
    line, texts = _plain(answer_line(text)[:LINE]), [_plain(option).rstrip(".") for option in options]
    whole = [i for i, option in enumerate(texts) if option and option.casefold() == line.rstrip(".!").casefold()]
    letters = _letters(line[:LONGEST], texts)
    if not letters:
        named = whole or [i for i, option in enumerate(texts) if _holds(line, option)]
        return named[0] if len(named) == 1 else NOT_FOUND
    return letters.pop() if len(letters) == 1 and set(whole) <= letters else NOT_FOUND


def read_pick(text: str, options: Sequence[str]) -> int:
    """The option that an answer of any length names, -1 if none can be found: the one of its first line if that begins
    with a letter, else what the text announces last, else that of its first or last line (:func:`find_answer`).

    >>> read_pick("B", ("", "")), read_pick("A bird flies, so it is not A.\\nThe answer is (B).", ("", ""))
    (1, 1)
    """
    rest = _after_thoughts(text)
    lines = [line.strip() for line in rest.splitlines() if line.strip()]
    if not lines:
        return NOT_FOUND
    at = find_answer(lines[0], options)
    if at != NOT_FOUND and BEGINS.match(lines[0]):
        return at
    announced = [LETTERS.index(match["letter"].upper()) for match in FINAL.finditer(rest)]
    if announced and (len(lines) > 1 or len(lines[0]) > SHORT):
        return announced[-1] if announced[-1] < len(options) else NOT_FOUND
    return at if at != NOT_FOUND or len(lines) == 1 else find_answer(lines[-1], options)


def _plain(line: str) -> str:
    """A line without emphasis, bullets and tags, with one kind of apostrophe, of digits and letters, and of blanks."""
    line = unicodedata.normalize("NFKC", line).replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"')
    line = re.sub(r"[*_`$]|</?[a-z]{1,20}>", "", line, flags=re.IGNORECASE)
    return re.sub(r"^(?:[-•>#]+ )+", "", " ".join(line.split()))


def _letters(line: str, texts: Sequence[str]) -> set[int]:
    """The places of the letters that the line gives as an answer; several if it contradicts itself."""
    if small := SMALL.match(line):
        line = line[: small.start(1)] + small[1].upper() + line[small.end(1) :]
    known = LETTERS[: len(texts)]
    mentions = [match for match in MENTION.finditer(line) if not _is_denied(line, match.start())]
    given: set[int] = set()
    for i, mention in enumerate(mentions):
        place, before, rest = known.find(mention[1]), line[: mention.start()][-NEAR:], line[mention.end() :]
        after = rest.lstrip(CLOSING + " .:,;-–—")
        texts_after = {j for j, text in enumerate(texts) if _begins(after, text)} if place >= 0 else set()
        if place < 0 or not _is_given(mention[1], before, rest, text_after=bool(texts_after)):
            continue
        given |= {place} | (set() if place in texts_after else texts_after)
        for first, second in zip(mentions[max(0, i - 1) : i + 1], mentions[max(1, i) : i + 2], strict=False):
            between = line[first.end() : second.start()][:NEAR]
            if JOINS.fullmatch(between) and not _is_word(second[1], line[second.end() :]):
                given |= {known.find(first[1]), known.find(second[1])}
    return given


def _is_given(letter: str, before: str, rest: str, *, text_after: bool) -> bool:
    """Whether a letter with this before and behind it is given as an answer. ``text_after`` says whether the text of an
    option follows; if it is not the letter's own, the line contradicts itself."""
    before, closed = before.rstrip(OPENING), rest.lstrip(CLOSING)
    if REJECTED.match(rest.lstrip(CLOSING + " .:,;-–—")):
        return False
    if before:
        announced = FIRMLY.search(before) or (letter != "I" and LOOSELY.search(before))
        return bool(announced) and (text_after or bool(ENDS.match(closed) or VERDICT.match(closed)))
    if not closed.strip(" .:,;!?") or text_after or VERDICT.match(closed) or rest[:1] in (")", "]"):
        return True
    # "A:" may be short for "Answer:", and "I, …" is a pronoun.
    marks = {"A": r"\. |[,;] | [-–—] | ?(?:->|=>|→)", "I": r"[.:] "}.get(letter, r"[.:,;] | [-–—] | ?(?:->|=>|→)")
    return re.match(marks, closed) is not None


def _is_word(letter: str, rest: str) -> bool:
    """Whether a letter is an article or a pronoun."""
    return letter in "AI" and re.match(r" \w", rest) is not None


def _begins(line: str, text: str) -> bool:
    """Whether a line begins with a text, as whole words and whatever its case."""
    return bool(text) and line[: len(text)].casefold() == text.casefold() and not re.match(r"\w", line[len(text) :])


def _holds(line: str, text: str) -> bool:
    """Whether a line holds a text as whole words, not denied."""
    match = re.search(rf"(?<!\w){re.escape(text)}(?!\w)", line, re.IGNORECASE) if text else None
    return match is not None and not _is_denied(line, match.start())


def _is_denied(line: str, place: int) -> bool:
    """Whether what begins at this place of a line is denied."""
    return DENIED.search(line[:place][-NEAR:]) is not None
