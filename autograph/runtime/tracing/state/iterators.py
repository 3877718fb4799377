"""Iterators over plain values that traced code makes.

Traced code takes items from such an iterator during the trace, as long as each run takes the same number of items.
Otherwise the function is traced again, and this line makes an iterator of the graph:

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
from typing import Any

from autograph.common.cpython_internals import references
from autograph.common.statics import class_attribute
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.graph import Place, user_line
from autograph.runtime.tracing.proxies.context import Recorder
from autograph.runtime.tracing.proxies.graph_break import Materialize, Restart, Signal, Unstageable
from autograph.runtime.tracing.proxies.stand_in import DESCRIPTION, StandIn
from autograph.runtime.tracing.state.staged_containers import iterated_container, staged_as, view_of_graph


class TracedIterator(StandIn):
    """An iterator over plain values, which notes in the undo log that items are taken.

    Args:
        sources: the iterators that it takes items from.
        container: the list, dict, set or deque that it reads itself.
        place: the line that made it; none if the graph cannot make such an iterator.
    """

    __slots__ = ("container", "place", "sources", "trace")
    __doc__, __module__ = DESCRIPTION

    def __init__(
        self,
        trace: Recorder,
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
        self.trace.special_calls.append("__next__")
        try:
            return next(self.__wrapped__)
        finally:
            self.trace.special_calls.pop()

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
        self.trace.undo_log.touch(self)      # it may be `__setstate__`
        return getattr(self.__wrapped__, name)

    def staged(self, reason: str) -> Signal:
        """The signal to raise so that the graph makes the iterator.

        Args:
            reason: why it has to, with `{}` for the iterator's class; reported if its line is unknown.
        """
        made_at = ("iterator", *(user_line(self.place) or ()))
        if len(made_at) > 1 and made_at not in self.trace.context.late:
            return Restart({made_at})
        return Unstageable(reason.format(f" (of class {type(self.__wrapped__).__name__})"), self.trace.place())

    @property
    def is_passive(self) -> bool:
        """Whether a program cannot notice that items are taken before they are used."""
        return type(self.__wrapped__) in PASSIVE and all(map(_is_passive, self.sources))

    def is_exclusive(self, holders: int) -> bool:
        """Whether no other code can take items from it, or from its sources.

        Args:
            holders: the number of references to it by the code that asks.
        """
        if references([self])[0] > holders + _OWN_REFERENCES:
            return False
        # The references to each: by the iterator that takes its items, by `sources` and by `source`.
        return all(type(source) is TracedIterator and source.is_exclusive(3) for source in self.sources)


_ITERABLES: tuple[Iterable[Any], ...] = (
    *([], (), range(0), "", b"", set(), {}, {}.values(), {}.items()),
    *(reversed([]), reversed({}), reversed(()), enumerate(()), zip(())),
)
PASSIVE = frozenset(type(iter(each)) for each in _ITERABLES)     # iterators that only run the code of their sources


def _is_passive(source: Any) -> bool:
    return type(source) is TracedIterator and source.is_passive


def unowned() -> TracedIterator:
    """An iterator without a trace, to count references to it."""
    nowhere: Any = None
    return TracedIterator(nowhere, iter(()))


def _count_own_references() -> int:
    """The number of references that `is_exclusive` finds to an iterator, besides that of one variable."""
    iterator = unowned()
    return next(count for count in range(16) if iterator.is_exclusive(1 + count))


_OWN_REFERENCES = 0
_OWN_REFERENCES = _count_own_references()


def is_iterator(thing: Any) -> bool:
    """Whether a thing is an iterator of a built-in class."""
    return type(thing) is TracedIterator or type(class_attribute(type(thing), "__next__")) is WrapperDescriptorType


def is_staged_here(trace: Recorder) -> bool:
    """Whether the graph is to make the iterators of the current line."""
    late = trace.context.late
    return bool(late) and ("iterator", *(user_line(trace.place()) or ())) in late


def traced(trace: Recorder, iterator: Iterator[Any], args: Iterable[Any] = (), container: Any = None) -> TracedIterator:
    """The traced iterator for one over plain values that is made from `args`."""
    if type(iterator) is TracedIterator:
        return iterator
    sources = tuple(part for part in args if issubclass(type(part), Iterator))
    return TracedIterator(trace, iterator, sources, container, trace.place())


def iterables_of_graph(trace: Recorder, args: Iterable[Any]) -> tuple[Any, ...]:
    """Arguments for an iterator of the graph: containers among them become objects of the graph."""
    return tuple(_iterable_of_graph(trace, part) for part in args)


def _iterable_of_graph(trace: Recorder, part: Any) -> Any:
    container = iterated_container(part)
    if container is None:
        return part
    trace.iterated[id(container)] = trace.place()
    return view_of_graph(trace, part, container, trace.materialize(container))
