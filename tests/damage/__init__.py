"""Damaged files: one random bit, or a worse damage, in each kind of file that Hedge keeps.

    python -m tests.damage [KIND …] [--tries N] [--seed S] [--damage NAME …]
    python -m tests.damage KIND --seed S --damage NAME --only TRY        one try again, with what differs

Every figure must be as before, or one sentence must say what is damaged. Nothing else may be lost.
``tests/damage/test_damage.py`` is the short form.
"""
