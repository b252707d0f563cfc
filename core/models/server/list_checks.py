"""Whether a server's list of next tokens holds the model's probabilities: at temperature 1, over the whole vocabulary,
and each token's own.

Many servers can list what their sampler made of them, after temperature, top-k or penalties. Others list by spelling,
where one of two tokens that are spelled alike is lost. :func:`checked` finds that out with few requests:

- An echo of a text gives the log-probability of a listed token too. If the two differ, the echo's own lists tell which
  of them is wrong: an echo that is off by one position lists the tokens of another place.
- Without an echo, one text is asked for with another temperature and with another number of tokens, which must not
  change a log-probability, and after a text that almost anything can follow, a list may not hold all the probability.
  Then a text is continued by two tokens, and the list at the second place compared with that after the text and the
  first token. They differ where the tokenizer appends an end token to each text, or a template is put around it.
- Each reply is checked by :func:`fault_of`: it lists as many tokens as requested, and the token that was written with
  its own log-probability.

A sampler that always has a temperature or penalties of its own can't be noticed without an echo. So a run on a server
that echoes nothing has a caveat (:mod:`core.runs.caveats`).
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from core.models.server.replies import NextTokens
from core.models.server.reply_body import clean

OTHER = 5
"""The number of tokens requested a second time."""
FEW = 20
"""The number requested after a broad text where a server lists its whole vocabulary."""
ALIKE, ALIKE_EACH = 0.1, 0.03
"""Two log-probabilities of one token may differ by this much, and by this share of their size: servers compute in half
precision, and a prompt in another way than the token after it."""
CLIFF = 5e-3
"""A list of many tokens does not end here and leave almost nothing to all other tokens."""
ONE = 1e-6
"""No model gives a token all but this much after a text that almost anything can follow."""
LEAST = 1e-3
"""Smaller probabilities are no evidence, because the rest of the vocabulary may be smaller still."""
SUM = 3e-6
"""How close to 1 the sum of a list must be to count as 1, beside what rounding adds."""
MANY = 10
"""If a list has this many tokens, its last ones are no likely answers."""
FAR = 1.0
"""The most probable token of one list has another log-probability by this much in a list after another text."""
LOST = 0.02
"""The most probability that a list of the whole vocabulary may lack."""
TRIED = 5
"""The most tokens that are tried until the server echoes one as a separate token."""
SAME_PLACE, OTHER_PLACE = 0.7, 0.4
"""The share of an echo's tokens that are listed too: at least and at most, if it is one of the same place or not."""
PAIRS = 4
"""Tokens that are compared with an echo if it contradicts the list."""
SHOWN = 20
"""Characters of a token in a sentence."""
WORD = re.compile(r" ?[A-Za-z]+")
"""A token that stays one where it is sent behind a colon."""
SPECIAL = re.compile(r"<\S{1,40}>|\[[A-Z_]+\]|")
"""How special tokens are spelled, if they are shown at all."""
UNREADABLE = "\ufffd"
"""How tokens of single bytes are spelled, all alike."""
SPACES = (" ", "\u0120", "\u2581")
CHANGED = "so its list is not the model's at temperature 1 over the whole vocabulary"
SAMPLER_OFF = (
    "start it without a temperature, top-k, top-p or penalties of its own (vLLM: --logprobs-mode raw_logprobs; "
    "llama.cpp: post_sampling_probs off), or use another server"
)
ONE_SPELLING = "so tokens with one spelling have lost their own probabilities, and a letter may be among them"
NOT_CONTINUED = "so it does not continue the text as it is: it appends an end token to each text, or a chat template"
PLAIN_TEXT = (
    "start it with a tokenizer that appends nothing (add_eos_token off) and without a template for plain texts, or ask "
    "for letters in the chat format (--format chat)"
)
BY_TEXT = "use a server that also gives the log-probabilities of a text (echo), or another server"


@dataclass(frozen=True, slots=True)
class ListFault:
    """What is wrong with a list: ``clause`` says what the server does, ``by_spelling`` that only tokens with equal
    spellings are affected, not those that are named by their ids, and ``by_text`` that the list is the model's, but
    after another text than the one that was sent."""

    clause: str
    by_spelling: bool = False
    by_text: bool = False

    def sentence(self, url: str) -> str:
        """The message to a person: the values, the rule and the way out."""
        rule, way_out = (ONE_SPELLING, BY_TEXT) if self.by_spelling else (CHANGED, SAMPLER_OFF)
        if self.by_text:
            rule, way_out = NOT_CONTINUED, PLAIN_TEXT
        return f"the server {url} {self.clause}, {rule}; {way_out}"


@dataclass(frozen=True, slots=True)
class ListCheck:
    """What is known of an endpoint's lists: their ``fault``, if they have one, the ``temperature`` at which they have
    to be requested, and whether they were ``compared`` with an echo."""

    fault: ListFault | None = None
    temperature: int = 0
    compared: bool = False

    @property
    def line(self) -> str:
        """The result in a few words."""
        if self.fault:
            return f"the server {self.fault.clause}"
        checked = "agrees with the echo" if self.compared else "could not be checked against an echo"
        return f"its list of next tokens {checked}" + (", at temperature 1 alone" if self.temperature else "")


UNCHECKED = ListCheck()


@dataclass(frozen=True, slots=True)
class EchoedToken:
    """A token behind a text, with the log-probability that the echo gives it, the tokens that it lists at this place,
    and the mean log-probability of the text's tokens (``text_log_p``)."""

    token: str
    log_p: float
    listed: dict[str, float]
    text_log_p: float


class Asker(Protocol):
    """Asks one endpoint of one server. None stands for what it can't do."""

    text: str
    """A question with letters."""
    broad: str
    """A text that almost any token may follow, so that the most probable ones have far less than all the
    probability."""
    letters: tuple[str, ...]
    """The letters that the question holds, as they follow it; penalties change tokens that a prompt holds. Empty for an
    endpoint that echoes nothing."""

    def listed(self, text: str, most: int, *, temperature: int = 0) -> NextTokens | None:
        """The ``most`` most probable tokens after a text."""
        ...

    def echoed(self, text: str, token: str) -> EchoedToken | None:
        """A token behind a text."""
        ...

    def continued(self, text: str, most: int) -> tuple[str, NextTokens | None] | None:
        """The token that the server writes after a text at temperature 1, and the ``most`` most probable ones after
        that if it writes another one."""
        ...


@dataclass(frozen=True, slots=True)
class Findings:
    """The ``check`` of an endpoint's lists, how many tokens it really lists (``most``), its list after the question
    (``first``), and its echo: whether it is right (None: there is none), and the mean log-probability of the question's
    tokens by it (0: not known)."""

    check: ListCheck
    most: int
    first: NextTokens
    echo_right: bool | None = None
    text_log_p: float = 0.0


def alike(a: float, b: float) -> bool:
    """Whether two log-probabilities may be those of one token after one text.

    >>> alike(-0.3, -0.4), alike(-0.3, -0.6), alike(-9.0, -9.3)
    (True, False, True)
    """
    return abs(a - b) <= ALIKE + ALIKE_EACH * min(abs(a), abs(b))


def fault_of(listed: NextTokens, *, requested: int) -> ListFault | None:
    """What is wrong with a reply to a request for ``requested`` tokens, as far as the reply alone shows it."""
    return _wrong_number(listed, requested) or _wrong_sum(listed, requested) or _wrong_choice(listed)


def _wrong_number(listed: NextTokens, requested: int) -> ListFault | None:
    if requested < 0 or listed.entries >= requested:
        return None
    clause = f"lists {_counted(listed.entries)} for {requested} requested"
    if _sums_to_one(listed):
        return ListFault(f"{clause}, with a sum of 1")
    unreadable = any(UNREADABLE in token for token, _ in listed.tokens)  # these alone may have one spelling
    return None if unreadable else ListFault(clause, by_spelling=True)


def _wrong_sum(listed: NextTokens, requested: int) -> ListFault | None:
    known, last = len(listed.tokens), math.exp(listed.tokens[-1][1])
    if _sums_to_one(listed):
        # Where entries have no probability, others have it all: with a tail that is no model's, or none.
        lacks = known < listed.entries
        is_cut = last > (LEAST**2 if requested < 0 else LEAST) if lacks else known >= MANY and last > CLIFF
        if is_cut or (lacks and known == 1):
            return ListFault(f"lists {_counted(known)} with all the probability, and nothing for the others")
    if requested >= 0:
        return None
    spelled = [token for token, _ in listed.tokens]
    if not any(token.startswith(SPACES) for token in spelled):
        return ListFault("lists its whole vocabulary without the spaces in it", by_spelling=True)
    if listed.total < 1 - LOST and not any(UNREADABLE in token for token in spelled):
        return ListFault(f"lists its whole vocabulary with a sum of {listed.total:.3f}", by_spelling=True)
    return None


def _wrong_choice(listed: NextTokens) -> ListFault | None:
    if listed.chosen is None:
        return None
    token, log_p = listed.chosen
    same = [value for name, value in listed.tokens if name == token]
    if same and not any(alike(value, log_p) for value in same):
        return ListFault(f"gives the token {_shown(token)} that it wrote {log_p:.2f}, and lists it with {same[0]:.2f}")
    if same or log_p <= listed.tokens[-1][1] or any(alike(value, log_p) for _, value in listed.tokens):
        return None  # or it is spelled in another way in the list
    clause = f"gives the token {_shown(token)} that it wrote {log_p:.2f}, and does not list it"
    return ListFault(clause, by_spelling=True)


def shared_letter(listed: NextTokens, letters: Sequence[str]) -> ListFault | None:
    """A fault if two listed tokens have the spelling of a letter and the lesser one has more than a hundredth of the
    other's probability."""
    for letter in letters:
        values = sorted((log_p for token, log_p in listed.tokens if token == letter), reverse=True)
        if len(values) > 1 and values[1] - values[0] > math.log(0.01):
            return ListFault(f"lists {len(values)} tokens that are spelled {_shown(letter)}", by_spelling=True)
    return None


def contradiction(token: str, listed: float, echoed: float) -> ListFault:
    """The fault of a list that gives a token another log-probability than the echo."""
    values = f"with the log-probability {listed:.2f} and echoes it with {echoed:.2f}"
    return ListFault(f"lists {_shown(token)} {values} after the same text")


def checked(asker: Asker, first: NextTokens, *, requested: int, temperature: int | None = None) -> Findings:
    """Check an endpoint that was ``requested`` for tokens after the question and listed ``first``; see the module's
    docstring. The ``temperature`` at which the server lists the model's probabilities may be known (None: it is
    not)."""
    broad = asker.listed(asker.broad, _few(requested))
    most = requested
    if broad is not None and broad.entries == first.entries < requested and not _sums_to_one(broad):
        again = asker.listed(asker.text, first.entries)
        if again is not None and again.entries == first.entries:  # it lists this many at most, and has lost no spelling
            most, first = first.entries, again
    lists = {asker.text: first} | ({} if broad is None else {asker.broad: broad})
    head = next(_echoes(asker, asker.text, first), None)
    if head is None:
        return _alone(asker, lists, most, temperature)
    return _compared(asker, lists, most, head)


def _alone(asker: Asker, lists: dict[str, NextTokens], most: int, known_temperature: int | None = None) -> Findings:
    temperature, fault = 0, None
    if asker.broad in lists:
        warm = asker.listed(asker.broad, _few(most), temperature=1) if known_temperature != 0 else None
        if warm is not None and (known_temperature or _differing(lists[asker.broad], warm)):
            temperature = 1
            question = asker.listed(asker.text, most, temperature=1)
            lists = {asker.text: question or lists[asker.text], asker.broad: warm}
        fault = _wrong_where_broad(asker, lists[asker.broad]) or _rescaled(asker, lists[asker.broad], most, temperature)
    fault = _fault_of_any(asker, lists, most) or fault or _not_continued(asker, most)
    return Findings(ListCheck(fault, temperature), most, lists[asker.text])


def _fault_of_any(asker: Asker, lists: Mapping[str, NextTokens], most: int) -> ListFault | None:
    numbers = {asker.broad: _few(most), asker.text: most}
    faults = (fault_of(lists[text], requested=number) for text, number in numbers.items() if text in lists)
    return next(filter(None, faults), None)


def _few(most: int) -> int:
    return FEW if most < 0 else most


def _wrong_where_broad(asker: Asker, listed: NextTokens) -> ListFault | None:
    """After a text that almost anything can follow, the tokens that are not listed have more than the last listed, and
    none has all the probability. In a chat, every answer may begin alike."""
    last = math.exp(listed.tokens[-1][1])
    if 1 - listed.total < last + listed.noise and len(listed.tokens) > 1 and last > LEAST:
        return ListFault(f"lists {_counted(len(listed.tokens))} with all the probability, whatever is before them")
    if asker.letters and listed.tokens[0][1] > -ONE:
        return ListFault(f"gives {_shown(listed.tokens[0][0])} all the probability after {asker.broad!r}")
    return None


def _rescaled(asker: Asker, listed: NextTokens, most: int, temperature: int) -> ListFault | None:
    """Log-probabilities that change with the number of tokens requested are scaled to sum to 1 over the list."""
    other = OTHER if _few(most) > OTHER else most // 2
    fewer = asker.listed(asker.broad, other, temperature=temperature) if other else None
    if fewer is None or not (tokens := _differing(listed, fewer)):
        return None
    token, a, b = tokens[0]
    return ListFault(
        f"gives {_shown(token)} the log-probability {a:.2f} in a list of {len(listed.tokens)} tokens, and {b:.2f} in "
        f"one of {len(fewer.tokens)}"
    )


def _not_continued(asker: Asker, most: int) -> ListFault | None:
    """The second token that a server writes after a text is not the next one after the text and its first token, for
    two texts, or it writes nothing but special tokens."""
    first: ListFault | None = None
    special = list[str]()
    texts = (asker.broad, asker.text) * 2
    for text in texts:
        if (continued := asker.continued(text, _few(most))) is None:
            return None
        token, second = continued
        special += [token] if SPECIAL.fullmatch(token) else []
        if second is None or not WORD.fullmatch(token):
            continue
        for shown_token in dict.fromkeys((token, f" {token.strip()}")):  # some servers show tokens without their spaces
            after = asker.listed(text + shown_token, _few(most), temperature=1)
            fault = None if after is None else _other_text(shown_token, second, after)
            if fault is None:
                return None
        if first is not None:
            return first
        first = fault
    if len(special) == len(texts):
        return ListFault(f"writes the special token {_shown(special[0])} after each text", by_text=True)
    return first


def _other_text(token: str, second: NextTokens, after: NextTokens) -> ListFault | None:
    """Whether two lists, behind the ``token`` that the server wrote and where it was sent, are of different texts."""
    for best, log_p in (second.tokens[0], after.tokens[0]):
        values = [
            max((p for name, p in listed.tokens if name == best), default=listed.floor) for listed in (second, after)
        ]
        if log_p - min(values) > FAR:
            return ListFault(
                f"gives {_shown(best)} the log-probability {values[0]:.2f} behind {_shown(token)} that it wrote, and "
                f"{values[1]:.2f} behind the same text where it is sent",
                by_text=True,
            )
    return None


def _compared(asker: Asker, lists: dict[str, NextTokens], most: int, head: EchoedToken) -> Findings:
    """Lists with an echo: the most probable token after each text, and another one. After the question, that is a
    letter or a less probable token; after the broad text, one that the text holds or one that it does not."""
    text_log_p = head.text_log_p
    tail = [token for token, _ in reversed(lists[asker.text].tokens[:MANY]) if token != head.token]
    letters = [token for token in tail if token in asker.letters]
    echoes = [(asker.text, head)]
    echoes += [(asker.text, echo) for echo in islice(_echoed(asker, asker.text, [*letters[:1], *tail]), 1)]
    for echo in islice(_echoes(asker, asker.broad, lists.get(asker.broad)), 1):
        names = [token for token, _ in lists[asker.broad].tokens]
        held = set(re.findall(r"\w+", asker.broad))
        others = [token for token in names if (token.strip() in held) != (echo.token.strip() in held)]
        echoes += [(asker.broad, echo)]
        echoes += [(asker.broad, other) for other in islice(_echoed(asker, asker.broad, others), 1)]
    pairs = _pairs(lists, echoes)
    if pairs and all(alike(a, b) for _, a, b in pairs):
        check = ListCheck(_fault_of_any(asker, lists, most), compared=True)
        return Findings(check, most, lists[asker.text], True, text_log_p)
    warm = {
        text: listed
        for text in lists
        if (listed := asker.listed(text, _few(most) if text == asker.broad else most, temperature=1)) is not None
    }
    warm_pairs = _pairs(warm, echoes)
    if len(warm) == len(lists) and warm_pairs and all(alike(a, b) for _, a, b in warm_pairs):
        check = ListCheck(_fault_of_any(asker, warm, most), 1, compared=True)
        return Findings(check, most, warm[asker.text], True, text_log_p)
    known = {echo.token for text, echo in echoes if text == asker.text}
    untried = dict.fromkeys([*(name for name, _ in lists[asker.text].tokens), *asker.letters])
    more = _echoed(asker, asker.text, [token for token in untried if token not in known])
    echoes += [(asker.text, echo) for echo in islice(more, PAIRS - len(known))]
    is_right = _echo_is_right(lists, echoes)
    if is_right is False:
        alone = _alone(asker, lists, most)
        return Findings(alone.check, alone.most, alone.first, False)
    token, a, b = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
    fault = (_fault_of_any(asker, lists, most) if is_right else None) or contradiction(token, a, b)
    return Findings(ListCheck(fault, compared=bool(is_right)), most, lists[asker.text], bool(is_right), text_log_p)


def _echo_is_right(lists: Mapping[str, NextTokens], echoes: Sequence[tuple[str, EchoedToken]]) -> bool | None:
    """Whether the echo is right where it contradicts the lists; None if nothing shows it.

    A sampler leaves most tokens of a list in it. So an echo is right if it lists the same tokens, and
    wrong if it lists those of another place, contradicts itself, or gives all tokens the same.
    """
    each = [echo for _, echo in echoes]
    if any(map(_contradicts_itself, each)):
        return False
    if len(each) > 2 and len({echo.log_p for echo in each}) == 1:
        return False
    shares = [share for text, echo in echoes if (share := _share(lists[text], echo)) is not None]
    if len(shares) > 1:
        mean = sum(shares) / len(shares)
        if mean >= SAME_PLACE or mean <= OTHER_PLACE:
            return mean >= SAME_PLACE
    pairs = _pairs(lists, [(text, echo) for text, echo in echoes if text == echoes[0][0]])
    if len(pairs) >= PAIRS and (2 * sum(alike(a, b) for _, a, b in pairs) > len(pairs) or _is_line(pairs)):
        return True
    return None


def _share(listed: NextTokens, echo: EchoedToken) -> float | None:
    """The share of the tokens that an echo lists at the place after a text which are listed after this text."""
    best = max(echo.listed.values(), default=0.0)
    names = {token.strip() for token, log_p in echo.listed.items() if token != echo.token or log_p == best}
    return len(names & {token.strip() for token, _ in listed.tokens}) / len(names) if names else None


def _is_line(pairs: Sequence[tuple[str, float, float]]) -> bool:
    """Whether the echo's values are those of the list after a temperature, so that they lie on a rising line."""
    a, b = [pair[1] for pair in pairs], [pair[2] for pair in pairs]
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    spread = sum((x - mean_a) ** 2 for x in a)
    slope = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)) / spread if spread else 0.0
    return slope > 0 and all(alike(mean_b + slope * (x - mean_a), y) for x, y in zip(a, b, strict=True))


def _echoes(asker: Asker, text: str, listed: NextTokens | None) -> Iterator[EchoedToken]:
    """The echoes of the most probable tokens behind a text, as far as the server gives them."""
    yield from _echoed(asker, text, [*(token for token, _ in listed.tokens[:TRIED]), *asker.letters] if listed else [])


def _echoed(asker: Asker, text: str, tokens: Sequence[str]) -> Iterator[EchoedToken]:
    for token in tokens[: TRIED + len(asker.letters)]:
        if token.strip() and token.isascii() and (echo := asker.echoed(text, token)) is not None:
            yield echo


def _pairs(
    lists: Mapping[str, NextTokens], echoes: Sequence[tuple[str, EchoedToken]]
) -> list[tuple[str, float, float]]:
    """Each token that was listed and echoed after the same text, with both log-probabilities; also those that the echo
    lists beside the token, unless it contradicts itself."""
    values = [
        (token, lists[text].log_p(token), echoed)
        for text, echo in echoes
        if text in lists
        for token, echoed in ({} if _contradicts_itself(echo) else echo.listed | {echo.token: echo.log_p}).items()
    ]
    return [(token, log_p, echoed) for token, log_p, echoed in dict.fromkeys(values) if log_p is not None]


def _contradicts_itself(echo: EchoedToken) -> bool:
    return not alike(echo.listed.get(echo.token, echo.log_p), echo.log_p)


def _differing(before: NextTokens, after: NextTokens) -> list[tuple[str, float, float]]:
    first, second = (dict(reversed(listed.tokens)) for listed in (before, after))  # the most probable of each spelling
    return [(token, a, second[token]) for token, a in first.items() if token in second and not alike(a, second[token])]


def _sums_to_one(listed: NextTokens) -> bool:
    return listed.total >= 1 - SUM - listed.noise


def _counted(number: int) -> str:
    return f"{number} token{'s' if number != 1 else ''}"


def _shown(token: str) -> str:
    return repr(clean(token.replace(" ", "\u2423"), SHOWN).replace("\u2423", " "))
