"""Programs over objects do the same plain and as machine code (law 1), as tests/test_everyday_fuzz.py compares them.

`make test` tries the same few every time, AUTOGRAPH_FUZZ=10000 so many new ones.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import given, note

from tests import object_strategies
from tests.drawing import drawn
from tests.object_strategies import programs
from tests.test_everyday_fuzz import MODES, Mode, compare

pytestmark = [pytest.mark.once, pytest.mark.skipif(find_spec("llvmlite") is None, reason="needs llvmlite")]


@given(programs(), MODES)
@drawn(40)
def test_programs(drawn_program: tuple[str, list[str]], mode: Mode) -> None:
    text, setups = drawn_program
    note(text.removeprefix(object_strategies.PRELUDE))
    compare(text, setups, mode)
