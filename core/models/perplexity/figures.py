"""Perplexity from stored token losses: of messages, of conversations, in bits per byte, between two prompts.

A loss is −log p of a token in nats. The perplexity of a message is exp(mean loss of its tokens). That of a
conversation is exp(Σ loss / Σ tokens), *token-weighted*; or the mean of its messages' perplexities, *message-mean*,
as published, in which one unlikely message outweighs all others. Bits per byte, Σ loss / (ln 2 · Σ bytes), is the only
one that can be compared between tokenizers: fewer, longer tokens are each less likely.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.records import FloatArray, IntArray

Losses = npt.NDArray[np.float32]

FLIPS = 9999
FLIPS_AT_ONCE = 5_000_000
"""Signs that are in memory at once, 40 MB."""
ROUNDING = 1e-12
EXACT_UP_TO = 14
"""Up to this many differences, all 2ⁿ sign patterns are tried."""


@dataclass(frozen=True, slots=True)
class ScoredMessage:
    """A counselor's message as it was scored under one prompt: the text of each token and its loss in nats."""

    number: int
    pieces: tuple[str, ...]
    losses: Losses

    def __post_init__(self) -> None:
        if len(self.pieces) != len(self.losses) or not len(self.losses):
            raise InputError(f"message {self.number + 1} has {len(self.pieces)} texts and {len(self.losses)} losses")

    @property
    def total(self) -> float:
        """Σ loss, nats."""
        return float(self.losses.sum(dtype=np.float64))

    @property
    def tokens(self) -> int:
        """How many were scored."""
        return len(self.losses)

    @property
    def bytes(self) -> int:
        """Of the scored text in UTF-8."""
        return len("".join(self.pieces).encode())

    @property
    def mean_loss(self) -> float:
        """Nats a token."""
        return self.total / self.tokens

    @property
    def perplexity(self) -> float:
        """exp(mean loss)."""
        return math.exp(self.mean_loss)


def token_weighted(messages: Sequence[ScoredMessage]) -> float:
    """exp(Σ loss / Σ tokens)."""
    return math.exp(sum(m.total for m in messages) / sum(m.tokens for m in messages))


def message_mean(messages: Sequence[ScoredMessage]) -> float:
    """The mean of the messages' perplexities, as published."""
    return float(np.mean([m.perplexity for m in messages]))


def bits_per_byte(messages: Sequence[ScoredMessage]) -> float:
    """Σ loss / (ln 2 · Σ bytes)."""
    return sum(m.total for m in messages) / (math.log(2) * sum(m.bytes for m in messages))


def uniform_bits_per_byte(messages: Sequence[ScoredMessage], vocabulary: int) -> float:
    """The bits per byte of a model that finds each of its V tokens equally likely: log₂ V · Σ tokens / Σ bytes.

    Its perplexity, of a message as of a conversation, is V.
    """
    return math.log2(vocabulary) * sum(m.tokens for m in messages) / sum(m.bytes for m in messages)


@dataclass(frozen=True, slots=True)
class Paired:
    """How much less likely the same n messages are under A than under B, nats per token: the mean over messages of A −
    B, its 95% interval (:func:`clustered_mean_interval`), and the p-value of a sign-flip test that the prompts change
    nothing.

    The messages of one conversation are alike, so both are over ``conversations``; where there is one, they are over
    its messages and speak of that conversation alone. Below 0, A makes the messages more likely. The ends are NaN if
    all differences are equal, because they then have no variance.
    """

    n: int
    conversations: int
    mean: float
    low: float
    high: float
    p_value: float

    @property
    def least_p(self) -> float:
        """The smallest p-value possible with n signs: two of all 2ⁿ patterns."""
        return max(2.0 ** (1 - (self.conversations if self.conversations > 1 else self.n)), 1 / (FLIPS + 1))


def aligned(a: ScoredMessage, b: ScoredMessage) -> tuple[ScoredMessage, ScoredMessage]:
    """The same message under two prompts in pieces that both have.

    Some tokenizers join words, and then what stands before a message decides how its first words are cut. Tokens
    between two places at which both cut become one piece, their losses added. Raises :class:`InputError` if the texts
    differ.
    """
    if a.pieces == b.pieces:
        return a, b
    if "".join(a.pieces) != "".join(b.pieces):
        raise InputError("the two prompts were not measured on the same words; measure both in one way")
    ends = [np.cumsum([len(piece) for piece in each.pieces]) for each in (a, b)]
    shared = np.intersect1d(ends[0], ends[1])
    text = "".join(a.pieces)
    pieces = tuple(text[start:end] for start, end in zip([0, *shared[:-1]], shared, strict=True))
    merged = (np.bincount(np.searchsorted(shared, at), each.losses) for at, each in zip(ends, (a, b), strict=True))
    first, second = (losses.astype(np.float32) for losses in merged)
    return ScoredMessage(a.number, pieces, first), ScoredMessage(b.number, pieces, second)


def paired(
    a: Sequence[ScoredMessage],
    b: Sequence[ScoredMessage],
    *,
    rng: np.random.Generator,
    conversations: Sequence[int] | None = None,
) -> Paired:
    """Compare two prompts on the same messages of one model, message by message.

    ``conversations`` numbers the conversation of each message; None: all are of one. Raises :class:`InputError` if
    they are not the same words, or fewer than 2 messages.
    """
    if len(a) != len(b) or len(a) < 2:
        raise InputError(f"a paired difference needs the same messages, at least 2; got {len(a)} and {len(b)}")
    pairs = [aligned(first, second) for first, second in zip(a, b, strict=True)]
    differences = np.array([first.mean_loss - second.mean_loss for first, second in pairs])
    n = len(differences)
    codes = np.unique(np.zeros(n) if conversations is None else conversations, return_inverse=True)[1]
    count = int(codes.max()) + 1
    units = codes if count > 1 else np.arange(n)
    apart = float(np.ptp(differences)) > ROUNDING
    low, high = clustered_mean_interval(differences, units) if apart else (math.nan, math.nan)
    sums = np.bincount(units, differences).astype(np.float64)
    return Paired(n, count, float(differences.mean()), low, high, sign_flip(sums, rng=rng))


def clustered_mean_interval(values: FloatArray, units: IntArray) -> tuple[float, float]:
    """The 95% t interval of the mean of values (n,) that are independent between their ``units`` (n,), 0 … G − 1.

    The standard error is the cluster-robust one with the correction for small samples (CR2), and t has the degrees of
    freedom of Bell & McCaffrey (2002, Survey Methodology 28:169): the fewer of those where values within a unit are
    independent and where they are all alike. A bootstrap over n values is too short where they are alike within few
    units. With a unit a value it is Student's interval. Needs at least 2 units.
    """
    sizes = np.bincount(units).astype(np.float64)
    n, mean = float(len(values)), float(values.mean())
    p = sizes / n
    sums = np.bincount(units, values - mean)
    error = math.sqrt(float((sums**2 / (1 - p)).sum())) / n
    # Each unit's term of the variance is the square of a linear form in the values; df = tr(Γ)² / tr(Γ²) for the
    # covariance Γ (G, G) of those forms. Γ = diag(w·(1/sizes)) − vv′ where values are independent ...
    w = sizes**2 / (1 - p) / n**2
    d, v2 = w / sizes, w / n
    independent = (d.sum() - v2.sum()) ** 2 / ((d**2).sum() - 2 * (d * v2).sum() + v2.sum() ** 2)
    # ... and Γ_cd = √w_c √w_d (1[c = d] − p_c − p_d + q), q = Σp², where those of a unit are all alike.
    q = float((p**2).sum())
    trace = (w * (1 - 2 * p + q)).sum()
    whole = q**2 * w.sum() ** 2 + 2 * (w * p**2).sum() * w.sum() - 4 * q * (w * p).sum() * w.sum()
    whole += 2 * (w * p).sum() ** 2 + (w**2 * ((1 - 2 * p + q) ** 2 - (q - 2 * p) ** 2)).sum()
    alike = trace**2 / whole
    from scipy.special import stdtrit  # here: workers and agents import this module, and none of them needs it

    reach = float(stdtrit(min(independent, alike), 0.975)) * error
    return mean - reach, mean + reach


def sign_flip(differences: FloatArray, *, rng: np.random.Generator) -> float:
    """The two-sided p-value that differences (n,) are as likely with either sign (Fisher 1935): the share of sign
    patterns whose mean is at least as far from 0, all 2ⁿ of them up to 14 differences, else 9,999 drawn ones and
    the one observed.

    >>> sign_flip(np.array([1.0, 1.0, 1.0]), rng=np.random.default_rng(0))
    0.25
    """
    observed = abs(float(differences.sum()))
    near = 1e-12 * max(1.0, float(np.abs(differences).sum()))
    if len(differences) <= EXACT_UP_TO:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=len(differences))))
        return float(np.mean(np.abs(signs @ differences) >= observed - near))
    far, drawn, rows = 0, 0, max(1, FLIPS_AT_ONCE // len(differences))
    while drawn < FLIPS:
        signs = rng.choice((1.0, -1.0), size=(min(rows, FLIPS - drawn), len(differences)))
        far += int(np.sum(np.abs(signs @ differences) >= observed - near))
        drawn += len(signs)
    return (1 + far) / (FLIPS + 1)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a message, its tokens together: ``at`` its first token, and its loss under A less that under B."""

    at: int
    text: str
    a: float
    b: float

    @property
    def change(self) -> float:
        """A − B in nats; below 0, A makes it more likely."""
        return self.a - self.b


def words(a: ScoredMessage, b: ScoredMessage) -> list[Word]:
    """The words of two :func:`aligned` messages, tokens joined up to the next space."""
    joined: list[Word] = []
    before = " "
    for at, (piece, loss_a, loss_b) in enumerate(zip(a.pieces, a.losses, b.losses, strict=True)):
        begins = not joined or piece[:1].isspace() or before[-1:].isspace()
        before = piece or before
        if begins and piece.strip():
            joined.append(Word(at, piece.strip(), float(loss_a), float(loss_b)))
        elif joined:
            last = joined[-1]
            joined[-1] = Word(last.at, last.text + piece.strip(), last.a + float(loss_a), last.b + float(loss_b))
    return joined


def most_changed(a: ScoredMessage, b: ScoredMessage, most: int = 8) -> list[Word]:
    """The words that the prompts change most, by the size of the change."""
    return sorted(words(a, b), key=lambda word: -abs(word.change))[:most]
