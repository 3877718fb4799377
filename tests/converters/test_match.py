"""Which `match` becomes a chain of `if`s: one whose patterns compare the whole subject with what may be staged."""

from __future__ import annotations

import pytest

from tests.converters.conversion import decisions

APART = "its patterns take the subject apart, which is never staged"
NEVER = "its patterns are never staged"
CASES = {
    "case 0: pass": None,
    "case -1.5: pass": None,
    "case 0 | 1: pass": None,
    "case C.x: pass": None,
    "case 'a' | 1: pass": None,
    "case 0 as y: pass": None,
    "case (0 | 1) as y: pass": None,
    "case y if y > 0: pass": None,
    "case 0 if x: pass": None,
    "case 'a': pass": NEVER,
    "case 'a' if x: pass": None,
    "case None: pass": NEVER,
    "case True: pass": NEVER,
    "case y: pass": NEVER,
    "case _: pass": NEVER,
    "case []: pass": APART,
    "case (y, z): pass": APART,
    "case {'a': 1}: pass": APART,
    "case int(): pass": APART,
    "case 0 | [1]: pass": APART,
    "case 0 as y if y: pass": APART,
    "case 0: yield": "`yield` belongs to its generator (line 3)",
}


@pytest.mark.parametrize("case", CASES)
def test_reasons(case):
    (decision,) = [d for d in decisions(f"def f(x):\n  match x:\n    {case}\n") if d.construct == "match"]
    assert decision.reason == CASES[case]
