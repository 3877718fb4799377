"""Containers of traced code whose contents are objects of the graph.

A list that grows under a staged condition is an object of the graph. The list of traced code then has one element,
`StagedItems`, which represents all items of that object. Python copies it like any element, so it represents them in
`[*xs, 1]`, `xs + ys` and `f(*xs)`, too. Such containers become objects of the graph when they are used next, and before
their operands change.
"""

from __future__ import annotations

import sys
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, MappingView
from enum import Enum
from types import GeneratorType
from typing import Any, NoReturn
from weakref import WeakSet

from autograph.common.cpython_internals import references, referents, referrers
from autograph.common.statics import is_a, module_of
from autograph.common.trace_rules import is_own, on_behalf
from autograph.runtime.graph.object_model import is_users, own_dict
from autograph.runtime.graph.traits import EXTREME
from autograph.runtime.graph.types import ObjectType
from autograph.runtime.tracing.proxies.context import Recorder
from autograph.runtime.tracing.proxies.graph_break import Materialize
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor

DICTS = (dict, OrderedDict, defaultdict, Counter)
STAGEABLE = frozenset({list, set, deque, *DICTS})
_SPLICED = STAGEABLE | {tuple}
_HOLDING = frozenset({list, tuple, *DICTS})
_NESTING = _SPLICED | {frozenset, slice}
_TRACES: WeakSet[Recorder] = WeakSet()  # that have staged items: mostly none, so that checks are quick


class StagedItems:
    """The element of a container that represents the items of an object of the graph.

    Attributes:
        owner: the identity of the container whose contents the object holds; None until a container is used.
        count: the number of references by the owner: a dict has this element as key and value.
    """

    __slots__ = ("count", "owner", "tensor")

    def __init__(self, tensor: Tensor, owner: int | None = None, count: int = 1) -> None:
        self.tensor = tensor
        self.owner = owner
        self.count = count
        tensor._ag_trace.staged_items.append(self)
        _TRACES.add(tensor._ag_trace)

    def __repr__(self) -> str:
        return f"<items of {self.tensor!r}>"

    def __eq__(self, other: object) -> bool:
        if self is other or is_own(sys._getframe(1).f_code.co_filename):
            return self is other
        self._refuse()

    __hash__ = object.__hash__

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        trace = self.tensor._ag_trace
        trace.unstageable(
            "this container has a number of elements that is known only when the program runs, and is used here by "
            "code that is not staged. Index it, iterate over it or call its methods in code that is converted"
        )

    __getattr__ = __iter__ = __len__ = __bool__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = _refuse
    __lt__ = __gt__ = __le__ = __ge__ = __getitem__ = __str__ = __call__ = __float__ = __index__ = __int__ = _refuse


def staged_as(container: Any) -> Tensor | None:
    """The object of the graph that holds the contents of a container, if there is one.

    A container that is made of such ones, as `xs + ys` is, becomes an object of the graph now.
    """
    if type(container) not in _SPLICED or not is_spread(container):
        return None
    inside = graph_object_of(container)
    if inside is not None:
        return inside
    trace: Recorder = next(part for part in container if type(part) is StagedItems).tensor._ag_trace
    made: Tensor = trace.materialize(container)
    return made


def is_staged(value: Any) -> bool:
    """Whether a value is a proxy, or a container whose contents the graph holds."""
    return is_tensor(value) or staged_as(value) is not None


def as_tensor(value: Any) -> Tensor:
    """The proxy of a staged value."""
    inside = None if is_tensor(value) else staged_as(value)
    return value if inside is None else inside


def graph_object_of(container: Any) -> Tensor | None:
    """The object of the graph that already holds the contents of a list, dict, set or deque."""
    if len(container) != 1 or type(container) is tuple:
        return None
    (first,) = container
    if type(first) is not StagedItems:
        return None
    if first.owner is None:
        first.owner = id(container)
    return first.tensor if first.owner == id(container) else None


@on_behalf
def drained(part: Any) -> Any:
    """A list of the items of an iterator or view of traced code, for a container of the graph; others as they are."""
    return list(part) if issubclass(type(part), (Iterator, MappingView)) and not hasattr(part, "readline") else part


def iterated_container(iterable: Any) -> Any:
    """The list, dict, set or deque that a loop over `iterable` reads: itself, or the dict that it is a view of."""
    if type(iterable) in STAGEABLE:
        return iterable
    if issubclass(type(iterable), MappingView) and module_of(type(iterable)) == "builtins":
        return next((part for part in referents(iterable) if type(part) in STAGEABLE), None)
    return None


def view_of_graph(trace: Recorder, iterable: Any, container: Any, proxy: Tensor) -> Any:
    """`proxy`, which holds the contents of a container, or the same view of it as `iterable` is of the container."""
    return proxy if iterable is container else trace.record(f".{type(iterable).__name__.rpartition('_')[2]}", (proxy,))


@on_behalf
def watched(iterable: Any) -> Any:
    """An iterator over a container that notices if the contents move to the graph.

    Raises:
        Materialize: they do; they have to before the loop.
    """
    container = iterated_container(iterable)
    return iterable if container is None or staged_as(container) is not None else _watched(container, iter(iterable))


@on_behalf
def _watched(container: Any, items: Iterator[Any]) -> Iterator[Any]:
    for item in items:
        yield item
        if staged_as(container) is not None:
            raise Materialize(container)


def is_watched(items: Any) -> bool:
    """Whether an iterator was made by `watched`."""
    return isinstance(items, GeneratorType) and items.gi_code is _watched.__code__


def iterator_class(items: Any) -> type:
    """The class that an iterator has in plain Python."""
    frame = items.gi_frame if is_watched(items) else None
    return type(items if frame is None else frame.f_locals["items"])


def spread(function: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)`, for a node."""
    return function(*args, **kwargs)


def has_staged_items(container: Any) -> bool:
    """Whether the graph holds items of a container."""
    return type(container) in STAGEABLE and is_spread(container.values() if type(container) in DICTS else container)


def is_spread(args: Iterable[Any]) -> bool:
    """Whether staged items, whose number only the graph knows, are among arguments."""
    return len(_TRACES) > 0 and StagedItems in map(type, args)


def graph_copy(trace: Recorder, container: Any) -> Tensor:
    """A new object of the graph with the contents of a container."""
    kind = type(container)
    if is_a(container, dict):
        proxy = _dict(trace, container)
        if kind is not dict:
            first = (container.default_factory,) if is_a(container, defaultdict) else ()
            proxy = trace.record("call", (kind, *first, proxy))
    else:
        proxy = _list(trace, container)
        if kind is tuple:
            return trace.record("tuple", (proxy,))  # type: ignore[no-any-return]
        if kind is not list:
            limit = (container.maxlen,) if is_a(container, deque) and container.maxlen is not None else ()
            proxy = trace.record("call", (kind, proxy, *limit))
    if kind not in (list, dict):
        proxy._ag_value.type = ObjectType(kind.__name__)
    return proxy  # type: ignore[no-any-return]


def _list(trace: Recorder, parts: Iterable[Any]) -> Any:
    found: Any = None
    run: list[Any] = []

    def add(items: Any) -> None:
        nonlocal found
        found = items if found is None else trace.record("add", (found, items))

    for part in parts:
        if type(part) is not StagedItems:
            run.append(part)
            continue
        if run:
            add(trace.constant(run))
            run = []
        add(trace.record("list", (part.tensor,)))
    if run or found is None:
        add(trace.constant(run))
    return found


def _dict(trace: Recorder, parts: dict[Any, Any]) -> Any:
    items = list(parts.items())
    start = next((at for at, (key, _) in enumerate(items) if type(key) is StagedItems), len(items))
    found: Any = trace.constant(dict(items[:start]))
    for key, value in items[start:]:
        if type(key) is StagedItems:
            trace.record(".update", (found, key.tensor))
        else:
            trace.record("setitem", (found, key, value))
    return found


def has_fixed_keys(items: dict[Any, Any], lower: Callable[[Any], Any]) -> bool:
    """Whether the keys of a dict are the same in each run, rather than objects that the graph reads or makes."""
    return all(type(key) in (str, int) or _is_same(lower(key), key) for key in items)


def _is_same(lowered: Any, key: Any) -> bool:
    return lowered is key or (type(key) is tuple and type(lowered) is tuple and all(map(_is_same, lowered, key)))


def replace_contents(container: Any, proxy: Tensor) -> None:
    """Replace the contents of a container by staged items, as `proxy` holds them."""
    item = StagedItems(proxy, id(container), 1 + is_a(container, dict))
    container.clear()
    if is_a(container, dict):
        container[item] = item
    else:
        (container.add if is_a(container, set) else container.append)(item)


def settle(trace: Recorder) -> None:
    """Materialize containers made of staged ones, such as `xs + ys`, before the graph changes anything."""
    before = list(trace.staged_items)
    trace.staged_items.clear()
    kept = []
    for item, count in zip(before, references(before)):
        if count > 0:   # else its container is gone, or has its old contents again
            kept.append(item)
        if count > item.count:
            for other in referrers(item):
                if type(other) in STAGEABLE and id(other) != item.owner and other is not before and other is not kept:
                    staged_as(other)
    trace.staged_items[:0] = kept


def rebind(state: Any, container: Any, proxy: Tensor) -> None:
    """Bind the variables that refer to a container to the proxy that holds its contents."""
    for variable, value in state.snapshot().items():
        if value is container:
            variable.set(proxy)


def contains_proxy(value: Any) -> bool:
    """Whether there is a proxy in a nested value."""
    if type(value) not in _NESTING:
        return is_tensor(value) or type(value) is StagedItems
    return any(is_tensor(part) or type(part) is StagedItems for part in _nested(value, _NESTING))


def _nested(value: Any, kinds: frozenset[type]) -> Iterator[Any]:
    """A value, and all values within containers of some kinds; each container once, as it may contain itself."""
    seen: set[int] = set()
    rest = [value]
    while rest:
        part = rest.pop()
        yield part
        kind = type(part)
        if kind in kinds and id(part) not in seen:
            seen.add(id(part))
            if kind is slice:
                rest += (part.start, part.stop, part.step)
            else:
                rest += part.values() if kind in DICTS else part


def shared_by(op: str, args: tuple[Any, ...]) -> list[Any]:
    """The containers among the arguments of an op, or in them, that its result may be or hold."""
    parts = (args,) if op in EXTREME and len(args) > 1 else args
    return [container for part in parts for container in _inner_containers(part)]


def _inner_containers(value: Any) -> Iterator[Any]:
    """The containers that are items of a tuple, list or the like, or of tuples in it."""
    if isinstance(value, tuple) or type(value) in STAGEABLE:
        for part in value.values() if isinstance(value, dict) else value:
            if isinstance(part, tuple):
                yield from _inner_containers(part)
            elif type(part) in STAGEABLE:
                yield part


def compared(trace: Recorder, value: Any) -> Any:
    """A value to be compared, or combined with a set: its proxy if it is staged, since C code ignores that."""
    if any(has_staged_items(part) for part in _nested(value, _HOLDING) if part is not value):
        trace.graph_break("a container is compared whose items are known only when the graph runs")
    return as_tensor(value) if is_staged(value) else value


def may_contain(value: Any, depth: int = 4) -> bool:
    """Whether a value, or one in its attributes, is or contains a proxy, a container or an object of a user's class."""
    if is_tensor(value) or type(value) in (list, dict, set):
        return True
    if is_users(type(value)) and not is_a(value, (type, Enum)):
        return True
    if is_a(value, tuple):
        kinds: frozenset[type] = frozenset({tuple, type(value)})
        return any(may_contain(part, depth) for part in _nested(value, kinds) if type(part) not in kinds)
    if contains_proxy(value):
        return True
    if depth and not is_a(value, (type, types.ModuleType)) and not callable(value):
        return any(may_contain(part, depth - 1) for part in (own_dict(value) or {}).values())
    return False
