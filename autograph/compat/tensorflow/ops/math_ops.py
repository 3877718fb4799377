"""Ops on elements, matrix products, and the operators of tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import blas, dtypes, graphs
from autograph.compat.tensorflow.core.convert import (
    allow,
    apply_op,
    convert_to_tensor,
    matched,
    operand,
    strictly,
    with_dtype,
)
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError, UnimplementedError
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, apply, is_proxy, name_ops, run_later, shape_error
from autograph.compat.tensorflow.ops import products

__all__ = [  # the names of `tf` itself
    "abs", "acos", "acosh", "add", "add_n", "asin", "asinh", "atan", "atan2", "atanh", "cast", "ceil",
    "clip_by_value", "cos", "cosh", "divide", "divide_no_nan", "einsum", "equal", "exp", "expm1", "floor",
    "floordiv", "floormod", "greater", "greater_equal", "invert", "is_finite", "is_inf", "is_nan", "less",
    "less_equal", "log", "log1p", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "maximum",
    "minimum", "mod", "multiply", "negative", "not_equal", "pow", "realdiv", "reciprocal", "round", "rsqrt",
    "saturate_cast", "scalar_mul", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "squared_difference",
    "subtract", "tan", "tanh", "tensordot", "truediv", "truncatediv", "truncatemod",
]  # fmt: skip

Op = Callable[..., Tensor]


def _operands(op: str, x: Any, y: Any, kinds: str = "iufc") -> list[Tensor]:
    """Convert two operands to tensors of one type; in a graph, also check that they can be broadcast."""
    if kinds == "b":
        return [operand(op, each, kinds) for each in (x, y)]
    if op == "AddV2":  # TensorFlow does not check Python values here
        x = convert_to_tensor(x, dtype_hint=y.dtype if isinstance(y, Tensor) else None)
        y = convert_to_tensor(y, dtype_hint=x.dtype)
    tensors = matched(op, x, y, promote=False)
    allow(op, tensors[0], kinds)
    if graphs.current() is not None and (sizes := _mismatch(*tensors)):
        raise unequal(op, *sizes, *(each.shape.dims for each in tensors))
    return tensors


def _mismatch(x: Tensor, y: Tensor) -> tuple[int, int] | None:
    """The sizes of the last dimension in which two tensors cannot be broadcast."""
    dims, others = reversed(x.shape.dims or []), reversed(y.shape.dims or [])
    known = ((a, b) for a, b in zip(dims, others) if a is not None and b is not None)
    return next(((a, b) for a, b in known if a != b and 1 not in (a, b)), None)


def unequal(op: str, a: int, b: int, *shapes: Any) -> ValueError:
    """The error of a graph for tensors that cannot be broadcast."""
    texts = ", ".join(f"[{','.join('?' if size is None else str(size) for size in dims)}]" for dims in shapes)
    return ValueError(f"Dimensions must be equal, but are {a} and {b} for '{op}' with input shapes: {texts}.")


ANY = "biufcO"


def unary(op: str, function: Callable[..., Any], kinds: str = "fc", dtype: DType | None = None) -> Op:
    """An op on the elements of a tensor.

    Args:
        kinds: the letters of NumPy for the types that it takes.
        dtype: of the result; by default that of the operand.
    """

    def of(x: Any, name: str | None = None) -> Tensor:
        return apply(op, function, operand(op, x, kinds), dtype=dtype)

    of.__doc__ = f"The op {op} of each element."
    return of


def binary(
    op: str, function: Callable[..., Any], kinds: str = "iufc", dtype: DType | None = None,
    operands: Callable[..., Any] = _operands,
) -> Op:
    """An op on the elements of two tensors.

    Args:
        operands: converts and checks the operands.
    """

    def of(x: Any, y: Any, name: str | None = None) -> Tensor:
        return apply(op, function, *operands(op, x, y, kinds), dtype=dtype)

    of.__doc__ = f"The op {op} of the elements of two tensors, which are broadcast."
    return of


add = binary("AddV2", operator.add, "iufcO")
subtract = binary("Sub", operator.sub)
multiply = binary("Mul", operator.mul)
pow = binary("Pow", operator.pow, "ifc")
maximum = binary("Maximum", np.maximum, "iuf")
minimum = binary("Minimum", np.minimum, "iuf")
less = binary("Less", operator.lt, "iuf", dtypes.bool)
less_equal = binary("LessEqual", operator.le, "iuf", dtypes.bool)
greater = binary("Greater", operator.gt, "iuf", dtypes.bool)
greater_equal = binary("GreaterEqual", operator.ge, "iuf", dtypes.bool)
equal = binary("Equal", operator.eq, ANY, dtypes.bool)
not_equal = binary("NotEqual", operator.ne, ANY, dtypes.bool)
bitwise_and = binary("BitwiseAnd", operator.and_, "iu")
bitwise_or = binary("BitwiseOr", operator.or_, "iu")
bitwise_xor = binary("BitwiseXor", operator.xor, "iu")
left_shift = binary("LeftShift", operator.lshift, "iu")
right_shift = binary("RightShift", operator.rshift, "iu")
atan2 = binary("Atan2", np.arctan2, "f")
squared_difference = binary("SquaredDifference", lambda x, y: (x - y) * (x - y))


def _dividends(op: str, x: Any, y: Any, kinds: str) -> tuple[Tensor, Tensor]:
    x, y = _operands(op, x, y, kinds)
    return x, _divisor(y) if y.dtype.is_integer else y


def _divisor(y: Tensor) -> Tensor:
    """Return a divisor of integers, or raise an error, perhaps when the graph runs, if it contains zero."""
    if not is_proxy(y._value):
        _check_divisor(y._value)
        return y
    return run_later("Divisor", _check_divisor, y._value, dtype=y.dtype, shape=y.shape)


@kernel
def _check_divisor(value: Any) -> Any:
    if not np.all(value):
        raise InvalidArgumentError("Integer division by zero")
    return value


floordiv = binary("FloorDiv", operator.floordiv, "iuf", operands=_dividends)
floormod = mod = binary("FloorMod", operator.mod, "iuf", operands=_dividends)
truncatediv = binary(
    "TruncateDiv", lambda x, y: np.where((x < 0) == (y < 0), x // y, -(-x // y)), "iuf", operands=_dividends
)
truncatemod = binary("TruncateMod", np.fmod, "iuf", operands=_dividends)


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    x, y = _quotients(x, y)
    dtype = x.dtype if not x.dtype.is_integer else dtypes.float32 if x.dtype.size < 4 else dtypes.float64
    return apply("RealDiv", operator.truediv, x, y, dtype=dtype)


def _quotients(x: Any, y: Any) -> list[Tensor]:
    """Convert two operands of a division to tensors of one type.

    Raises:
        TypeError: their types differ, or they are no numbers.
    """
    hint = next((each.dtype for each in (x, y) if isinstance(each, Tensor)), None)
    first = strictly(x, hint)
    second = strictly(y, hint or first.dtype)
    if first.dtype is not second.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {first.dtype!r} != {second.dtype!r}.")
    if numpy_dtype(first.dtype).kind not in "iufc":
        raise TypeError(f"Invalid dtype {first.dtype!r} in __truediv__. Expected one of numbers.")
    return _operands("RealDiv", first, second)


divide = realdiv = truediv


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    x, y = matched("DivNoNan", x, y, promote=False)
    if x.dtype.is_integer:
        x, y = cast(x, dtypes.float64), cast(y, dtypes.float64)
    return apply("DivNoNan", lambda a, b: np.where(b == 0, 0, a / np.where(b == 0, 1, b)), x, y)


logical_and = binary("LogicalAnd", np.logical_and, "b")
logical_or = binary("LogicalOr", np.logical_or, "b")
logical_xor = binary("LogicalXor", np.logical_xor, "b")
logical_not = unary("LogicalNot", np.logical_not, "b")

_abs = unary("Abs", operator.abs, "if")
negative = unary("Neg", operator.neg, "ifc")
square = unary("Square", lambda x: x * x, "iufc")
sign = unary("Sign", np.sign, "ifc")
invert = unary("Invert", operator.invert, "iu")
floor = unary("Floor", np.floor, "f")
ceil = unary("Ceil", np.ceil, "f")
round = unary("Round", np.round, "iufc")
exp = unary("Exp", np.exp)
expm1 = unary("Expm1", np.expm1)
log = unary("Log", np.log)
log1p = unary("Log1p", np.log1p)
sqrt = unary("Sqrt", np.sqrt)
rsqrt = unary("Rsqrt", lambda x: 1 / np.sqrt(x))
sin = unary("Sin", np.sin)
cos = unary("Cos", np.cos)
tan = unary("Tan", np.tan)
asin = unary("Asin", np.arcsin)
acos = unary("Acos", np.arccos)
atan = unary("Atan", np.arctan)
sinh = unary("Sinh", np.sinh)
cosh = unary("Cosh", np.cosh)
tanh = unary("Tanh", np.tanh)
asinh = unary("Asinh", np.arcsinh)
acosh = unary("Acosh", np.arccosh)
atanh = unary("Atanh", np.arctanh)
sigmoid = unary("Sigmoid", lambda x: 1 / (1 + np.exp(-x)))
reciprocal = unary("Reciprocal", lambda x: 1 / x)
is_nan = unary("IsNan", np.isnan, "f", dtypes.bool)
is_inf = unary("IsInf", np.isinf, "f", dtypes.bool)
is_finite = unary("IsFinite", np.isfinite, "f", dtypes.bool)


def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value of each element."""
    x = convert_to_tensor(x)
    if not x.dtype.is_complex:
        return _abs(x)
    return apply("ComplexAbs", np.abs, x, dtype=_part_of(x.dtype))


def _part_of(dtype: Any) -> Any:
    """The type of the parts of complex numbers."""
    return dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64 if dtype.is_complex else dtype


def _part(op: str, function: Callable[..., Any]) -> Op:
    def of(input: Any, name: str | None = None) -> Tensor:
        x = operand(op, input, "fc")
        return apply(op, function, x, dtype=_part_of(x.dtype))

    return of


real = _part("Real", np.real)
imag = _part("Imag", np.imag)
angle = _part("Angle", np.angle)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate of each element."""
    x = convert_to_tensor(x)
    return apply("Conj", np.conj, x) if x.dtype.is_complex else x


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Tensor:
    """Multiply a tensor by a number."""
    x = convert_to_tensor(x)
    scalar = convert_to_tensor(scalar, dtype_hint=x.dtype)
    if scalar.shape.rank not in (0, None):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    return multiply(scalar, x)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    return apply_op("AddN", lambda x, *more: sum(more, x), *inputs)


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """Convert the elements of `x` to another type."""
    wanted = as_dtype(dtype)
    tensor = convert_to_tensor(x)
    if tensor.dtype is wanted:
        return tensor
    if dtypes.string in (tensor.dtype, wanted):
        raise UnimplementedError(f"Cast {tensor.dtype.kernel_name} to {wanted.kernel_name} is not supported [Op:Cast]")
    if tensor.dtype.is_complex and not wanted.is_complex:
        tensor = real(tensor)
    return with_dtype(tensor, wanted)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    wanted = as_dtype(dtype)
    return cast(clip_by_value(value, wanted.min, wanted.max), wanted)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    t = convert_to_tensor(t)
    bounds = clip_value_min, clip_value_max
    return apply_op("ClipByValue", lambda x, a, b: np.minimum(np.maximum(x, a), b), t, *bounds, promote=False)


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: Any = None,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of stacks of them."""
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("Only one of `transpose` and `adjoint` can be True.")
    a, b = matched("MatMul", a, b, promote=False)
    a, b = conj(a) if adjoint_a else a, conj(b) if adjoint_b else b
    transpose_a, transpose_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    for number, each in enumerate((a, b)):
        if each.shape.rank is not None and each.shape.rank < 2:
            raise shape_error("MatMul", f"In[{number}] ndims must be >= 2: {each.shape.rank}")
    inner = [_dims(a, transpose_a), _dims(b, transpose_b)]
    if all(inner) and None not in (inner[0][-1], inner[1][-2]) and inner[0][-1] != inner[1][-2]:
        if graphs.current() is not None:
            raise unequal("MatMul", inner[0][-1] or 0, inner[1][-2] or 0, a.shape.dims, b.shape.dims)
        texts = [f"[{','.join(map(str, dims))}]" for dims in inner]
        message = f"Matrix size-incompatible: In[0]: {texts[0]}, In[1]: {texts[1]} [Op:MatMul]"
        raise InvalidArgumentError(None, None, message)
    if a.dtype.is_integer and all(inner) and inner[0][:-2] == inner[1][:-2]:
        shape = TensorShape([*inner[0][:-1], inner[1][-1]])
        swapped = [_swapped(each._value, swap) for each, swap in ((a, transpose_a), (b, transpose_b))]
        return run_later("MatMul", products.integer_product, *swapped, dtype=a.dtype, shape=shape)
    with _threads(inner):
        product = apply("MatMul", lambda x, y: _swapped(x, transpose_a) @ _swapped(y, transpose_b), a, b)
    return product if output_type is None else cast(product, output_type)


def _threads(inner: list[list[int | None]]) -> Any:
    """The context for a product of such shapes."""
    if graphs.current() is not None or not all(inner):
        return blas.AS_SET
    return blas.context_for(math.prod(inner[0]) * (inner[1][-1] or 0))  # type: ignore[arg-type]


def _dims(tensor: Tensor, swapped: bool) -> list[int | None]:
    dims = tensor.shape.dims or []
    return [*dims[:-2], dims[-1], dims[-2]] if swapped else dims


def _swapped(value: Any, swap: bool) -> Any:
    return np.swapaxes(value, -1, -2) if swap else value


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    return apply_op("Tensordot", lambda x, y: np.tensordot(x, y, axes), a, b)


def einsum(equation: str, *inputs: Any, **_: Any) -> Tensor:
    tensors = matched("Einsum", *inputs) if len(inputs) > 1 else [convert_to_tensor(inputs[0])]
    shapes = [tuple(size or 0 for size in each.shape) for each in tensors if each.shape.is_fully_defined()]

    def contracted(*values: Any) -> Any:
        found = products.contraction(equation, *values, shapes) if len(values) == len(shapes) == 2 else None
        return np.einsum(equation, *values) if found is None else found

    return apply("Einsum", contracted, *tensors)


# The operators of tensors ---------------------------------------------------------------------------------------------


def _reflected(op: Op) -> Callable[[Tensor, Any], Any]:
    def reflected(self: Tensor, other: Any) -> Tensor:
        return op(strictly(other, self.dtype), self)

    return reflected


def _bits(logical: Op, bitwise: Op) -> Op:
    """`&`, `|` and `^`: logical for bools, bitwise for integers."""

    def op(x: Any, y: Any) -> Tensor:
        x, y = matched("LogicalAnd", x, y)
        return logical(x, y) if x.dtype.is_bool else bitwise(x, y)

    return op


def _equality(op: Op, otherwise: bool) -> Callable[[Tensor, Any], Any]:
    """`==` and `!=`: if the operands cannot be compared, the result is a constant."""

    def compare(self: Tensor, other: Any) -> Any:
        if other is None:
            return otherwise
        other = strictly(other, self.dtype)
        return convert_to_tensor(otherwise) if _mismatch(self, other) else op(self, other)

    return compare


def _times(x: Any, y: Any) -> Tensor:
    """`*`, which is `and` for bools."""
    return (logical_and if x.dtype.is_bool and getattr(y, "dtype", x.dtype).is_bool else multiply)(x, y)


_BINARY: dict[str, Op] = {
    "add": add, "sub": subtract, "mul": _times, "truediv": truediv, "floordiv": floordiv, "mod": floormod,
    "pow": pow, "matmul": matmul, "and": _bits(logical_and, bitwise_and), "or": _bits(logical_or, bitwise_or),
    "xor": _bits(logical_xor, bitwise_xor),
}  # fmt: skip
for _name, _op in _BINARY.items():
    setattr(Tensor, f"__{_name}__", _op)
    setattr(Tensor, f"__r{_name}__", _reflected(_op))
Tensor.__eq__ = _equality(equal, False)  # type: ignore[assignment]
Tensor.__ne__ = _equality(not_equal, True)  # type: ignore[assignment]
_OTHERS: dict[str, Op] = {
    "__lt__": less, "__le__": less_equal, "__gt__": greater, "__ge__": greater_equal, "__neg__": negative,
    "__abs__": abs, "__round__": round, "__invert__": lambda x: logical_not(x) if x.dtype.is_bool else invert(x),
}  # fmt: skip
for _name, _op in _OTHERS.items():
    setattr(Tensor, _name, _op)
name_ops(globals())
