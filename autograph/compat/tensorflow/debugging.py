"""`tf.debugging`: assertions about tensors."""

# ruff: noqa: F401  (names of TensorFlow's)

from __future__ import annotations

from typing import Any

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.ops import math_ops
from autograph.compat.tensorflow.staging.control import (
    Assert,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_none_equal,
    assert_positive,
)


def assert_negative(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> None:
    assert_less(x, 0, message or "Condition x < 0 did not hold.")


def assert_non_negative(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> None:
    assert_greater_equal(x, 0, message or "Condition x >= 0 did not hold.")


def assert_non_positive(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None) -> None:
    assert_less_equal(x, 0, message or "Condition x <= 0 did not hold.")


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: Any = None,
    name: str | None = None,
) -> None:
    """Check that numbers are almost equal."""
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, dtype_hint=x.dtype)
    epsilon = {"float16": 1e-2, "float32": 1.2e-6}.get(x.dtype.name, 2.3e-15)
    relative, absolute = (epsilon if each is None else each for each in (rtol, atol))
    far = math_ops.abs(y) * relative + absolute
    assert_less_equal(math_ops.abs(x - y), far, message or "x and y not equal to tolerance.")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Tensor:
    """Check that a tensor is neither infinite nor NaN anywhere, and return it."""
    tensor = convert_to_tensor(x)
    Assert(math_ops.is_finite(tensor), [f"{message} : Tensor had Inf or NaN values"])
    return tensor


check_numerics = assert_all_finite


def assert_rank(x: Any, rank: int, message: str | None = None, name: str | None = None) -> None:
    """Check that a tensor has that many dimensions."""
    shape = convert_to_tensor(x).shape
    if shape.rank is not None and shape.rank != rank:
        raise ValueError(f"{message or ''}Tensor {x} must have rank {rank}.  Received rank {shape.rank}, shape {shape}")


def assert_rank_at_least(x: Any, rank: int, message: str | None = None, name: str | None = None) -> None:
    """Check that a tensor has at least that many dimensions."""
    shape = convert_to_tensor(x).shape
    if shape.rank is not None and shape.rank < rank:
        raise ValueError(f"{message or ''}Tensor {x} must have rank at least {rank}.  Received rank {shape.rank}")


def assert_rank_in(x: Any, ranks: Any, message: str | None = None, name: str | None = None) -> None:
    """Check that the number of dimensions of a tensor is in `ranks`."""
    shape = convert_to_tensor(x).shape
    if shape.rank is not None and shape.rank not in ranks:
        raise ValueError(f"{message or ''}Tensor {x} must have rank in {tuple(ranks)}.  Received rank {shape.rank}")


def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> Tensor:
    """Check that a tensor has no dimensions, and return it."""
    operand = convert_to_tensor(tensor)
    if operand.shape.rank != 0:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {operand.shape}.")
    return operand


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Check the type of a tensor."""
    operand, dtype = convert_to_tensor(tensor), as_dtype(tf_type)
    if operand.dtype is not dtype:
        raise TypeError(f"{message or ''}tensor must be of type {dtype!r}; got {operand.dtype!r}")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Check that the elements of a tensor are integers."""
    operand = convert_to_tensor(x)
    if not operand.dtype.is_integer:
        raise TypeError(f'{message or ""}Expected "x" to be integer type.  Found: {operand.dtype!r}')


def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None,
                  name: str | None = None) -> None:  # fmt: skip
    """Check the shapes of tensors. Equal letters in the shapes require equal sizes."""
    sizes: dict[Any, Any] = {}
    for tensor, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        shape = convert_to_tensor(tensor).shape
        dims = [*wanted] if isinstance(wanted, (tuple, list, TensorShape, str)) else [wanted]
        if shape.rank is not None and shape.rank != len(dims):
            raise ValueError(f"{message or ''}Tensor {tensor} must have rank {len(dims)}.  Received rank {shape.rank}")
        for symbol, size in zip(dims, shape if shape.rank is not None else ()):
            if symbol in (None, ".") or size is None:
                continue
            is_letter = isinstance(symbol, str) and not symbol.isdigit()
            length = sizes.setdefault(symbol, size) if is_letter else int(symbol)
            if length != size:
                raise ValueError(f"{message or ''}Tensor {tensor} dimension must have size {length}.  Received {size}")


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Check that all tensors have one type of floats, and return the type."""
    kinds = [convert_to_tensor(each).dtype for each in tensors or ()] + ([as_dtype(dtype)] if dtype is not None else [])
    first = kinds[0] if kinds else dtypes.float32
    if any(each is not first for each in kinds) or not first.is_floating:
        raise ValueError(f"Expected floating point types that are all the same, got {kinds}")
    return first


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether an object is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype in dtypes.NUMBERS
