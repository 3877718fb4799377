"""Which nodes neither raise nor warn."""

import numpy as np
import pytest

from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.types import TensorType
from autograph.runtime.passes.speculatable import is_quiet

IMAGE = Value(TensorType(np.dtype(float), (None, 4, 3)), None, "image")


@pytest.mark.parametrize(
    "index, quiet",
    [
        ((..., 0), True),
        ((..., 3), False),
        ((..., -4, 0), True),
        ((..., 0, 1, 0), False),
        ((slice(None), ...), True),
        ((slice(None), 3, ..., 2), True),
        ((slice(None), 4, ...), False),
        ((None, ..., None, 2), True),
        (..., True),
        ((..., ...), False),
        ((0, 0, 0, ...), False),
        ((slice(None),) * 4, False),
        ((*(slice(None),) * 4, ...), False),
    ],
)
def test_parts_of_an_array(index, quiet):
    assert is_quiet(Node("getitem", (IMAGE, index))) == quiet
