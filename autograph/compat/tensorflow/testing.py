"""`tf.test`: test cases."""

from __future__ import annotations

import contextlib
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import is_tensor


def evaluate(value: Any) -> Any:
    """Replace the tensors of a structure by NumPy values."""
    return pytree.map(lambda leaf: leaf.numpy() if is_tensor(leaf) else leaf, value)


class TestCase(unittest.TestCase):
    """A test case that compares tensors."""

    def evaluate(self, tensors: Any) -> Any:
        return evaluate(tensors)

    def get_temp_dir(self) -> str:
        return tempfile.mkdtemp()

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        np.testing.assert_array_equal(evaluate(a), evaluate(b), err_msg=msg or "")

    def assertAllClose(self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None) -> None:
        for left, right in zip(pytree.flatten(evaluate(a)), pytree.flatten(evaluate(b)), strict=True):
            np.testing.assert_allclose(left, right, rtol=rtol, atol=atol, err_msg=msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        self.assertFalse(np.array_equal(evaluate(a), evaluate(b)), msg)

    def assertNotAllClose(self, a: Any, b: Any, **options: Any) -> None:
        self.assertFalse(np.allclose(evaluate(a), evaluate(b), **options))

    def assertShapeEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        self.assertEqual(tuple(first.shape), tuple(second.shape), msg)

    def assertEmpty(self, container: Any, msg: Any = None) -> None:
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container: Any, msg: Any = None) -> None:
        self.assertNotEqual(len(container), 0, msg)

    def assertLen(self, container: Any, expected: int, msg: Any = None) -> None:
        self.assertEqual(len(container), expected, msg)

    @contextlib.contextmanager
    def cached_session(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
        yield self

    session = cached_session


def main(*args: Any, **kwargs: Any) -> None:
    """Run the tests of the module that is run."""
    unittest.main(*args, **kwargs)
