"""Mutation testing: which mutants are tried."""

import ast
from pathlib import Path

import pytest

from tests.mutation import changes_nothing, modules, mutate

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("original", "mutant", "nothing"),
    [
        ("raise ValueError('so')", "raise ValueError('XXsoXX')", True),
        ("raise ValueError('so')", "raise ValueError(None)", False),
        ("zip(a, b, strict=True)", "zip(a, b)", True),
        ("zip(a, b, strict=True)", "zip(a, None, strict=True)", False),
        ("np.asarray(x, dtype=np.float64)", "np.asarray(x)", True),
        ("np.zeros(3, dtype=np.int64)", "np.zeros(3)", False),
        ("np.searchsorted(a, b, side='left')", "np.searchsorted(a, b)", True),
        ("np.searchsorted(a, b, side='right')", "np.searchsorted(a, b)", False),
        ("np.sort(a, axis=1)", "np.sort(a, axis=2)", False),
        ("x.astype(np.float64)", "x.astype(None)", True),
        ("x.astype(np.int64)", "x.astype(None)", False),
        ("float('inf')", "float('INF')", True),
        ("a < b", "a <= b", False),
    ],
)
def test_what_changes_no_behaviour_is_left_out(original: str, mutant: str, nothing: bool) -> None:
    assert changes_nothing(original, mutant) is nothing


def test_a_modules_mutants_each_differ_from_it_in_one_function(tmp_path: Path) -> None:
    (file,) = modules(["core/conformal/pvalues.py"])
    (tmp_path / file).parent.mkdir(parents=True)
    module = mutate(file, tmp_path)
    assert module.name == "core.conformal.pvalues"
    assert len(module.mutants) > 10
    for name, (original, mutant) in module.mutants.items():
        assert name.startswith(("x_p_values__mutmut_", "x_holm__mutmut_"))
        assert ast.dump(ast.parse(original)) != ast.dump(ast.parse(mutant))
    assert any("(n - 1 - better)" in mutant for _, mutant in module.mutants.values())
    compile((tmp_path / file).read_text(encoding="utf-8"), str(file), "exec")


def test_an_async_function_has_mutants_too(tmp_path: Path) -> None:
    (file,) = modules(["core/models/server/reply_body.py"])
    (tmp_path / file).parent.mkdir(parents=True)
    assert any(original.startswith("async def x_read(") for original, _ in mutate(file, tmp_path).mutants.values())
