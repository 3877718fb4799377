"""Iterators over plain values that traced code makes.

Traced code takes items from such an iterator while it is traced. That holds as long as the number of items taken is the
same at each run. Where it is not, the function is traced once more, and what that line makes is an iterator of the
graph from the beginning:

    it = iter(xs)           # in the second trace: a node, over the list of the graph that `xs` is
    for x in it:
        if x > limit:       # in the first trace: only the graph knows how many items are taken
            break
    rest = list(it)
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from copy import copy
from types import WrapperDescriptorType
from typing import Any, Protocol

from autograph.common.cpython_internals import references
from autograph.common.statics import class_attribute
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.graph import Place, user_line
from autograph.runtime.tracing.proxies.graph_break import Materialize, Restart, Signal, Unstageable
from autograph.runtime.tracing.proxies.protocols import Recorder
from autograph.runtime.tracing.proxies.stand_in import DESCRIPTION, StandIn
from autograph.runtime.tracing.state.staged_containers import iterated_container, staged_as


class Tracing(Recorder, Protocol):
    """What an iterator asks of the trace that made it."""

    undo_log: Any
    asked: list[str]
    iterated: dict[int, Place]


class TracedIterator(StandIn):
    """An iterator over plain values, which notes in the undo log each item that is taken.

    Args:
        sources: the iterators that it takes items from.
        container: the list, dict, set or deque that it reads itself.
        place: where it was made; nothing if the graph can make no such iterator.
    """

    __slots__ = ("container", "place", "sources", "trace")
    __doc__, __module__ = DESCRIPTION

    def __init__(
        self,
        trace: Tracing,
        iterator: Iterator[Any],
        sources: tuple[Any, ...] = (),
        container: Any = None,
        place: Place = (),
    ) -> None:
        super().__init__(iterator)
        self.trace = trace
        self.place = place
        self.sources = sources
        self.container = container

    def __iter__(self) -> TracedIterator:
        return self

    @on_behalf
    def __next__(self) -> Any:
        if self.container is not None and staged_as(self.container) is not None:
            raise Materialize(self.container)
        self.trace.undo_log.touch(self)
        self.trace.asked.append("__next__")
        try:
            return next(self.__wrapped__)
        finally:
            self.trace.asked.pop()

    def __length_hint__(self) -> int:
        return operator.length_hint(self.__wrapped__)

    def __copy__(self) -> TracedIterator:
        return TracedIterator(self.trace, copy(self.__wrapped__), self.sources, self.container, self.place)

    @on_behalf
    def __reduce__(self) -> Any:
        raise self.staged("an iterator{} is asked what it consists of")

    @on_behalf
    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__reduce__()

    @on_behalf
    def __getattr__(self, name: str) -> Any:
        self.trace.undo_log.touch(self)      # for `__setstate__` and its like
        return getattr(self.__wrapped__, name)

    def staged(self, reason: str) -> Signal:
        """What to raise for it to be an iterator of the graph from the beginning.

        Args:
            reason: why it has to be one, with `{}` for its class; reported if the line that made it is unknown.
        """
        made_at = ("iterator", *(user_line(self.place) or ()))
        if len(made_at) > 1 and made_at not in self.trace.context.late:
            return Restart({made_at})
        return Unstageable(reason.format(f" (of class {type(self.__wrapped__).__name__})"), self.trace.place())

    @property
    def is_passive(self) -> bool:
        """Whether a program cannot notice that items are taken before they are used."""
        return type(self.__wrapped__) in PASSIVE and all(map(_is_passive, self.sources))

    def is_alone(self, holders: int) -> bool:
        """Whether nobody else will take items from it, or from its sources.

        Args:
            holders: how many references to it those have who ask.
        """
        if references([self])[0] > holders + _ASKING:
            return False
        # Each is known to that which takes items from it, to `sources` and to `source`.
        return all(type(source) is TracedIterator and source.is_alone(3) for source in self.sources)


_ITERABLES: tuple[Iterable[Any], ...] = (
    *([], (), range(0), "", b"", set(), {}, {}.values(), {}.items()),
    *(reversed([]), reversed({}), reversed(()), enumerate(()), zip(())),
)
PASSIVE = frozenset(type(iter(each)) for each in _ITERABLES)     # iterators that run no code but that of their sources


def _is_passive(source: Any) -> bool:
    return type(source) is TracedIterator and source.is_passive


def _references_while_asked() -> int:
    """How many references `is_alone` finds to an iterator that one variable names, without that of the variable."""
    iterator = unowned()
    return next(count for count in range(16) if iterator.is_alone(1 + count))


def unowned() -> TracedIterator:
    """An iterator of no trace, to count references to."""
    nowhere: Any = None
    return TracedIterator(nowhere, iter(()))


_ASKING = 0
_ASKING = _references_while_asked()


def is_iterator(thing: Any) -> bool:
    """Whether a thing is an iterator that Python made, rather than the user in Python."""
    return type(thing) is TracedIterator or type(class_attribute(type(thing), "__next__")) is WrapperDescriptorType


def is_staged_here(trace: Tracing) -> bool:
    """Whether what makes an iterator at this line of the program is to make one of the graph."""
    late = trace.context.late
    return bool(late) and ("iterator", *(user_line(trace.place()) or ())) in late


def traced(trace: Tracing, iterator: Iterator[Any], args: Iterable[Any] = (), container: Any = None) -> TracedIterator:
    """What traced code gets for an iterator over plain values that is made of `args`."""
    if type(iterator) is TracedIterator:
        return iterator
    sources = tuple(part for part in args if issubclass(type(part), Iterator))
    return TracedIterator(trace, iterator, sources, container, trace.place())


def iterables_of_graph(trace: Tracing, args: Iterable[Any]) -> tuple[Any, ...]:
    """Arguments for an iterator of the graph: the containers among them are objects of the graph, too."""
    return tuple(_iterable_of_graph(trace, part) for part in args)


def _iterable_of_graph(trace: Tracing, part: Any) -> Any:
    container = iterated_container(part)
    if container is None:
        return part
    trace.iterated[id(container)] = trace.place()
    proxy = trace.materialize(container)
    return proxy if part is container else trace.record(f".{type(part).__name__.rpartition('_')[2]}", (proxy,))
