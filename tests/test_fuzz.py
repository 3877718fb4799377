"""Drawn programs do the same plain and converted (law 1).

`make test` tries the same 150 every time; AUTOGRAPH_FUZZ=10000 tries so many new ones, and reports the smallest
program it finds a difference for. What was found stands in tests/corpus/found.py.
"""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import pytest
from hypothesis import given, note

from autograph import api
from tests import outcomes
from tests.drawing import drawn
from tests.strategies import PRELUDE, programs

pytestmark = pytest.mark.once

NUMBERS = itertools.count()
CALLS = ("2, 0, [3, 1], {1: 2}", "1, 3, [0, 2, 5], {}", "0, None, [], {}")

def outcome(names: dict[str, Any], function: Any, arguments: str) -> tuple[outcomes.Outcome, Any]:
    names["Tank"].level = 60
    names["g"] = 0
    return outcomes.run(function, arguments, names), names["g"] if isinstance(names.get("g"), int) else None


def compare(text: str) -> None:
    """Run a program plain, with `main` converted, and converted as a module; all must do the same."""
    filename = f"<drawn {next(NUMBERS)}>"
    plain = outcomes.execute(text, filename)
    names = outcomes.execute(text, filename)
    ejected = outcomes.execute(api.convert_source(text, filename).text, "<ejected>")
    converted = api.to_graph(names["main"])
    for arguments in CALLS:
        wanted = outcome(plain, plain["main"], arguments)
        actual = outcome(names, converted, arguments)
        assert actual == wanted, f"main({arguments}), converted"
        assert actual[0].raised_at == wanted[0].raised_at, f"main({arguments}), converted"
        assert outcome(ejected, ejected["main"], arguments) == wanted, f"main({arguments}), ejected"
    del linecache.cache[filename]


@given(programs())
@drawn(150)
def test_drawn_programs_do_the_same(text: str) -> None:
    note(text.removeprefix(PRELUDE))
    compare(text)
