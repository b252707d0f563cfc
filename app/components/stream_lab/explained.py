"""What the Stream lab's three ways do, promise and do not promise, in plain words."""

import streamlit as st

WAYS = {
    "The fixed threshold": """
The threshold q̂ is the ⌈(n+1)(1−α)⌉-th smallest of n calibration scores, once and for all. A set holds every option
whose score is at most q̂.

**Promised:** on average, at least 1 − α of the sets hold the truth, as long as calibration and stream questions could
have come in any order just as well (they are *exchangeable*). **Not promised:** anything after the change.
""",
    "Adaptive conformal inference": """
Each truth is known before the next question. The level moves after each one: αₜ₊₁ = αₜ + γ · (α − errₜ), where errₜ
is 1 if the set missed the truth and 0 if not. The next set is formed at αₜ₊₁, with the same calibration scores. A
miss makes it larger, a hit a little smaller.

**Promised, whatever the questions are:** over T questions, the share of misses differs from α by at most (max(α₁,
1−α₁) + γ) / (γ · T), where α₁ = α (Gibbs and Candès 2021). **Not promised:** anything at a single moment or for a
single kind of question. When αₜ is 0 or less, the set holds every option; when it is 1 or more, the set is empty and
counts as a miss. It needs the truth of every question, soon after the set. A large γ follows a change fast, but the
sizes of the sets jump.
""",
    "Bets against “nothing has changed”": """
Somebody starts with a capital of 1 and bets before each question that its truth will have an unusually high, or an
unusually low, score. The bet is settled by the question's p-value among all questions before it: pₜ = (number of
higher scores + u · (number of equal scores + 1)) / (number of questions before it + 1), with a random u. Three
accounts bet that p is low, nothing, and that p is high: they are multiplied by 1 − (p − ½), 1 and 1 + (p − ½). Before
each question, a hundredth of the capital is shared out evenly among them (the Simple Jumper, Vovk et al. 2021).

**Promised:** without a change, no way to bet wins on average, and at most 1 in 20 streams ever has a capital of 20,
even if you look after every question (Ville's inequality). **Not promised:** that a change is noticed, or that it is
one for the worse. Easier questions raise the alarm, too. These bets see scores that move up or down as a whole. If
scores only spread out, coverage can fall without an alarm. The capital also shrinks while nothing changes, so a late
change takes longer to be noticed.
""",
}


def explained() -> None:
    """Show the formulas, the guarantees and their limits."""
    with st.expander("How the three ways work, and what they promise"):
        for title, text in WAYS.items():
            st.markdown(f"#### {title}\n{text}")
        st.markdown(
            "**Where the questions come from.** Each question comes once, in a random order, so calibration and stream "
            "are exchangeable up to the change. If questions are drawn again, all of them, those that calibrate too, "
            "are drawn with replacement. That is exchangeable as well, but it says nothing about questions that the "
            "runs do not have. The questions after the change are those of a finished run of the same model on another "
            "task with as many options, asked in the same way."
        )
