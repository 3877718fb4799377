"""The examples in docstrings of `nn` give what they say."""

from __future__ import annotations

import string

import numpy as np
import pytest

from autograph import nn

pytestmark = pytest.mark.once

PUBLIC = [getattr(nn, name) for name in nn.__all__]
EXAMPLES = {
    thing.__name__: lines
    for thing in PUBLIC
    if (lines := [line.strip() for line in thing.__doc__.split("\n    Args:")[0].splitlines() if line[:8].isspace()])
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    """A comment that begins with a number or a structure is the value of its line."""
    names = {"np": np, "nn": nn}
    for line in EXAMPLES[name]:
        code, _, comment = line.partition("#")
        told = comment.partition(";")[0].strip()
        if told[:1] in ("(", "[", *string.digits):
            assert np.allclose(eval(code, names), eval(told, names), atol=1e-3), line
        else:
            exec(line, names)


def test_layers_have_examples():
    layers = {thing.__name__ for thing in PUBLIC if isinstance(thing, type)}
    assert {name for name in layers if not name.endswith("Cell")} <= EXAMPLES.keys()
