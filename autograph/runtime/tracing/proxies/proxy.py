"""The proxy (tracer) of a value while a function is traced.

It looks like the number, array or other object that it represents, and records operations on it as nodes of the graph.
It is a reference, as in Python: two names for one proxy are two names for one array, and `x[0] = 1` is recorded as a
write to the array.

An object whose class has `__array_ufunc__` or `__array_function__` decides itself how NumPy treats it; NumPy makes an
array of one that has `__array__` only. So does a trace, and it traces these methods.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from inspect import CO_GENERATOR
from types import FrameType, FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np

from autograph.common.bytecode import (
    SPREADING,
    instruction,
    is_comparison,
    is_inplace,
    is_operation,
)
from autograph.common.packages import names_variables
from autograph.common.pytree import flatten
from autograph.common.statics import class_attribute, class_has, module_of
from autograph.common.trace_rules import is_own, on_behalf
from autograph.runtime.graph.callables import full_name_of
from autograph.runtime.graph.graph import Value
from autograph.runtime.graph.object_model import is_changeable, is_users
from autograph.runtime.graph.opdef import OPS, lookup, op_of
from autograph.runtime.graph.traits import AS_OPERATOR, AS_UFUNC, IN_PLACE, MIRRORED, ORDERING, PARTIAL, plain
from autograph.runtime.graph.types import ObjectType, TensorType, length_of
from autograph.runtime.graph_text import notation
from autograph.runtime.ops.python.operators import BINARY, COMPARISONS, UNARY
from autograph.runtime.tracing.proxies.context import Recorder
from autograph.runtime.tracing.proxies.stand_in import StandInMeta
from autograph.runtime.tracing.proxies.static_class import (
    ANSWERED,
    KNOWN_ATTRIBUTES,
    NAMES,
    class_of,
    has_attribute,
    is_method,
    sample_of,
)


class Tensor(metaclass=StandInMeta):
    """A proxy for a value of the graph that is being traced. Tracing makes them, users do not.

    Functions of NumPy, operators, methods and indexing work on it as on the array or number that it represents. Where
    Python needs the value itself, the trace makes an argument static, runs the function as plain Python, or raises an
    error.

    Args:
        value: the value of the graph.
        trace: the trace.

    Example:
        >>> @ag.function
        ... def f(x):
        ...     print(type(x).__name__)     # as the user sees it
        ...     return x + 1
        >>> f(1.0)
        float
        2.0
    """

    _ag_about = __doc__
    __slots__ = ("__weakref__", "_ag_trace", "_ag_value")
    __array_priority__ = 1000.0

    _ag_trace: Recorder
    _ag_value: Value

    def __init__(self, value: Value, trace: Recorder) -> None:
        object.__setattr__(self, "_ag_value", value)
        object.__setattr__(self, "_ag_trace", trace)

    def __repr__(self) -> str:
        if not self._ag_trace.closed:
            return self._ag_trace.formatted(self, "!r", "")
        value = self._ag_value
        return f"<Tensor {value.name + ': ' if value.name else ''}{value.type}>"

    # Attributes -------------------------------------------------------------------------------------------------------

    @property
    @on_behalf
    def __class__(self) -> type:
        """The class of the object that it represents, so that `isinstance` gives the user's code the right answer."""
        if self._ag_trace.closed or is_own(sys._getframe(1).f_code.co_filename):
            return Tensor
        return self._ag_trace.class_of(self)

    @__class__.setter
    @on_behalf
    def __class__(self, value: type) -> None:
        raise TypeError("the class of a staged value cannot be changed")

    @on_behalf
    def __getattr__(self, name: str) -> Any:
        if name in NAMES and getattr(self._ag_value.type, "name", "") == "type":
            return self._ag_trace.record("getattr", (self, name))
        if name.startswith("__") and name.endswith("__") and name not in ANSWERED:
            by_library = is_own(sys._getframe(1).f_code.co_filename)
            if not by_library and hasattr(class_of(self._ag_value), name):
                self._ag_trace.needs(self, f"for its {name}")
            raise AttributeError(f"a staged value has no attribute {name}")
        return _attribute(self, name)

    # Python sets these in every class, so that it would not call `__getattr__` for them.
    __doc__ = property(lambda self: _attribute(self, "__doc__"))
    __module__ = property(lambda self: _attribute(self, "__module__"))

    def _ag_shape(self, type: TensorType) -> tuple[Any, ...]:
        if None not in type.shape:
            return type.shape
        shape = self._ag_trace.record("getattr", (self, "shape"))
        return tuple(
            self._ag_trace.record("getitem", (shape, axis)) if size is None else size
            for axis, size in enumerate(type.shape)
        )

    def __setattr__(self, name: str, value: Any) -> None:
        self._ag_trace.context.objects.set_attribute(self, name, value)
        if name in ("shape", "dtype"):
            self._ag_trace.retyped(self)

    def __delattr__(self, name: str) -> None:
        self._ag_trace.record("call", (delattr, self, name))

    # Where Python needs the value -------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        code = sys._getframe(1).f_code
        by = f"the generator {code.co_name}, which" if code.co_flags & CO_GENERATOR else "code that"
        self._ag_trace.needs(self, f"as a condition, by {by} is not staged")

    def __str__(self) -> str:
        return self._ag_trace.formatted(self, "!s", "")

    def __format__(self, spec: str) -> str:
        return self._ag_trace.formatted(self, "", spec)

    @on_behalf
    def __len__(self) -> int:
        type = self._ag_trace.type_of(self)
        if (length := length_of(type)) is not None:
            return length
        if isinstance(type, TensorType) and type.exact and not type.ndim:
            return len(sample_of(type))  # raises the error of the number
        if isinstance(type, ObjectType) and type.name == "tuple" and type.items:
            return len(type.items)
        if instruction(sys._getframe(1))[0] in SPREADING:
            raise TypeError("a list that takes in what is staged asks for its length only to be quicker")
        self._ag_trace.needs(self, "as its length")

    def __iter__(self) -> Iterator[Any]:
        return iterated(self, sys._getframe(1))

    # Indexing ---------------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        if self._ag_trace.is_all(index):
            return index
        return _operator(self._ag_trace, "getitem", self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(self._ag_value.type, TensorType):
            value = as_arrays(self._ag_trace, value)
        _operator(self._ag_trace, "setitem", self, index, value)

    def __delitem__(self, index: Any) -> None:
        self._ag_trace.record("delitem", (self, index))

    def __contains__(self, element: Any) -> bool:
        return bool(self._ag_trace.record("in", (element, self)))

    # NumPy's protocols ------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if any(map(overrides, (*inputs, *kwargs.get("out", ())))):
            return NotImplemented
        operator = AS_OPERATOR.get(op_of(ufunc) or "") if method == "__call__" and not kwargs else None
        if operator is not None and is_operation(sys._getframe(1)):
            return self._ag_trace.record(operator, inputs)
        return _record_ufunc(self._ag_trace, ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(kind is Tensor or issubclass(kind, np.ndarray) for kind in types):
            return NotImplemented
        if function in (np.shape, np.ndim) and args and args[0] is self:
            type = self._ag_trace.type_of(self)
            if isinstance(type, TensorType) and type.exact:
                return type.ndim if function is np.ndim else self._ag_shape(type)
        return self._ag_trace.record_function(function, args, kwargs)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return np

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ag_trace.context.objects.call(self, args, kwargs)

    def _ag_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        method, node = self._ag_trace.maybe_methods.get(self._ag_value), self._ag_value.node
        if method is None:
            if node is not None and node.op == "getattr" and node.args:  # else it is loaded on use
                check_names(self._ag_trace, node.args[1], (*args, *kwargs.values()), True)
            return self._ag_trace.record("call", (self, *args), kwargs)
        assert node is not None, "what reads an attribute"
        self._ag_trace.called_methods[node] = None  # the call looks the method up itself
        return Method(*method)(*args, **kwargs)

    def __copy__(self) -> Any:
        return self._ag_copy("copy")

    def __deepcopy__(self, memo: Any) -> Any:
        return self._ag_copy("deepcopy")

    def _ag_copy(self, name: str) -> Any:
        import copy

        type = self._ag_trace.type_of(self)
        if isinstance(type, TensorType) and type.exact and type.kind != "array":
            return self
        return self._ag_trace.record("call", (getattr(copy, name), self))

    def __round__(self, digits: Any = None) -> Any:
        return self._ag_trace.record("round", (self,) if digits is None else (self, digits))

    def __divmod__(self, other: Any) -> Any:
        return unpack(self._ag_trace, self._ag_trace.record("divmod", (self, other)), 2)

    def __rdivmod__(self, other: Any) -> Any:
        return unpack(self._ag_trace, self._ag_trace.record("divmod", (other, self)), 2)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return self._ag_trace.record("call", (pow, self, other, modulus))
        return _binary("pow")(self, other)

    def __reversed__(self) -> Any:
        return self._ag_trace.record("reversed", (self,))


def overrides(value: Any) -> bool:
    """Whether the class of an object defines the operations of NumPy."""
    kind = type(value)
    return module_of(kind) not in ("builtins", "numpy") and class_has(kind, "__array_ufunc__") and is_users(kind)


def _full_name(kind: type) -> str:
    """The name of a class in Python's messages: classes of C say their module, too."""
    module = str(module_of(kind))
    return kind.__name__ if is_changeable(kind) or module == "builtins" else f"{module}.{kind.__name__}"


def as_arrays(trace: Recorder, value: Any) -> Any:
    """A value from which NumPy makes an array; the `__array__` of objects in it is called."""
    if type(value) in (list, tuple):
        parts = [as_arrays(trace, part) for part in value]
        return value if all(a is b for a, b in zip(parts, value)) else type(value)(parts)
    convert = class_attribute(type(value), "__array__")
    if type(convert) is FunctionType and is_users(type(value)):
        return trace.context.calls.replacement(convert)(value)
    return value


def _record_ufunc(trace: Recorder, ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record a call of `__array_ufunc__` by NumPy."""
    out = kwargs.get("out")
    if isinstance(out, tuple) and len(out) == 1:
        kwargs = {**kwargs, "out": out[0]}
    op = op_of(ufunc)
    if method != "__call__":
        op = f"{op}.{method}" if f"{op}.{method}" in OPS else None
        ufunc = getattr(ufunc, method)
    if op is None:
        trace.report("callback", f"{full_name_of(ufunc)} is called as it is, it has no op")
        return trace.record("call", (ufunc, *inputs), kwargs)
    result = trace.record(op, inputs, kwargs)
    out = kwargs.get("out")
    return out if out is not None and not isinstance(out, tuple) else result


def check_names(trace: Recorder, function: str, args: tuple[Any, ...], is_method: bool) -> None:
    """Check that a function, by its name, looks up no variables of its caller that a text names: the graph has none.

    Raises:
        Plain: it does.
    """
    texts = [part for part in args if type(part) is str]
    for node in (part._ag_value.node for part in args if is_tensor(part)):
        texts += [part for part in flatten(node.args) if type(part) is str] if node and node.op == "fstring" else []
    if any(names_variables(function, text, is_method) for text in texts):
        trace.graph_break(f"{function} looks up variables that a text names")


def unpack(trace: Recorder, tensor: Tensor, count: int) -> tuple[Any, ...]:
    """The `count` items of an iterable."""
    result = trace.record("unpack", (tensor, count))
    return result if isinstance(result, tuple) else (result,)


def _operator(trace: Recorder, op: str, *args: Any) -> Any:
    return trace.context.objects.operator(trace, op, args)


def _binary(op: str) -> Callable[[Tensor, Any], Any]:
    def record(self: Tensor, other: Any) -> Any:
        if overrides(other):
            if type(other).__array_ufunc__ is None:
                return NotImplemented
            return _overridden(op, self, other)
        return _operator(self._ag_trace, op, self, other)

    return record


def _overridden(op: str, tensor: Tensor, other: Any) -> Any:
    """The result of an operator with such an object on its right, as NumPy computes it."""
    is_array = isinstance(tensor._ag_value.type, TensorType) and tensor._ag_value.type.kind == "array"
    ufunc = lookup(AS_UFUNC[plain(op)]).target
    return ufunc(tensor, other, **({"out": (tensor,)} if op in IN_PLACE and is_array else {}))


def _reflected(op: str) -> Callable[[Tensor, Any], Any]:
    def record(self: Tensor, other: Any) -> Any:
        inplace = (op in PARTIAL or not _are_numbers(self, other)) and is_inplace(sys._getframe(1))
        return _operator(self._ag_trace, "i" * inplace + op, other, self)

    return record


_ARITHMETIC = (int, float, complex, Tensor, np.ndarray, np.generic)

_ORDERED = "biuf"       # the kinds of dtypes whose numbers can be compared


def _are_numbers(tensor: Tensor, other: Any) -> bool:
    """Whether both are known to be numbers or arrays, for which an operator and its mirror are the same."""
    return isinstance(other, _ARITHMETIC) and isinstance(tensor._ag_value.type, TensorType)


def _are_ordered(tensor: Tensor, other: Any) -> bool:
    """Whether both are numbers that can be compared, so that no error shows the operator rather than its mirror."""
    kind = tensor._ag_value.type
    if not (isinstance(kind, TensorType) and kind.dtype.kind in _ORDERED):
        return False
    return isinstance(other, (int, float, Tensor)) or getattr(getattr(other, "dtype", None), "kind", "O") in _ORDERED


def _comparison(op: str) -> Callable[[Tensor, Any], Any]:
    """`self op other`, which Python also calls for `other op self` with the mirrored operator."""

    def record(self: Tensor, other: Any) -> Any:
        if op in ORDERING and not _are_ordered(self, other):
            mirrored = MIRRORED[op]
            if is_comparison(sys._getframe(1), notation.BINARY[mirrored]):
                return _operator(self._ag_trace, mirrored, other, self)
        return _binary(op)(self, other)

    return record


def _unary(op: str) -> Callable[[Tensor], Any]:
    return lambda self: _operator(self._ag_trace, op, self)


def _needing(use: str) -> Callable[..., NoReturn]:
    return lambda self, *args, **kwargs: self._ag_trace.needs(self, use)


for _name, _use in {
    "__index__": "as an index, a length or a count",
    "__int__": "as a Python int",
    "__float__": "as a Python float",
    "__complex__": "as a Python complex",
    "__hash__": "as a key or an element of a set",
    "__array__": "as an array, by code that is not traced",
}.items():
    setattr(Tensor, _name, _needing(_use))
for _op in BINARY:
    if f"__{_op}__" not in vars(Tensor):
        setattr(Tensor, f"__{_op}__", _binary(_op))
    setattr(Tensor, f"__r{_op}__", _reflected(_op))
    setattr(Tensor, f"__i{_op}__", _binary(f"i{_op}"))
for _op in COMPARISONS:
    setattr(Tensor, f"__{_op}__", _comparison(_op))
for _op in (*UNARY, "abs"):
    setattr(Tensor, f"__{_op}__", _unary(_op))
for _name in ("floor", "ceil", "trunc"):
    setattr(Tensor, f"__{_name}__", _unary(f"math.{_name}"))


@on_behalf
def _attribute(tensor: Tensor, name: str) -> Any:
    """An attribute of the object that a proxy represents, if it is known; else a proxy for it."""
    trace, value = tensor._ag_trace, tensor._ag_value
    type = trace.type_of(tensor)
    if isinstance(type, TensorType) and type.exact:
        sample = sample_of(type)
        if not hasattr(sample, name):
            return getattr(sample, name)  # raises the AttributeError of the number or array
        if name in KNOWN_ATTRIBUTES:
            return KNOWN_ATTRIBUTES[name](type)
        if name == "shape":
            return tensor._ag_shape(type)
        if name == "size" and None not in type.shape:
            return math.prod(type.shape)
        may_call: bool | None = callable(getattr(sample, name))
    else:
        kind = trace.classes.get(value) or class_of(value)
        if kind is not None and has_attribute(kind, name) is False:
            raise AttributeError(f"{_full_name(kind)!r} object has no attribute {name!r}")
        may_call = is_method(kind, type, name)
    if may_call:
        return Method(tensor, name)
    found = trace.context.objects.attribute(tensor, name)
    if may_call is None and is_tensor(found) and found._ag_value not in trace.maybe_methods:
        trace.maybe_methods[found._ag_value] = tensor, name
    return found


# Attribute accesses mean those of the object that it represents.
del Tensor.__slots__, Tensor.__annotations__


class Method:
    """A method of a staged value, to be called.

    It is no dataclass: the fields of a user's dataclass would become parts of a result, and so would those of this.
    """

    __slots__ = ("name", "owner")

    def __init__(self, owner: Tensor, name: str) -> None:
        self.owner = owner
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.owner._ag_value.type, TensorType):
            args = as_arrays(self.owner._ag_trace, args)
        else:
            check_names(self.owner._ag_trace, self.name, (*args, *kwargs.values()), True)
        found = self.owner._ag_trace.record(f".{self.name}", (self.owner, *args), kwargs)
        if self.name == "resize":
            self.owner._ag_trace.retyped(self.owner)
        return found

    def __repr__(self) -> str:
        return f"<method {self.name} of {self.owner!r}>"


def method_name(method: MethodType) -> str | None:
    """The name of a method of the class of proxies; None if it is a method of another class."""
    return next((name for name, each in vars(Tensor).items() if each is method.__func__), None)


def is_tensor(value: Any) -> bool:
    """Whether `value` is a proxy; `isinstance` would inspect the object that it represents."""
    return type(value) is Tensor


@on_behalf
def iterated(tensor: Tensor, frame: FrameType) -> Iterator[Any]:
    """An iterator over a staged value for the code of `frame`."""
    trace = tensor._ag_trace
    type = trace.type_of(tensor)
    name, count = instruction(frame)
    if isinstance(type, ObjectType) and type.name == "tuple" and type.items:
        return iter(unpack(trace, tensor, len(type.items)))
    if name == "UNPACK_SEQUENCE":
        return iter(unpack(trace, tensor, count))
    if isinstance(type, TensorType) and type.exact and not type.ndim and name != "UNPACK_EX":
        return iter(sample_of(type))
    if (length := length_of(type)) is not None:
        return (tensor[i] for i in range(length))
    if name == "UNPACK_EX":
        return trace.unpack_starred(tensor, count & 255, count >> 8)
    if name in SPREADING and not is_own(frame.f_code.co_filename):     # there, it is an argument
        return trace.spread_items(tensor)
    trace.needs(tensor, "to iterate over, in code that is not staged")
