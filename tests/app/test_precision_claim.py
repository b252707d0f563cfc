"""What New run says of bfloat16 is what the runs that ship show."""

from __future__ import annotations

import re
from dataclasses import replace

from app.components.new_run.form import DTYPE_HELP
from core.runs import store


def test_bfloat16_changes_as_many_top_options_as_new_run_says():
    done = {record.spec: record.run_id for record in map(store.read_record, store.run_ids()) if record.state == "done"}
    changed: dict[str, list[int]] = {}
    for spec, run_id in done.items():
        exact = done.get(replace(spec, dtype="float32"))
        if spec.dtype != "bfloat16" or exact is None or not spec.answers or not store.is_bundled(run_id):
            continue
        rounded, plain = store.read_logits(run_id), store.read_logits(exact)
        top = dict(zip(plain.ids, plain.logits.argmax(axis=1).tolist(), strict=True))
        differ = [top[name] != at for name, at in zip(rounded.ids, rounded.logits.argmax(axis=1).tolist(), strict=True)]
        changed.setdefault(spec.model, []).extend(map(int, differ))
    shares = [100 * sum(of) / len(of) for of in changed.values()]
    low, high = re.findall(r"([\d.]+)%", DTYPE_HELP)
    assert len(shares) == 4
    assert (f"{min(shares):.1f}", f"{max(shares):.1f}") == (low, high)
