"""The suite on the backend of examples/lockstep.py: numbers in lockstep with others.

The first of three elements is compared with the plain function; the second one is another number, so that elements
disagree on conditions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from autograph.errors import StagingError
from autograph.testing import backend_suite

sys.path.append(str(Path(__file__).parent.parent.parent / "examples"))
from lockstep import lockstep  # noqa: E402

NO_RANGE = StagingError, r"lockstep does not stage range\(\)"
NO_PRINT = StagingError, r"lockstep does not stage print\(\)"
NO_ASSERT = StagingError, "lockstep does not stage `assert`"
NO_IN = StagingError, "lockstep does not stage `in`"
NO_TEXT = StagingError, "lockstep does not stage what needs one number"
REFUSES = {
    "logical.among_constants": NO_IN,
    "logical.not_among_constants": NO_IN,
    "matches.sequences": NO_TEXT,
    "for_loops.over_a_range": NO_RANGE,
    "for_loops.range_with_a_step": NO_RANGE,
    "for_loops.range_backwards": NO_RANGE,
    "for_loops.over_a_reversed_range": NO_RANGE,
    "for_loops.triangle": NO_RANGE,
    "jumps.break_and_continue": NO_RANGE,
    "jumps.break_from_the_inner_loop": NO_RANGE,
    "comprehensions.sum_over_a_range": NO_RANGE,
    "containers.dict_items_in_a_loop": NO_RANGE,
    "containers.nested_containers": NO_TEXT,
    "containers.named_tuples": NO_RANGE,
    "callees.called_in_a_loop": NO_RANGE,
    "callees.closure_with_nonlocal": NO_RANGE,
    "output.printed": NO_PRINT,
    "output.printed_in_a_branch": NO_PRINT,
    "output.printed_in_a_loop": NO_PRINT,
    "output.f_string": NO_TEXT,
    "output.f_string_with_format": NO_TEXT,
    "output.percent": NO_TEXT,
    "output.asserts": NO_ASSERT,
    "output.asserts_in_a_branch": NO_ASSERT,
    "output.raises_with_the_value": NO_TEXT,
    "unbound.target_of_a_loop": NO_RANGE,
    "unbound.bound_in_a_loop": (StagingError, "unbound for some elements"),
}
# One element's integer becomes a float with the other's; one element's index is not in the array.
CONCERN_OTHERS = {"while_loops.integer_becomes_float", "stores.into_a_new_array"}

SUITE = backend_suite(
    lambda function, *arguments: lockstep(function)(*arguments),
    stage=lambda number: np.array([number, number + 1, number]),
    unstage=lambda result: result[0] if isinstance(result, np.ndarray) else result,
    refuses=REFUSES,
    only=lambda entry: not entry.takes_arrays and entry.name not in CONCERN_OTHERS,
)


@SUITE.parametrize
def test_lockstep(name: str) -> None:
    SUITE.check(name)
