"""Hedge's terms: what each one means in one or two sentences, and the page that shows it best.

Pages explain a term where it is first used (:func:`hint`). The whole list is at the end of Learn
(:mod:`app.components.shared.glossary_list`) and in the documentation (``docs/glossary.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.conformal.scores import SCORES


@dataclass(frozen=True, slots=True)
class Term:
    """A term with its ``meaning``. ``page`` is the name of the page that shows it."""

    title: str
    meaning: str
    page: str


def _scores() -> dict[str, Term]:
    """A term for each score, in the words of the score's own record."""
    return {name: Term(score.title, f"A score. {score.sentence}", "alpha_lab") for name, score in SCORES.items()}


GROUPS: Mapping[str, Mapping[str, Term]] = MappingProxyType(
    {
        "Prediction sets": {
            "alpha": Term(
                "Alpha",
                "The share of questions whose prediction set may miss the truth. At alpha 0.1, at least 90% of the "
                "sets should hold it.",
                "alpha_lab",
            ),
            "prediction set": Term(
                "Prediction set",
                "The options that can't be ruled out at this alpha: all options whose score is at most the threshold.",
                "one_question",
            ),
            "truth": Term("Truth", "The option that the benchmark marks as the right one.", "one_question"),
            "coverage": Term(
                "Coverage",
                "The share of test questions whose prediction set holds the truth. It is promised to be at least "
                "1 − alpha on average over many questions, never for a single one.",
                "alpha_lab",
            ),
            "set size": Term(
                "Set size",
                "The number of options in a prediction set. At the same coverage, smaller sets mean that the model's "
                "probabilities say more.",
                "alpha_lab",
            ),
            "score": Term(
                "Score",
                "A number that says how badly an option fits its question (a nonconformity score). Low is a good fit.",
                "alpha_lab",
            ),
            "threshold": Term(
                "Threshold",
                "The largest score with which an option stays in the set. With n calibration questions it is the "
                "⌈(n+1)(1−alpha)⌉-th smallest score of their true options.",
                "alpha_lab",
            ),
            "calibration questions": Term(
                "Calibration questions",
                "Questions whose answers are known and that set the threshold. They are not used to measure coverage.",
                "alpha_lab",
            ),
            "test questions": Term(
                "Test questions",
                "Questions that show what the sets are worth. None of them helps to set the threshold.",
                "alpha_lab",
            ),
            "split": Term(
                "Split",
                "The division of a run's questions into calibration and test questions. Every split gives slightly "
                "different figures.",
                "alpha_lab",
            ),
            "adaptive level": Term(
                "Adaptive level",
                "The alpha of the next set in adaptive conformal inference. It falls after each set that misses the "
                "truth and rises a little after each other, by steps of gamma.",
                "stream_lab",
            ),
            "betting test": Term(
                "Betting test",
                "Bets on each question's p-value that win only if the kind of question changes (a conformal test "
                "martingale). Without a change, at most 1 in 20 streams turns 1 into 20.",
                "stream_lab",
            ),
            "exchangeability": Term(
                "Exchangeability",
                "The condition of the guarantee: calibration questions and new questions are alike, so that their "
                "order could be shuffled without anyone noticing. A new kind of question breaks it.",
                "alpha_lab",
            ),
            "coverage band": Term(
                "Coverage band",
                "If the guarantee holds, coverage on the test questions lies in this band for 95% of the draws of "
                "calibration and test questions.",
                "alpha_lab",
            ),
            "p-value": Term(
                "Conformal p-value",
                "The share of calibration questions whose true option fits no better than this option, with this "
                "option counted in. An option is in the set as long as its p-value is above alpha.",
                "one_question",
            ),
            "empty set": Term(
                "Empty set",
                "A set without any option: every option fits worse than the threshold allows.",
                "alpha_lab",
            ),
            "e and f": Term(
                "E and F",
                "Two options that some runs add to every question, “I don't know” and “None of the above”. They are "
                "never the truth.",
                "alpha_lab",
            ),
            "uacc": Term(
                "UAcc",
                "Uncertainty-aware accuracy: accuracy × √k / mean set size, for k options. It rewards a model for "
                "being right with small sets. Higher is better, and it can exceed 1.",
                "compare",
            ),
        },
        "Scores": _scores(),
        "Calibration": {
            "accuracy": Term(
                "Accuracy", "The share of test questions whose most probable option is the truth.", "compare"
            ),
            "confidence": Term(
                "Confidence", "The probability that a model gives to the option that it chooses.", "calibration"
            ),
            "reliability": Term(
                "Reliability diagram",
                "Accuracy against confidence, bin by bin. A calibrated model lies on the diagonal: of the answers "
                "with 80% confidence, 80% are right.",
                "calibration",
            ),
            "ece": Term(
                "ECE",
                "Expected calibration error: the gap between confidence and accuracy, on average over bins of "
                "questions. 0 is best.",
                "calibration",
            ),
            "beyond chance": Term(
                "ECE beyond chance",
                "The ECE without the part that chance adds. In a finite sample, even a perfectly calibrated model "
                "shows an ECE above 0.",
                "calibration",
            ),
            "nll": Term(
                "NLL",
                "Negative log-likelihood: −log of the probability of the truth, on average, in nats. Lower is better. "
                "Its interval cannot know rare questions with a very large loss that the sample lacks.",
                "calibration",
            ),
            "brier": Term(
                "Brier score",
                "The squared distance of the probabilities from the truth, on average, from 0 to 2. Lower is better.",
                "calibration",
            ),
            "temperature": Term(
                "Temperature",
                "A number T by which log-probabilities are divided before they are scaled to sum to 1 again. Above 1 "
                "it makes a model less confident, below 1 more.",
                "calibration",
            ),
        },
        "Ways of asking": {
            "run": Term("Run", "One model, asked one task's questions in one way.", "new_run"),
            "class": Term(
                "Class",
                "An option of a classifier, which is the same in every question and has a name. There can be 100.",
                "data",
            ),
            "by letter": Term(
                "By letter",
                "The model sees the options with their letters, and the probabilities of the letters are compared.",
                "prompting",
            ),
            "by text": Term(
                "By text",
                "The model does not see the options (cloze). The probabilities of the options' own words after "
                "“Answer:” are compared.",
                "prompting",
            ),
            "strategy": Term(
                "Strategy",
                "The instruction at the start of the prompt. base: none. shared: one instruction for every task. "
                "task: an instruction for this kind of task.",
                "new_run",
            ),
            "shots": Term(
                "Shots", "The number of answered examples that the model sees before each question.", "prompting"
            ),
            "precision": Term(
                "Precision",
                "The format of the numbers that a model computes with, such as 32 or 4 bits each. Fewer bits need less "
                "memory and can change the answers.",
                "new_run",
            ),
        },
        "Juries": {
            "juror": Term("Juror", "A model that judges whether an answer is right, and says how sure it is.", "jury"),
            "rule": Term("Rule", "A way to turn the verdicts of several jurors into one.", "jury"),
            "abstention": Term(
                "Abstention",
                "Not answering if confidence is too low. Fewer answers should then contain a smaller share of errors.",
                "jury",
            ),
            "kappa": Term(
                "Kappa",
                "Agreement beyond chance: 1 is full agreement, 0 is the agreement that chance gives. Cohen's kappa is "
                "for two jurors, Fleiss' kappa and Krippendorff's alpha are for several.",
                "jury",
            ),
            "effective votes": Term(
                "Effective votes",
                "The number of independent jurors that the jury is worth. It is lower than the number of jurors if "
                "they err on the same answers.",
                "jury",
            ),
        },
        "Words and tokens": {
            "token": Term("Token", "A word or a piece of a word: the unit that a model reads and predicts.", "tokens"),
            "surprisal": Term(
                "Surprisal",
                "−log of the probability of the token that came, in nats. Also called the token's loss. A token that "
                "was expected has a low surprisal.",
                "tokens",
            ),
            "entropy": Term("Entropy", "How unsure a model is of the next token before it comes, in nats.", "tokens"),
            "perplexity": Term(
                "Perplexity",
                "The exponential of the mean loss of a token: the model is as unsure as among this many equally likely "
                "tokens. Lower means that the text is more expected.",
                "perplexity",
            ),
            "bits per byte": Term(
                "Bits per byte",
                "The loss of a text by its length in bytes. It can be compared across models that cut text into "
                "different tokens.",
                "perplexity",
            ),
            "nat": Term("Nat", "A unit of surprisal: 1 nat is 1.44 bits.", "tokens"),
            "lora": Term("LoRA", "Small matrices that are trained while the model's own weights stay fixed.", "tokens"),
            "ard-lora": Term(
                "ARD-LoRA",
                "LoRA whose training also learns which of its ranks are needed and how uncertain its weights are "
                "(automatic relevance determination).",
                "tokens",
            ),
        },
    }
)
"""All terms by their name, in groups. A name is what a page asks for."""

TERMS: Mapping[str, Term] = MappingProxyType({name: term for group in GROUPS.values() for name, term in group.items()})
"""Every term by its name."""


def hint(*names: str) -> str:
    """The meanings of some terms as Markdown, for ``help=`` of an element. One term has no list around it.

    >>> hint("nat")
    '**Nat**: A unit of surprisal: 1 nat is 1.44 bits.'
    """
    lines = [f"**{TERMS[name].title}**: {TERMS[name].meaning}" for name in names]
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
