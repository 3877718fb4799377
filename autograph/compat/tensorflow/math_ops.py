"""Ops on elements, matrix products, and the operators of tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compat.tensorflow import dtypes, graphs
from autograph.compat.tensorflow.convert import convert_to_tensor, matched
from autograph.compat.tensorflow.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.errors import InvalidArgumentError
from autograph.compat.tensorflow.tensor import Tensor, apply, is_handle, run_later

Op = Callable[..., Tensor]


def _operands(op: str, x: Any, y: Any) -> list[Tensor]:
    """Two tensors of one type, of which a graph knows at once whether they can be broadcast."""
    tensors = matched(op, x, y)
    if graphs.current() is not None:
        dims, others = (reversed(each.shape.dims or []) for each in tensors)
        for a, b in zip(dims, others):
            if a is not None and b is not None and a != b and 1 not in (a, b):
                raise unequal(op, a, b, *(each.shape.dims for each in tensors))
    return tensors


def unequal(op: str, a: int, b: int, *shapes: Any) -> ValueError:
    """What a graph says of tensors whose shapes do not go together."""
    told = ", ".join(f"[{','.join('?' if size is None else str(size) for size in dims)}]" for dims in shapes)
    return ValueError(f"Dimensions must be equal, but are {a} and {b} for '{op}' with input shapes: {told}.")


def _binary(op: str, function: Callable[..., Any], boolean: bool = False) -> Op:
    def of(x: Any, y: Any, name: str | None = None) -> Tensor:
        x, y = _operands(op, x, y)
        return apply(op, function, x, y, dtype=dtypes.bool if boolean else x.dtype)

    of.__name__ = of.__qualname__ = op.lower()
    return of


add = _binary("AddV2", operator.add)
subtract = _binary("Sub", operator.sub)
multiply = _binary("Mul", operator.mul)
pow = _binary("Pow", operator.pow)
maximum = _binary("Maximum", np.maximum)
minimum = _binary("Minimum", np.minimum)
less = _binary("Less", operator.lt, boolean=True)
less_equal = _binary("LessEqual", operator.le, boolean=True)
greater = _binary("Greater", operator.gt, boolean=True)
greater_equal = _binary("GreaterEqual", operator.ge, boolean=True)
equal = _binary("Equal", operator.eq, boolean=True)
not_equal = _binary("NotEqual", operator.ne, boolean=True)
bitwise_and = _binary("BitwiseAnd", operator.and_)
bitwise_or = _binary("BitwiseOr", operator.or_)
bitwise_xor = _binary("BitwiseXor", operator.xor)
atan2 = _binary("Atan2", np.arctan2)
squared_difference = _binary("SquaredDifference", lambda x, y: (x - y) * (x - y))


def _division(op: str, function: Callable[..., Any]) -> Op:
    def of(x: Any, y: Any, name: str | None = None) -> Tensor:
        x, y = _operands(op, x, y)
        return apply(op, function, x, _divisor(y) if y.dtype.is_integer else y, dtype=x.dtype)

    of.__name__ = of.__qualname__ = op.lower()
    return of


def _divisor(y: Tensor) -> Tensor:
    """An integer to divide by, which is seen to be none of zero."""
    if not is_handle(y._value):
        _check_divisor(y._value)
        return y
    return run_later("Divisor", _check_divisor, y._value, dtype=y.dtype, shape=y.shape)


def _check_divisor(value: Any) -> Any:
    if not np.all(value):
        raise InvalidArgumentError("Integer division by zero")
    return value


floordiv = _division("FloorDiv", operator.floordiv)
floormod = mod = _division("FloorMod", operator.mod)


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    x, y = _operands("RealDiv", x, y)
    dtype = x.dtype if not x.dtype.is_integer else dtypes.float32 if x.dtype.size < 4 else dtypes.float64
    return apply("RealDiv", operator.truediv, x, y, dtype=dtype)


divide = truediv


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    x, y = matched("DivNoNan", x, y)
    return apply("DivNoNan", lambda a, b: np.where(b == 0, 0, a / np.where(b == 0, 1, b)), x, y, dtype=x.dtype)


def _logical(op: str, function: Callable[..., Any]) -> Op:
    def of(*values: Any, name: str | None = None) -> Tensor:
        tensors = [convert_to_tensor(value, dtypes.bool) for value in values]
        return apply(op, function, *tensors, dtype=dtypes.bool)

    of.__name__ = of.__qualname__ = op
    return of


logical_and = _logical("LogicalAnd", np.logical_and)
logical_or = _logical("LogicalOr", np.logical_or)
logical_xor = _logical("LogicalXor", np.logical_xor)
logical_not = _logical("LogicalNot", np.logical_not)


def _unary(op: str, function: Callable[..., Any], floating: bool = False, boolean: bool = False) -> Op:
    def of(x: Any, name: str | None = None) -> Tensor:
        x = convert_to_tensor(x)
        if floating and not (x.dtype.is_floating or x.dtype.is_complex):
            raise TypeError(
                f"Value passed to parameter 'x' has DataType {x.dtype.name} not in list of allowed values: "
                "bfloat16, float16, float32, float64, complex64, complex128"
            )
        return apply(op, function, x, dtype=dtypes.bool if boolean else x.dtype)

    of.__name__ = of.__qualname__ = op.lower()
    return of


abs = _unary("Abs", operator.abs)
negative = _unary("Neg", operator.neg)
square = _unary("Square", lambda x: x * x)
sign = _unary("Sign", np.sign)
invert = _unary("Invert", operator.invert)
floor = _unary("Floor", np.floor, floating=True)
ceil = _unary("Ceil", np.ceil, floating=True)
round = _unary("Round", np.round)
exp = _unary("Exp", np.exp, floating=True)
expm1 = _unary("Expm1", np.expm1, floating=True)
log = _unary("Log", np.log, floating=True)
log1p = _unary("Log1p", np.log1p, floating=True)
sqrt = _unary("Sqrt", np.sqrt, floating=True)
rsqrt = _unary("Rsqrt", lambda x: 1 / np.sqrt(x), floating=True)
sin = _unary("Sin", np.sin, floating=True)
cos = _unary("Cos", np.cos, floating=True)
tan = _unary("Tan", np.tan, floating=True)
asin = _unary("Asin", np.arcsin, floating=True)
acos = _unary("Acos", np.arccos, floating=True)
atan = _unary("Atan", np.arctan, floating=True)
sinh = _unary("Sinh", np.sinh, floating=True)
cosh = _unary("Cosh", np.cosh, floating=True)
tanh = _unary("Tanh", np.tanh, floating=True)
sigmoid = _unary("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), floating=True)
reciprocal = _unary("Reciprocal", lambda x: 1 / x, floating=True)
is_nan = _unary("IsNan", np.isnan, floating=True, boolean=True)
is_inf = _unary("IsInf", np.isinf, floating=True, boolean=True)
is_finite = _unary("IsFinite", np.isfinite, floating=True, boolean=True)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    first, *rest = matched("AddN", *inputs)
    return apply("AddN", lambda x, *more: sum(more, x), first, *rest, dtype=first.dtype)


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`x` as a tensor of another type."""
    wanted = as_dtype(dtype)
    tensor = convert_to_tensor(x)
    if tensor.dtype is wanted:
        return tensor
    return apply("Cast", lambda value: value.astype(numpy_dtype(wanted)), tensor, dtype=wanted)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    wanted = as_dtype(dtype)
    return cast(clip_by_value(value, wanted.min, wanted.max), wanted)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    t, low, high = matched("ClipByValue", t, clip_value_min, clip_value_max)
    return apply("ClipByValue", lambda x, a, b: np.minimum(np.maximum(x, a), b), t, low, high, dtype=t.dtype)


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None, **_: Any
) -> Tensor:
    """The product of two matrices, or of stacks of them."""
    a, b = matched("MatMul", a, b)
    for number, each in enumerate((a, b)):
        if each.shape.rank is not None and each.shape.rank < 2:
            ranks = f"In[{number}] ndims must be >= 2: {each.shape.rank} [Op:MatMul]"
            raise InvalidArgumentError(None, None, ranks)
    inner = [_dims(a, transpose_a), _dims(b, transpose_b)]
    if all(inner) and None not in (inner[0][-1], inner[1][-2]) and inner[0][-1] != inner[1][-2]:
        if graphs.current() is not None:
            raise unequal("MatMul", inner[0][-1] or 0, inner[1][-2] or 0, a.shape.dims, b.shape.dims)
        texts = [f"[{','.join(map(str, dims))}]" for dims in inner]
        message = f"Matrix size-incompatible: In[0]: {texts[0]}, In[1]: {texts[1]} [Op:MatMul]"
        raise InvalidArgumentError(None, None, message)
    return apply("MatMul", lambda x, y: _swapped(x, transpose_a) @ _swapped(y, transpose_b), a, b, dtype=a.dtype)


def _dims(tensor: Tensor, swapped: bool) -> list[int | None]:
    dims = tensor.shape.dims or []
    return [*dims[:-2], dims[-1], dims[-2]] if swapped else dims


def _swapped(value: Any, swap: bool) -> Any:
    return np.swapaxes(value, -1, -2) if swap else value


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    a, b = matched("Tensordot", a, b)
    return apply("Tensordot", lambda x, y: np.tensordot(x, y, axes), a, b, dtype=a.dtype)


def einsum(equation: str, *inputs: Any, **_: Any) -> Tensor:
    tensors = matched("Einsum", *inputs)
    return apply("Einsum", lambda *values: np.einsum(equation, *values), *tensors, dtype=tensors[0].dtype)


# The operators of tensors ---------------------------------------------------------------------------------------------


def _forward(op: Op) -> Callable[[Tensor, Any], Any]:
    return lambda self, other: op(self, other)


def _unary_method(op: Op) -> Callable[[Tensor], Any]:
    return lambda self, *_: op(self)


def _reflected(op: Op) -> Callable[[Tensor, Any], Any]:
    def reflected(self: Tensor, other: Any) -> Tensor:
        return op(convert_to_tensor(other, dtype_hint=self.dtype), self)

    return reflected


def _bits(logical: Op, bitwise: Op) -> Op:
    """`&`, `|` and `^`: of truths, or of the bits of integers."""

    def op(x: Any, y: Any) -> Tensor:
        x, y = matched("LogicalAnd", x, y)
        return logical(x, y) if x.dtype.is_bool else bitwise(x, y)

    return op


def _equality(op: Op, otherwise: bool) -> Callable[[Tensor, Any], Any]:
    """`==` and `!=`, which give a plain answer where there is nothing to compare."""

    def compare(self: Tensor, other: Any) -> Any:
        if other is None:
            return otherwise
        try:
            other = convert_to_tensor(other, dtype_hint=self.dtype)
        except (TypeError, ValueError):
            return otherwise
        return op(self, other) if _broadcasts(self, other) else otherwise

    return compare


def _broadcasts(x: Tensor, y: Tensor) -> bool:
    dims, others = reversed(x.shape.dims or []), reversed(y.shape.dims or [])
    return all(a is None or b is None or a == b or 1 in (a, b) for a, b in zip(dims, others))


_BINARY: dict[str, Op] = {
    "add": add, "sub": subtract, "mul": multiply, "truediv": truediv, "floordiv": floordiv, "mod": floormod,
    "pow": pow, "matmul": matmul, "and": _bits(logical_and, bitwise_and), "or": _bits(logical_or, bitwise_or),
    "xor": _bits(logical_xor, bitwise_xor),
}  # fmt: skip
for _name, _op in _BINARY.items():
    setattr(Tensor, f"__{_name}__", _forward(_op))
    setattr(Tensor, f"__r{_name}__", _reflected(_op))
for _name, _op in {"lt": less, "le": less_equal, "gt": greater, "ge": greater_equal}.items():
    setattr(Tensor, f"__{_name}__", _forward(_op))
Tensor.__eq__ = _equality(equal, False)  # type: ignore[assignment]
Tensor.__ne__ = _equality(not_equal, True)  # type: ignore[assignment]
for _name, _unary_op in {
    "neg": negative, "abs": abs, "invert": lambda x: logical_not(x) if x.dtype.is_bool else invert(x), "round": round,
}.items():  # fmt: skip
    setattr(Tensor, f"__{_name}__", _unary_method(_unary_op))
