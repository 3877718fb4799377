"""`tf.Tensor`: an immutable array. Its value is a NumPy array, or a proxy in the graph that is being traced.

Ops unwrap tensors, call NumPy, which computes with arrays and records nodes for proxies, and wrap the result; see
`apply`. A tensor without dimensions holds a NumPy scalar, and `bytes` if its type is `tf.string`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import (
    InaccessibleTensorError,
    InvalidArgumentError,
    OperatorNotAllowedInGraphError,
    raised_by,
    reraise,
)
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.runtime.graph.effects import tame
from autograph.runtime.graph.graph import Value
from autograph.runtime.graph.types import NONE, ObjectType, TensorType, Type
from autograph.runtime.tracing.proxies.proxy import is_tensor as _is_proxy

is_proxy = _is_proxy  # whether the value of a tensor is known only when the graph runs


class Tensor:
    """An immutable array; see the documentation of the module. `math_ops` and `indexing` set the operators."""

    __slots__ = ("__weakref__", "_block", "_dtype", "_graph", "_name", "_shape", "_value", "is_range")
    __array_priority__ = 1000.0

    if TYPE_CHECKING:  # set by math_ops and indexing

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...

    def __init__(self, value: Any, dtype: DType, shape: TensorShape, graph: graphs.FuncGraph | None, name: str) -> None:
        self._value = value
        self._dtype = dtype
        self._shape = shape
        self._graph = graph
        self._block = graph.trace.block if graph is not None else None  # the block that defines it
        self._name = name
        self.is_range = False  # whether `tf.range` made it, in this graph

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    def get_shape(self) -> TensorShape:
        return self._shape

    def set_shape(self, shape: Any) -> None:
        self._shape = self._shape.merge_with(shape)

    @property
    def ndim(self) -> int | None:
        return self._shape.rank

    @property
    def name(self) -> str:
        if self._graph is None:
            raise AttributeError("Tensor.name is undefined when eager execution is enabled.")
        return f"{self._name}:0"

    @property
    def graph(self) -> graphs.FuncGraph:
        if self._graph is None:
            raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
        return self._graph

    @property
    def device(self) -> str:
        return "" if self._graph is not None else "/job:localhost/replica:0/task:0/device:CPU:0"

    def numpy(self) -> Any:
        """A copy of the value, an array or scalar of NumPy."""
        if self._graph is not None:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute 'numpy': {self!r} is known only when the graph runs"
            )
        return self._value.copy() if isinstance(self._value, np.ndarray) else self._value

    def ref(self) -> Reference:
        """A hashable reference to this tensor, for keys of dicts."""
        return Reference(self)

    def _refuse(self, use: str) -> NoReturn:
        raise OperatorNotAllowedInGraphError(
            f"{use} is not allowed: {self!r} is known only when the graph runs. AutoGraph converts functions that are "
            "decorated with @tf.function, if their source can be had, other than in exec(); elsewhere, use functions "
            "of TensorFlow such as tf.cond"
        )

    def __bool__(self) -> bool:
        if self._graph is not None:
            self._refuse("Using a symbolic `tf.Tensor` as a Python `bool`")
        return bool(self._value)

    def __index__(self) -> int:
        if not self._dtype.is_integer:
            raise TypeError(f"only integer scalar tensors can be converted to a scalar index, not {self!r}")
        return int(self._value_for("int"))

    def __int__(self) -> int:
        return int(self._value_for("int"))

    def __float__(self) -> float:
        return float(self._value_for("float"))

    def __complex__(self) -> complex:
        return complex(self._value_for("complex"))

    def _value_for(self, kind: str) -> Any:
        if self._graph is not None:
            raise TypeError(f"a symbolic tensor cannot become a Python {kind}: {self!r}")
        return self._value

    def __len__(self) -> int:
        if not self._shape.rank:
            raise TypeError("Scalar tensor has no `len()`")
        length = self._shape[0]
        if length is None:
            raise TypeError(f"len is not well defined for a symbolic Tensor ({self!r}). Use `tf.shape` instead")
        return int(length)

    def __iter__(self) -> Iterator[Tensor]:
        if self._shape.rank == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        if self._graph is not None and (self._shape.rank is None or self._shape[0] is None):
            self._refuse("Iterating over a symbolic `tf.Tensor`")
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self._graph is not None:
            raise NotImplementedError(f"Cannot convert a symbolic tf.Tensor ({self._name}:0) to a numpy array.")
        return np.asarray(self._value, dtype)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __repr__(self) -> str:
        if self._graph is not None:
            return f'<tf.Tensor "{self._name}:0" shape={self._shape} dtype={self._dtype.name}>'.replace('"', "'")
        text = repr(self._value) if isinstance(self._value, (np.ndarray, bytes)) else str(self._value)
        line = "\n" if "\n" in text else ""
        return f"<tf.Tensor: shape={self._shape}, dtype={self._dtype.name}, numpy={line}{text}>"

    def __str__(self) -> str:
        if self._graph is not None:
            return f'Tensor("{self._name}:0", shape={self._shape}, dtype={self._dtype.name})'
        text = str(self._value)
        line = "\n" if "\n" in text else ""
        return f"tf.Tensor({line}{text}, shape={self._shape}, dtype={self._dtype.name})"

    def __format__(self, spec: str) -> str:
        if self._graph is None and not self._shape.rank and spec:
            return format(self._value, spec)
        return format(str(self), spec)


class Reference:
    """A tensor or variable as a key of a dict."""

    __slots__ = ("_it",)

    def __init__(self, it: Any) -> None:
        self._it = it

    def deref(self) -> Any:
        return self._it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._it is self._it

    def __hash__(self) -> int:
        return id(self._it)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._it!r}>"


def in_scope(tensor: Tensor) -> Any:
    """The value of a tensor.

    Raises:
        InaccessibleTensorError: the function, branch or loop that made it has ended.
    """
    value = tensor._value
    if not is_proxy(value):
        return value
    graph = graphs.current()
    if graph is None or tensor._graph is not graph or not any(tensor._block is each for each in graph.trace.opened):
        raise InaccessibleTensorError(
            f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python locals or "
            "TensorFlow collections to access it. It was made in a function, branch or loop that has ended: what a "
            "loop collects belongs into a tf.TensorArray"
        )
    return value


def wrap(value: Any, dtype: DType | None = None, shape: TensorShape | None = None, name: str = "Const") -> Tensor:
    """Make a tensor of a result of NumPy.

    Args:
        dtype: of the tensor; by default that of the value.
        shape: the static shape, if it says more than the graph does.
    """
    graph = graphs.current()
    if not is_proxy(value):
        value = normal(value, dtype)
        dtype = dtype or as_dtype(value.dtype)
        shape = TensorShape(() if isinstance(value, bytes) or dtype is dtypes.variant else value.shape)
        return Tensor(value, dtype, shape, graph, graph.unique_name(name) if graph else name)
    assert graph is not None, "proxies are there only while tracing"
    inferred = value._ag_value.type
    if isinstance(inferred, TensorType) and dtype is not None and inferred.dtype != numpy_dtype(dtype):
        value = value.astype(numpy_dtype(dtype))
        inferred = value._ag_value.type
    if isinstance(inferred, TensorType) and inferred.exact and inferred.kind == "array" and not inferred.shape:
        value = value[()]
        inferred = value._ag_value.type
    if dtype is None:
        assert isinstance(inferred, TensorType), f"the type {inferred} is unknown"
        dtype = as_dtype(inferred.dtype)
    if shape is None:
        is_known = isinstance(inferred, TensorType) and (inferred.exact or inferred.shape)
        shape = TensorShape(inferred.shape if is_known else None)
    if not isinstance(inferred, TensorType) or not inferred.exact:
        _set_type(value._ag_value, type_of(dtype, shape))
    return Tensor(value, dtype, shape, graph, graph.unique_name(name))


def eager(value: Any, dtype: DType) -> Tensor:
    """Make an eager tensor of a value that a graph has computed."""
    value = normal(value, dtype)
    return Tensor(value, dtype, TensorShape(getattr(value, "shape", ())), None, "")


def normal(value: Any, dtype: DType | None) -> Any:
    """The array or scalar that a tensor holds for a value."""
    if isinstance(value, bytes) or dtype is dtypes.variant:
        return value
    kind = None if dtype is None else numpy_dtype(dtype)
    if isinstance(value, np.generic) and (kind is None or value.dtype == kind):
        return value
    array = np.asarray(value, kind)
    return array if array.ndim else array[()]


def type_of(dtype: DType, shape: TensorShape) -> Type:
    """The type that a graph has for the value of a tensor."""
    if dtype is dtypes.string and shape.rank == 0:
        return ObjectType("bytes")
    if dtype is dtypes.variant:
        return ObjectType("list")
    if shape.rank is None:
        return ObjectType()
    return TensorType(numpy_dtype(dtype), tuple(shape), "array" if shape.rank else "scalar")


def apply(op: str, function: Callable[..., Any], *tensors: Any, dtype: DType | None = None, **options: Any) -> Tensor:
    """Compute or record `function` of the values of tensors.

    Args:
        op: the name of the op in TensorFlow, for messages and names.
        function: of arrays, or of proxies in place of the tensors.
        dtype: of the result; by default that of the first tensor.
        options: further arguments of `wrap`.
    """
    dtype = dtype or tensors[0].dtype
    values = [in_scope(each) for each in tensors]
    options.setdefault("name", op)
    try:
        with np.errstate(all="ignore"):
            result = wrap(function(*values), dtype, **options)
    except (IndexError, ValueError, ZeroDivisionError) as error:
        if graphs.current() is not None and op in _BY_SHAPE:
            raise shape_error(op, str(raised_by(error))) from None
        reraise(error, op)
    if result._graph is not None and result._shape.rank is None and op in _BY_SHAPE:
        _check_shapes(op, function, tensors)
    if graphs.tapes() and result._graph is None:
        parts = function, dtype, options
        graphs.note(lambda *again: [apply(op, function, *again, dtype=dtype, **options)], tensors, [result], parts)
    return result


_BY_SHAPE = frozenset({  # the ops that fail by the shapes of their tensors, whatever their values are
    "All", "Any", "ConcatV2", "Einsum", "ExpandDims", "MatMul", "MatVec", "Max", "Mean", "Min", "Pack", "Prod",
    "SelectV2", "Squeeze", "Sum", "Tensordot", "Transpose",
})  # fmt: skip


def _check_shapes(op: str, function: Callable[..., Any], tensors: Any) -> None:
    """Check an op whose shape the graph cannot infer, with zeros of the shapes of its tensors, if these are known.

    Raises:
        ValueError: the shapes do not fit together.
    """
    shapes = [each.shape for each in tensors]
    if not all(shape.is_fully_defined() for shape in shapes):
        return
    zeros = [np.broadcast_to(np.zeros((), numpy_dtype(each.dtype)), tuple(each.shape)) for each in tensors]
    try:
        with np.errstate(all="ignore"):
            function(*zeros)
    except (IndexError, ValueError) as error:
        texts = ", ".join(str(shape.as_list()) for shape in shapes)
        raise ValueError(f"{raised_by(error)} for '{op}' with input shapes: {texts}.") from None


def shape_error(op: str, text: str) -> Exception:
    """The error for shapes that an op refuses: a ValueError in a graph, and an InvalidArgumentError elsewhere."""
    return InvalidArgumentError(f"{text} [Op:{op}]") if graphs.current() is None else ValueError(f"{text} for '{op}'")


def name_ops(module: dict[str, Any]) -> None:
    """Give each op of a module that a factory has made, a function `of`, the name of its variable."""
    for name, each in module.items():
        if getattr(each, "__name__", None) == "of":
            each.__name__ = each.__qualname__ = name


def compute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy function whose arguments may hold proxies where NumPy does not look for them, as in shapes."""
    if any(map(_holds_proxy, (*args, *kwargs.values()))):
        graph = graphs.recording()
        return graph.trace.record_function(function, args, kwargs)
    return function(*args, **kwargs)


def _holds_proxy(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_proxy, value))
    if isinstance(value, slice):
        return _holds_proxy((value.start, value.stop, value.step))
    return is_proxy(value)


def run_later(
    op: str, function: Callable[..., Any], *values: Any, dtype: DType, shape: Any, repeatable: bool = True
) -> Tensor:
    """Call `function` when the graph runs, or now if none is traced. Passes neither remove nor move the call.

    Args:
        repeatable: whether equal arguments give equal results.
    """
    graph = graphs.current()
    if graph is None:
        return wrap(function(*values), dtype, name=op)
    once = not graph.trace.depth
    if graph.replay is not None and not repeatable:
        if not once or not graph.replay.drawn:  # the first test of a loop is outside of it
            raise NotImplementedError(
                f"{op} in a branch or loop of a tf.function, whose gradient is asked for outside of it: put the "
                "GradientTape into the function, or draw the numbers before the branch or loop"
            )
        replayed: Tensor = graph.replay.drawn.pop(0)
        return replayed
    value = graph.trace.record("call", (tame(function), *without_gradient(values)))
    result = wrap(value, dtype, TensorShape(shape), op)
    if once and not repeatable:
        graph.draws.append(result)
    return result


def effect(function: Callable[..., None], *values: Any) -> None:
    """Call `function` for its side effects when the graph runs, or now if none is traced."""
    graph = graphs.current()
    if graph is None:
        function(*values)
    elif graph.replay is None:
        done = graph.trace.record("call", (tame(function), *without_gradient(values)))
        _set_type(done._ag_value, NONE)


def _set_type(value: Value, type: Type) -> None:
    """Set the type of a value that type inference has left open."""
    value.type = type
    if value.node is not None:
        value.node.effect = None  # it depends on the type


def without_gradient(values: Any) -> Any:
    """Make values, or lists of them, constants for gradients."""
    if isinstance(values, (list, tuple)):
        return type(values)([without_gradient(each) for each in values])
    graph = graphs.current()
    return graph.trace.record("stop_gradient", (values,)) if is_proxy(values) and graph is not None else values
