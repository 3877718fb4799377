"""Flatten nested structures to their leaves, and rebuild them.

A structure is a list, tuple, dict, namedtuple, dataclass instance that holds its fields and nothing else, or a
value of a registered type; everything else, subclasses of list, tuple and dict, dataclasses of installed packages, and
classes that have something else under the name of a field included, is a leaf. The leaves come in the order of
iteration, which for a dict and a dataclass is the order in which keys and fields were set.

    flatten({"a": [1, 2], "b": 3})            [1, 2, 3]
    pack({"a": [1, 2], "b": 3}, [4, 5, 6])    {"a": [4, 5], "b": 6}
    map(max, [1, (5, 3)], [4, (2, 9)])        [4, (5, 9)]
"""

from __future__ import annotations

import inspect
import sys
import weakref
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType
from typing import Any

from autograph.common.cpython_internals import HEAP, assign_version_tag, version_tag, with_fast_attributes
from autograph.common.packages import packages_behind
from autograph.common.statics import (
    class_attribute,
    class_has,
    compares_itself,
    names_of,
    own_attribute,
    reads_plainly,
)
from autograph.errors import AutographError


class StructureError(AutographError, ValueError):
    """Two structures that had to be alike are not, or leaves are missing or left over."""


def written(key: Any) -> str:
    """A key as paths have it: as Python writes it, but without calling code of the user's."""
    if type(key) in (str, int):
        return repr(key)
    if isinstance(key, (tuple, frozenset)):
        parts = [written(part) for part in key]
        if type(key) is frozenset:
            return f"frozenset({{{', '.join(sorted(parts))}}})"
        if type(key) is tuple:
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        return f"{type(key).__qualname__}({', '.join(parts)})"
    if type(type(key).__repr__) is FunctionType and not _is_pythons(type(key).__repr__):
        return object.__repr__(key)
    return repr(key)


def _is_pythons(function: Any) -> bool:
    name = str(function.__module__).partition(".")[0]
    return name in sys.stdlib_module_names and name != "__main__"


def _step(key: Any) -> str:
    return f"[{written(key)}]"


@dataclass(frozen=True)
class Kind:
    """How values of one type are taken apart and put together again.

    Attributes:
        children: value -> its parts by key, in order.
        rebuild: an old value, which stays as it was, and new parts in the order of `children` -> a new value.
        step: key -> the text by which a user gets that part, such as `[0]`.
    """

    children: Callable[[Any], Mapping[Any, Any]]
    rebuild: Callable[[Any, list[Any]], Any]
    step: Callable[[Any], str] = _step


def _by_position(value: Sequence[Any]) -> dict[int, Any]:
    return dict(enumerate(value))


def rebuild_dataclass(value: Any, parts: list[Any]) -> Any:
    new = object.__new__(type(value))  # asks nothing that the user may have written to make or copy one
    for name, part in zip(_fields_of(value), parts):
        object.__setattr__(new, name, part)
    return new


def _fields_of(value: Any) -> dict[str, Any]:
    """The fields of a dataclass, in the order in which they were set, which `vars` tells; those in slots come last."""
    found = {}
    for name in {**_own_names(value), **_names_of(type(value))[0]}:
        part = getattr(value, name, _MISSING)
        if part is not _MISSING:
            found[name] = part
    return found


_MISSING: Any = object()
_Names = tuple[dict[str, None], frozenset[str]]


class FieldFacts:
    """The names that `_names_of` returns for a class.

    Attributes:
        tag: the cell of the version tag of the class.
        known: the tag with which these facts hold; -1 once there are others.
    """

    __slots__ = ("found", "known", "reference", "tag")

    def __init__(self, kind: type, number: int) -> None:
        self.reference = weakref.ref(kind, lambda _: _FACTS.pop(number, None))
        self.tag: Sequence[int] = version_tag(kind)
        self.known = -1
        self.found: Any = None


_FACTS: dict[int, FieldFacts] = {}  # of dataclasses and named tuples, by their ids


def _names_of(kind: Any) -> Any:
    """The names of the fields of a dataclass, and of those that the class has a value for; None if it hides any.

    Of a named tuple, how many fields there are.
    """
    number = id(kind)
    facts = _FACTS.get(number)
    if facts is None or facts.tag[0] != facts.known:
        assign_version_tag(kind)
        found = _count_fields(kind) if issubclass(kind, tuple) else _find_names(kind)
        if facts is None or found != facts.found:
            if facts is not None:
                facts.known = -1
            facts = _FACTS[number] = FieldFacts(kind, number)
            facts.found = found
        facts.known = facts.tag[0] or -1    # -1 is no tag
    return facts.found


def facts_of_fields(kind: type) -> FieldFacts | None:
    """The facts about the fields of a dataclass.

    None if instances with the same names in their `__dict__` may be structures of other fields.
    """
    names = _names_of(kind)
    slots = (type(class_attribute(kind, each)) is MemberDescriptorType for each in names[0]) if names else ()
    if not names or not kind.__dictoffset__ or any(slots):
        return None
    return _FACTS[id(kind)]


def _count_fields(kind: Any) -> int | None:
    """How many fields a named tuple has; None if its class gives something else under the name of one."""
    if kind.__getattribute__ is not tuple.__getattribute__:
        return None
    members = [class_attribute(kind, name) for name in kind._fields]
    fits = all(type(each) is _FIELD and each.__reduce__()[1][0] == place for place, each in enumerate(members))
    return len(members) if fits else None


_FIELD = type(vars(namedtuple("_Named", "first"))["first"])


def _find_names(kind: Any) -> _Names | None:
    asks = not reads_plainly(kind) or class_has(kind, "__getattr__")
    if asks or packages_behind(kind) or not holds_attributes_only(kind):
        return None
    names = dict.fromkeys(field.name for field in fields(kind))
    members = {name: member for base in kind.__mro__[::-1] for name, member in names_of(base).items() if name in names}
    members = {name: member for name, member in members.items() if not _is_slot(member, name, kind)}
    if any(inspect.isdatadescriptor(member) for member in members.values()):
        return None
    return names, frozenset(members)


def _is_slot(member: Any, name: str, kind: type) -> bool:
    """Whether a member of a class is where its instances, rather than those of others, keep the attribute `name`."""
    is_member = type(member) is MemberDescriptorType and member.__name__ == name
    return is_member and issubclass(kind, member.__objclass__)


def _holds_fields_only(value: Any) -> bool:
    """Whether an instance of a dataclass holds its fields and nothing else, and none of them is in its class only."""
    names = _names_of(type(value))
    return names is not None and names[1] <= _own_names(value).keys() <= names[0].keys()


def _own_names(value: Any) -> dict[str, Any]:
    return with_fast_attributes(value, own_attribute(value, "__dict__", {}))


def holds_attributes_only(kind: type) -> bool:
    """Whether all that an instance of a class holds are attributes, each of one name: no base is written in C."""
    bases = type.mro(kind)
    if not all(base is object or (base.__flags__ & HEAP and not _makes_its_own(base)) for base in bases):
        return False
    return not any("__slots__" in vars(base) for base in bases) or all(map(_names_its_slots, bases))


def _names_its_slots(kind: type) -> bool:
    """Whether a class has slots under their own names only: under two names, an attribute would be taken for two."""
    slots = ((name, member) for name, member in vars(kind).items() if type(member) is MemberDescriptorType)
    return all(member.__name__ == name for name, member in slots)


def _makes_its_own(kind: type) -> bool:
    new = vars(kind).get("__new__")
    return isinstance(new, BuiltinFunctionType) and new.__self__ is kind


def fields_of_tuple(value: Any) -> dict[str, Any]:
    """The fields of a named tuple; none of its methods is called, which the user may have written."""
    return dict(zip(type(value)._fields, tuple.__iter__(value)))


# Functions that make a structure like another one from new parts; graphs call them by name.


def rebuild_named_tuple(value: Any, parts: list[Any]) -> Any:
    return tuple.__new__(type(value), parts)


def rebuild_ordered_dict(value: Any, parts: list[Any]) -> Any:
    return OrderedDict(zip(value, parts))


def rebuild_default_dict(value: Any, parts: list[Any]) -> Any:
    return defaultdict(value.default_factory, zip(value, parts))


_NAMEDTUPLE = Kind(fields_of_tuple, rebuild_named_tuple, ".{}".format)
DATACLASS = Kind(_fields_of, rebuild_dataclass, ".{}".format)
_KINDS: dict[type, Kind] = {
    list: Kind(_by_position, lambda value, parts: parts),
    tuple: Kind(_by_position, lambda value, parts: tuple(parts)),
    dict: Kind(lambda value: value, lambda value, parts: dict(zip(value, parts))),
    OrderedDict: Kind(lambda value: value, rebuild_ordered_dict),
    defaultdict: Kind(lambda value: value, rebuild_default_dict),
}


def register(
    kind: type,
    children: Callable[[Any], Mapping[Any, Any]],
    rebuild: Callable[[Any, list[Any]], Any],
    step: Callable[[Any], str] = _step,
) -> None:
    """Declare that values of exactly the type `kind` are structures; see `Kind` for the three functions."""
    _KINDS[kind] = Kind(children, rebuild, step)


def kind_of(value: Any) -> Kind | None:
    """How to take `value` apart; None for a leaf."""
    if compares_itself(type(value)):
        return None
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if issubclass(type(value), tuple) and hasattr(value, "_fields") and hasattr(value, "_make"):
        return _NAMEDTUPLE if _names_of(type(value)) == tuple.__len__(value) else None
    return DATACLASS if may_be_nested(type(value)) and _holds_fields_only(value) else None


def may_be_nested(kind: type) -> bool:
    """Whether it depends on an instance of a class, which is a leaf itself, if it is a structure."""
    return class_has(kind, "__dataclass_fields__") and not issubclass(kind, type)


def is_nested(value: Any) -> bool:
    """Whether `value` is a structure rather than a leaf."""
    return kind_of(value) is not None


def flatten(structure: Any) -> list[Any]:
    """The leaves of `structure`, in order.

    Raises:
        StructureError: a part of the structure contains itself.
    """
    leaves: list[Any] = []

    def step(value: Any) -> Any:
        kind = kind_of(value)
        return leaves.append(value) if kind is None else Within(zip(kind.children(value).values()), len)

    resolve(step, structure)
    return leaves


def different_leaves(structure: Any) -> Iterator[Any]:
    """The leaves of `structure` in any order, those of a part that is in several places once: it may contain itself."""
    visited: dict[int, Any] = {}
    rest = [structure]
    while rest:
        value = rest.pop()
        kind = kind_of(value)
        if kind is None:
            yield value
        elif id(value) not in visited:
            visited[id(value)] = value
            rest.extend(kind.children(value).values())


def _enter(value: Any, inside: dict[int, Any]) -> None:
    if id(value) in inside:
        raise StructureError(f"the structure has a {type(value).__name__} that contains itself")
    inside[id(value)] = value


def pack(structure: Any, leaves: Iterable[Any]) -> Any:
    """A structure built like `structure` with `leaves` in place of its own.

    Raises:
        StructureError: there are more or fewer leaves than `structure` has, or a part of it contains itself.
    """
    new_leaves = list(leaves)
    rest, wanted = iter(new_leaves), 0

    def following(_: Any) -> Any:
        nonlocal wanted
        wanted += 1
        return next(rest, None)

    packed = _map(following, structure, ())
    if len(new_leaves) != wanted:
        raise StructureError(f"the structure has {wanted} leaves, but {len(new_leaves)} were given to fill it")
    return packed


def map(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """Apply `function` to the leaves of `structure` and the corresponding ones of `others`.

    Raises:
        StructureError: the structures are not built alike; the message names the first place where. Or a part of one
            contains itself.
    """
    for other in others:
        assert_same_structure(structure, other)
    return _map(function, structure, others)


def _map(function: Callable[..., Any], first: Any, others: tuple[Any, ...]) -> Any:
    def step(value: Any, *rest: Any) -> Any:
        kind = kind_of(value)
        if kind is None:
            return function(value, *rest)
        columns = [kind.children(other) for other in rest]
        parts = [(part, *(column[key] for column in columns)) for key, part in kind.children(value).items()]
        return Within(parts, lambda made: kind.rebuild(value, made))

    return resolve(step, first, *others)


class Within:
    """The result of a function for an inner node of a structure: `join` of its results for the parts.

    Args:
        parts: the arguments that the function gets for each part.
    """

    __slots__ = ("join", "parts")

    def __init__(self, parts: Iterable[tuple[Any, ...]], join: Callable[[list[Any]], Any]) -> None:
        self.parts = parts
        self.join = join


def resolve(step: Callable[..., Any], *args: Any) -> Any:
    """Call a function that gives its result, or `Within` to be called for parts of the first argument, and so on.

    This is recursion on a stack of its own, for structures of any depth.

        def doubled(thing):
            return Within(zip(thing), list) if type(thing) is list else thing * 2

        resolve(doubled, [1, [2, 3]])             [2, [4, 6]]

    Raises:
        StructureError: a part of the first argument contains itself.
    """
    found = step(*args)
    if type(found) is not Within:
        return found
    thing, rest, join, made = args[0], iter(found.parts), found.join, list[Any]()
    around: list[tuple[Any, Iterator[Any], Callable[[list[Any]], Any], list[Any]]] = []
    checked = 100  # at this depth, and then at twice the depth each time, it checks that nothing contains itself
    while True:
        for following in rest:
            found = step(*following)
            if type(found) is Within:
                around.append((thing, rest, join, made))
                thing, rest, join, made = following[0], iter(found.parts), found.join, []
                break
            made.append(found)
        else:
            found = join(made)
            if not around:
                return found
            thing, rest, join, made = around.pop()
            made.append(found)
        if len(around) == checked:
            checked *= 2
            inside: dict[int, Any] = {}
            for each in around:
                _enter(each[0], inside)


def assert_same_structure(first: Any, second: Any, name: str = "structure") -> None:
    """Check that two structures differ in their leaves at most (and in the order of dict keys).

    Args:
        name: the user's name of the structure, for the place in the message, such as `structure['a'][1]`.

    Raises:
        StructureError: they differ.
    """
    rest: list[tuple[Any, Any, tuple[Any, ...]]] = [(first, second, (None, name))]
    compared: dict[tuple[int, int], tuple[Any, Any]] = {}
    while rest:
        one, other, steps = rest.pop()
        kind = kind_of(one)
        if kind is not kind_of(other) or (kind is not None and type(one) is not type(other)):
            at = _joined(steps)
            raise StructureError(f"{at} is {_describe(one)} on one side and {_describe(other)} on the other")
        if kind is None or (id(one), id(other)) in compared:
            continue
        compared[id(one), id(other)] = one, other
        left, right = kind.children(one), kind.children(other)
        if left.keys() != right.keys():
            raise StructureError(_difference(_joined(steps), one, left, right))
        rest.extend((part, right[key], (steps, kind.step(key))) for key, part in [*left.items()][::-1])


def _joined(steps: tuple[Any, ...]) -> str:
    """A path from its last step and, nested, the steps before."""
    texts = []
    while steps:
        steps, text = steps
        texts.append(text)
    return "".join(reversed(texts))


def _describe(value: Any) -> str:
    what = "a" if is_nested(value) else "a leaf of type"
    return f"{what} {type(value).__name__}"


def _difference(name: str, first: Any, left: Mapping[Any, Any], right: Mapping[Any, Any]) -> str:
    kind = type(first).__name__
    if isinstance(first, (list, tuple)):
        return f"{name} is a {kind} of {len(left)} on one side and of {len(right)} on the other"
    only = [_keys(one, other) for one, other in ((left, right), (right, left))]
    return f"{name} is a {kind} with {only[0]} on one side only and {only[1]} on the other only"


def _keys(one: Mapping[Hashable, Any], other: Mapping[Hashable, Any]) -> str:
    return ", ".join(written(key) for key in one if key not in other) or "nothing"
