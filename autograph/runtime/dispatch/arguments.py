"""Takes arguments apart: computes the key by which a call finds its trace, and the signature of a new trace.

Numbers, arrays and objects are staged. Constants (strings, None, functions, classes, …) are part of the signature.
Lists, tuples, dicts and other structures are taken apart, unless they are long: then the graph gets them as they are,
and one trace serves all lengths.

    key_of(values)                  fast, at each call: equal keys, equal signatures
    read(parameters, values, …)     slow, for each trace
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.common.statics import class_has, compares_itself
from autograph.runtime.graph.object_model import identity_is_users, is_open
from autograph.runtime.graph.signature import Dynamic, Instance, Leaf, Lengths, Policy, Signature, Static
from autograph.runtime.graph.static_keys import CONSTANT, CONSTANT_BASES, static_key
from autograph.runtime.graph.types import INT, PYTHON_TYPES, TensorType, object_type, python, scalar

LONG = 16  # A container of more parts than this is taken as one object; one of arrays, of more than MANY.
MANY = 64
NESTED = 1000  # A container of containers of containers with more parts in all is one object, too.
DEPTH = 6  # A container that is nested deeper is one object.
LONG_TEXT = 32  # A string longer than this is text to work on, rather than the name of a mode.

Around = tuple[type, ...]
NUMBERS = frozenset({int, float, complex})
VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
_SEQUENCES = frozenset({list, tuple})


def is_whole(value: Any, around: Around = ()) -> bool:
    """Whether a structure is taken as one object: it is long, or deep, or inside of a structure of its own class.

    Args:
        around: the types of the structures around it.
    """
    kind = type(value)
    if kind not in _SEQUENCES and kind is not dict:
        return kind in around
    count = len(value)
    if count == 0 or len(around) >= DEPTH:
        return count > 0
    first = next(iter(value.values())) if kind is dict else value[0]
    if count > LONG and class_has(type(first), "__ag_apart__"):
        return False
    if count > LONG:
        return type(first) is not np.ndarray or count > MANY
    most = MANY
    for _ in range(DEPTH):
        kind = type(first)
        if not (kind is list or kind is tuple or kind is dict) or not first:
            return False
        count *= len(first)
        if count > most:
            return True
        first, most = next(iter(first.values())) if type(first) is dict else first[0], NESTED
    return False


def is_constant(value: Any) -> bool:
    """Whether a leaf can never change, so that it may be part of a signature."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value) <= LONG_TEXT
    if kind is BuiltinFunctionType:
        return value.__self__ is None or isinstance(value.__self__, ModuleType)  # no method of a list, say
    if kind is MethodType and not issubclass(type(value.__self__), type):
        return is_open(type(value.__self__))
    return kind in CONSTANT or issubclass(kind, CONSTANT_BASES)


# Keys -----------------------------------------------------------------------------------------------------------------


def key_of(value: Any, around: Around = ()) -> Any:
    """The key of an argument that the policy does not mention; `around` as for `is_whole`."""
    kind = type(value)
    if kind in NUMBERS:
        return kind
    if kind is np.ndarray:
        return value.shape, value.dtype
    if kind in _SEQUENCES or kind is dict:
        parts = value if kind is not dict else value.values()
        # Of numbers and objects, the types are the keys.
        keys: list[Any] | None = [*map(type, parts)] if len(value) <= LONG and len(around) < DEPTH else None
        if keys is None or not (NUMBERS.issuperset(keys) or _OBJECTS.keys() >= {*map(id, keys)}):
            if keys is not None and all(each is str for each in keys) and max(map(len, parts)) <= LONG_TEXT:
                keys += parts
            elif is_whole(value, around):
                return kind
            else:
                around = (*around, kind)
                keys = [key_of(part, around) for part in parts]
        return (kind, *keys) if kind is not dict else (kind, _names(value), *keys)
    if kind is str or kind is bool or kind is FunctionType or value is None:
        return (kind, value) if kind is not str or len(value) <= LONG_TEXT else kind
    return kind if id(kind) in _OBJECTS else _other_key(value, kind, around)


def is_keyed_by_class(kind: type) -> bool:
    """Whether the key of an instance of a class is that class, as the instance is staged by reference."""
    return id(kind) in _OBJECTS


class Unkeyed(Exception):
    """An argument has no key, so the call runs as plain Python."""


def _other_key(value: Any, kind: type, around: Around) -> Any:
    if issubclass(kind, np.generic):
        return kind if issubclass(kind, (np.number, np.bool_)) else (kind, value.dtype)
    if kind is Instance:        # a dataclass, too
        return _leaf_key(value.leaf)
    form = pytree.kind_of(value)
    if form is not None:
        if kind in around:
            return kind
        parts = form.children(value)
        return (kind, _names(parts), *[key_of(part, (*around, kind)) for part in parts.values()])
    if is_constant(value):
        return static_key(value)
    if compares_itself(kind):
        raise Unkeyed(identity_is_users(value))
    if not (issubclass(kind, _SOMETIMES_CONSTANT) or pytree.may_be_nested(kind)):
        number = id(kind)
        _OBJECTS[number] = weakref.ref(kind, lambda _: _OBJECTS.pop(number, None))
    return kind


_SOMETIMES_CONSTANT = (str, bytes, BuiltinFunctionType, MethodType)
# Classes whose instances are staged by reference, by their ids: a cache for `key_of`.
_OBJECTS: dict[int, weakref.ref[type]] = {}


def _leaf_key(leaf: Leaf) -> Any:
    """The key of the values that a leaf describes."""
    if isinstance(leaf, Static):
        return static_key(leaf.value)
    type = leaf.type
    if not isinstance(type, TensorType):
        return leaf.cls or type
    if not type.exact:
        return type
    return (
        PYTHON_TYPES[type.dtype]
        if type.weak
        else type.dtype.type
        if type.kind == "scalar"
        else (type.shape, type.dtype)
    )


def key_of_parts(parts: Any) -> Any:
    """The key of the value of `*args` or `**kwargs`, which is always taken apart."""
    kind = type(parts)
    if not parts:
        return kind
    if kind is dict:
        return (kind, tuple(parts), *[key_of(part, (kind,)) for part in parts.values()])
    return (kind, *[key_of(part, (kind,)) for part in parts])


def _names(parts: Iterable[Any]) -> Any:
    names = tuple(parts)
    if names in _STRINGS:
        return names
    if not all(type(name) is str for name in names):
        return tuple(map(static_key, names))
    if len(_STRINGS) > _MANY_STRINGS:
        _STRINGS.clear()
    _STRINGS.add(names)
    return names


_STRINGS: set[tuple[str, ...]] = set()  # a cache: names of parts that are all strings
_MANY_STRINGS = 1000


def key_at(value: Any, path: str, policy: Policy, around: Around = (), apart: bool = False) -> Any:
    """The key of an argument, or a part of one, that the policy mentions; `apart`: take it apart in any case."""
    kind = type(value)
    if policy.is_static(path, kind):
        return Static, static_key(value)
    if kind is np.ndarray:
        return policy.shape(path, value.shape), value.dtype
    if kind is Instance:
        return _leaf_key(policy.leaf(path, value.leaf))
    if path in policy.whole:
        return kind
    form = pytree.kind_of(value)
    if form is None or (not apart and is_whole(value, around) and not policy.is_apart(path)):
        return key_of(value, around)
    parts = form.children(value)
    inside = (*around, kind)
    below = [key_at(part, path + form.step(name), policy, inside) for name, part in parts.items()]
    return (kind, *below) if kind in _SEQUENCES else (kind, _names(parts), *below)


def keyer_of(parameter: Parameter, policy: Policy) -> Callable[[Any], Any]:
    """The keyer of a parameter that the policy mentions."""
    name, apart = parameter.name, parameter.kind in VARIADIC
    masks = {ndim: mask for (path, ndim), mask in policy.dynamic_dims.items() if path == name}
    open_shapes = {ndim: (None,) * ndim for ndim, mask in masks.items() if all(mask)}

    def key(value: Any) -> Any:
        if type(value) is np.ndarray and value.ndim in open_shapes and name not in policy.named:
            return open_shapes[value.ndim], value.dtype
        return key_at(value, name, policy, (), apart)

    return key


# Signatures -----------------------------------------------------------------------------------------------------------


@dataclass
class Reading:
    """Arguments taken apart.

    Attributes:
        values: of the leaves.
        codes: for each leaf an expression that gives it, where `p0`, `p1`, … are the arguments and other names those
            of `constants`.
        containers: the same for each container, by path.
        references: class, code, id and path of each leaf and container that may be one object with another.
        lengths: type, and names of the parts, of each container that was taken apart.
        named: the values of the names in guards.
        same: for each leaf the number of the first that is the same array or object.
    """

    policy: Policy
    leaves: list[Leaf] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    containers: dict[str, str] = field(default_factory=dict)
    references: list[tuple[type, str, int, str]] = field(default_factory=list)
    lengths: Lengths = field(default_factory=dict)
    named: dict[str, Any] = field(default_factory=dict)
    same: list[int] = field(default_factory=list)
    _trees: dict[int, Any] = field(default_factory=dict)  # containers, by id: their trees
    _first: dict[int, int] = field(default_factory=dict)  # leaves, by id: their numbers
    _around: list[type] = field(default_factory=list)

    def take(self, value: Any, path: str, code: str, apart: bool = False) -> Any:
        """Take `value` apart, however long it is if `apart`; gives it with numbers in place of its leaves."""
        leaf = None if apart else leaf_of(value, path, self.policy, tuple(self._around))
        if leaf is not None:
            return self._add(leaf, value, path, code)
        form = pytree.kind_of(value)
        assert form is not None, "a value that is no leaf is a structure"
        if type(value) is not tuple:
            self.references.append((type(value), code, id(value), path))
        self.containers[path] = code
        if id(value) in self._trees:
            return self._trees[id(value)]
        parts = form.children(value)
        self.lengths[path] = type(value), _names(parts)
        self._around.append(type(value))
        trees = [
            self.take(part, path + form.step(name), self._part(value, form, name, code)) for name, part in parts.items()
        ]
        self._around.pop()
        tree = self._trees[id(value)] = form.rebuild(value, trees)
        return tree

    def _add(self, leaf: Leaf, value: Any, path: str, code: str) -> int:
        number = len(self.leaves)
        first = number
        if isinstance(leaf, Dynamic) and type(value) not in NUMBERS and not issubclass(type(value), np.generic):
            self.references.append((type(value), code, id(value), path))
            first = self._first.setdefault(id(value), number)
        self.leaves.append(leaf)
        self.paths.append(path)
        self.values.append(value)
        self.codes.append(code)
        self.same.append(first)
        return number

    def _part(self, value: Any, form: pytree.Kind, name: Any, code: str) -> str:
        """An expression for the part `name` of the value of `code`."""
        step = form.step(name)
        if step.startswith("."):
            return code + step
        if type(name) not in (str, int):
            name, constant = f"k{len(self.constants)}", name
            self.constants[name] = constant
        else:
            name = repr(name)
        if issubclass(type(value), (list, tuple, dict)):
            return f"{code}[{name}]"
        children = f"k{len(self.constants)}"
        self.constants[children] = form.children
        return f"{children}({code})[{name}]"

    @property
    def sharing(self) -> tuple[tuple[str, ...], ...]:
        """For each object with several paths, its codes."""
        return tuple(tuple(code for _, code, _, _ in group) for group in self._shared())

    def mixed(self) -> Iterator[list[str]]:
        """For each object that is taken apart at one path and not at another, its paths."""
        for group in self._shared():
            paths = [path for *_, path in group]
            if 0 < len(self.containers.keys() & paths) < len(set(paths)):
                yield paths

    def _shared(self) -> list[list[tuple[type, str, int, str]]]:
        groups: dict[int, list[tuple[type, str, int, str]]] = {}
        for reference in self.references:
            groups.setdefault(reference[2], []).append(reference)
        return [group for group in groups.values() if len(group) > 1]


def leaf_of(value: Any, path: str, policy: Policy, around: Around = ()) -> Leaf | None:
    """The leaf for `value` in a signature; None if the signature has its items."""
    kind = type(value)
    if compares_itself(kind):
        raise Unkeyed(identity_is_users(value))
    if policy.is_static(path, kind):
        return Static(value)
    if kind in NUMBERS:
        return Dynamic(python(kind))
    if kind is np.ndarray:
        return Dynamic(TensorType(value.dtype, policy.shape(path, value.shape)))
    if kind is Instance:
        return policy.leaf(path, value.leaf)
    if issubclass(kind, (np.number, np.bool_)):
        return Dynamic(scalar(value.dtype))
    if path not in policy.whole:
        if pytree.is_nested(value):
            if not is_whole(value, around) or policy.is_apart(path):
                return None
        elif is_constant(value):
            return Static(value)
    return Dynamic(object_type(kind, *[INT] * (kind is range)), kind)


def read(parameters: Sequence[Parameter], values: Sequence[Any], policy: Policy) -> tuple[Signature, Reading]:
    """Take the values of a function's parameters apart."""
    reading = Reading(policy)
    trees = [
        reading.take(value, p.name, f"p{i}", p.kind in VARIADIC) for i, (p, value) in enumerate(zip(parameters, values))
    ]
    tree = arrange(parameters, trees)
    reading.named = {f"p{i}": value for i, value in enumerate(values)}
    reading.named |= {f"a{i}": value for i, value in enumerate(reading.values)} | reading.constants
    containers = reading.containers | {path: f"a{i}" for i, path in enumerate(reading.paths)}
    signature = Signature(tree, tuple(reading.leaves), tuple(reading.paths), tuple(reading.same), containers=containers)
    return signature, reading


def arrange(parameters: Sequence[Parameter], values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The values of parameters as `(args, kwargs)` of a call."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter, value in zip(parameters, values):
        if parameter.kind is Parameter.VAR_POSITIONAL:
            args.extend(value)
        elif parameter.kind is Parameter.VAR_KEYWORD:
            kwargs.update(value)
        elif parameter.kind is Parameter.KEYWORD_ONLY:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return tuple(args), kwargs
