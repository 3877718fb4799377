"""`tf.Variable`: a mutable tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import DType, as_dtype
from autograph.compat.tensorflow.core.graphs import prefixed
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Reference, Tensor, effect, is_proxy, wrap
from autograph.compat.tensorflow.ops import math_ops
from autograph.runtime.graph.effects import tame


class Storage:
    """Holds the value of a variable."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@kernel
def read(storage: Storage) -> Any:
    """Read the current value of a variable."""
    return storage.value


tame(read)


@kernel
def write(storage: Storage, value: Any) -> None:
    """Set the value of a variable."""
    if type(storage) is not Storage:
        raise TypeError(f"only variables can be assigned to, not {storage!r}")
    storage.value = value


class Variable:
    """A mutable tensor of fixed type and shape. Staged functions read it when their graphs run."""

    __slots__ = ("__weakref__", "_dtype", "_name", "_shape", "_storage", "trainable")
    __array_priority__ = 1000.0

    def __init__(
        self, initial_value: Any = None, trainable: bool = True, validate_shape: bool = True, name: str | None = None,
        dtype: Any = None, shape: Any = None, **_: Any,
    ) -> None:
        graph = graphs.current()
        if graph is not None:
            graph.check_variables()
        value = initial_value() if callable(initial_value) else initial_value
        if hasattr(value, "_as_tensor"):
            value = value._as_tensor()
        if isinstance(value, Tensor) and dtype is not None and value.dtype is not as_dtype(dtype):
            value = math_ops.cast(value, dtype)
        tensor = convert_to_tensor(value, dtype)
        if is_proxy(tensor._value):
            raise ValueError(
                "Tensor-typed variable initializers must either be wrapped in an init_scope or callable: the initial "
                "value of a variable made in a tf.function must not depend on its arguments"
            )
        self._dtype = tensor.dtype
        self._shape = tensor.shape if shape is None else TensorShape(shape)
        self._name = prefixed(name or "Variable")
        self._storage = Storage(tensor._value)
        self.trainable = trainable
        if graph is not None:
            graph.variables.append(self)

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def name(self) -> str:
        return f"{self._name}:0"

    @property
    def handle(self) -> Variable:
        return self

    def ref(self) -> Reference:
        return Reference(self)

    def _as_tensor(self) -> Tensor:
        graph = graphs.current()
        if graph is None:
            value = self._storage.value
            result = Tensor(value, self._dtype, TensorShape(getattr(value, "shape", ())), None, self._name)
            for tape in graphs.tapes():
                tape.note_read(self, result)
            return result
        graph.accessed[id(self)] = self
        value_in_graph: Tensor | None = None if graph.replay is None else graph.replay.reads.get(id(self))
        for tape in graphs.tapes():
            value_in_graph = tape.read(self, value_in_graph)
        if value_in_graph is not None:
            return value_in_graph
        return wrap(graph.trace.record("call", (read, self._storage)), self._dtype, self._shape, "ReadVariableOp")

    def read_value(self) -> Tensor:
        return self._as_tensor()

    value = read_value

    def numpy(self) -> Any:
        if graphs.current() is not None:
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return self._as_tensor().numpy()

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        tensor = convert_to_tensor(value, dtype_hint=self._dtype)
        if tensor.dtype is not self._dtype:
            tensor = convert_to_tensor(value, self._dtype)
        if not tensor.shape.is_compatible_with(self._shape):
            raise ValueError(
                f"Cannot assign value to variable '{self.name}': Shape mismatch. The variable shape {self._shape}, and "
                f"the assigned value shape {tensor.shape} are incompatible."
            )
        with self._changing(tensor):
            effect(write, self._storage, tensor._value)
        return self

    @contextmanager
    def _changing(self, value: Tensor | None = None) -> Iterator[None]:
        """A context in which the variable is assigned to; notifies tapes, and gives a replay the new value."""
        graph = graphs.current()
        tapes = [] if graph is None else list(graph.tapes)
        for tape in tapes:
            tape.check_assignment(self)
        if graph is not None and graph.replay is not None and id(self) in graph.replay.reads:
            if graph.trace.depth or value is None:
                raise NotImplementedError(
                    f"the variable '{self.name}' is assigned to in a branch or loop of a tf.function, whose gradient "
                    "is asked for outside of it: put the GradientTape into the function"
                )
            graph.replay.reads[id(self)] = value
        yield
        for tape in tapes:
            tape.note_assignment(self)

    def assign_add(self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Any:
        return self.assign(self._as_tensor() + convert_to_tensor(delta, dtype_hint=self._dtype))

    def assign_sub(self, delta: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Any:
        return self.assign(self._as_tensor() - convert_to_tensor(delta, dtype_hint=self._dtype))

    def __hash__(self) -> int:
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key.")

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: Any) -> Variable:
        return Variable(self._as_tensor(), self.trainable, name=self._name)

    def __repr__(self) -> str:
        start = f"<tf.Variable '{self.name}' shape={self._shape} dtype={self._dtype.name}"
        if graphs.current() is not None:
            return f"{start}>"
        value = self._storage.value
        text = repr(value) if getattr(value, "ndim", 0) or isinstance(value, bytes) else str(value)
        line = "\n" if "\n" in text else ""
        return f"{start}, numpy={line}{text}>"


def _delegate(name: str) -> Callable[..., Any]:
    return lambda self, *args, **kwargs: getattr(self._as_tensor(), name)(*args, **kwargs)


for _name in "add sub mul truediv floordiv mod pow matmul and or xor".split():
    setattr(Variable, f"__{_name}__", _delegate(f"__{_name}__"))
    setattr(Variable, f"__r{_name}__", _delegate(f"__r{_name}__"))
for _name in "lt le gt ge eq ne neg abs invert bool int float index getitem iter len array".split():
    setattr(Variable, f"__{_name}__", _delegate(f"__{_name}__"))


def singleton_error() -> ValueError:
    """The error for a variable that a staged function makes after its first call."""
    return ValueError(
        "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only "
        "created once or created outside tf.function."
    )

