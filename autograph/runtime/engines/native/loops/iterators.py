"""How machine code goes through what is no range and no array of numbers: by an iterator of Python's."""

from __future__ import annotations

from typing import Any

from autograph.runtime.engines.native.analysis.structure import Point
from autograph.runtime.engines.native.loops.python_calls import PythonCallbacks
from autograph.runtime.graph.graph import Block, Node, Value
from autograph.runtime.graph.operands import Array, Boxed
from autograph.runtime.graph.types import ANY, BOOL, TensorType


class Iterators(PythonCallbacks):
    """Emits loops over iterators, which are objects like any others."""

    def _walk(self, block: Block, index: int = 0) -> None:
        raise NotImplementedError

    def _after(self, node: Node, results: list[Any]) -> None:
        raise NotImplementedError

    def _iterator(self, node: Node, iterable: Any) -> Boxed:
        """What Python's `iter` gives for what a loop is to go through."""
        made = Node("iter", (Value(ANY),), place=node.place)
        callback = self._callback((node, "iter"), [made], [made.add_output(ANY)])
        found = Boxed(self._called(callback, [iterable]))
        self._own(node, found.ref)
        if isinstance(iterable, Array):
            self._rows[node] = TensorType(iterable.dtype, (None,) * (iterable.ndim - 1))
        return found

    def _next_of(self, node: Node, iterator: Boxed, items: int) -> None:
        """An iteration of a `for`, if there is another item."""
        emit, body, target = self.emit, node.blocks[0], node.kwargs.get("target", 0)
        carried = [self._fetch(param) for param in body.params[items:]]
        iteration, done = emit.label("iteration"), emit.label("done")
        emit.poll("1", self._stop, emit.here)
        item = emit.python("PyIter_Next", iterator.ref)
        emit.branch(emit.is_null(item), done, iteration)
        state = self._state.copy()
        emit.found = {}
        emit.begin(iteration)
        self._assign(node, target, item)
        for param in body.params[:items]:
            self._expected(param, self._rows.get(node, param.type) if target == 0 else param.type)
        self._leave_from(Point(body, 0))
        if self._taken(body.params[:items], body):
            self._walk(body)
        self._state = state
        self._leave_from(None)
        emit.found = {}
        emit.begin(done)
        raised = emit.integer("xor", emit.is_null(emit.python("PyErr_Occurred")), emit.constant(True, BOOL))
        emit.stop_if(raised, lambda: self._raise_again(node))
        self._after(node, carried)

    def _assign(self, node: Node, target: Any, thing: str) -> None:
        """Let a loop's items be what a new reference refers to, or its parts."""
        if isinstance(target, int):
            param = node.blocks[0].params[target]
            self._define(param, Boxed(thing))
            self._own(param, thing)
            return
        whole = node, (id(target),)
        self.emit.keep_object(whole, thing)
        self._state.owned[whole] = thing
        parts = self._apart(node, thing, len(target))
        del self._state.owned[whole]
        self.emit.forget(thing)
        inner = []
        for each, part in zip(target, parts):
            if isinstance(each, int):
                self._assign(node, each, part)
            else:
                self.emit.keep_object((node, (id(each), 0)), part)
                self._state.owned[node, (id(each), 0)] = part
                inner.append((each, part))
        for each, part in inner:
            del self._state.owned[node, (id(each), 0)]
            self._assign(node, each, part)

    def _apart(self, node: Node, thing: str, count: int) -> list[str]:
        """New references to the parts of an object, of which there should be so many."""
        emit = self.emit
        made = Node("unpack", (Value(ANY), count), place=node.place)
        callback = self._callback((node, "unpack", count), [made], [made.add_output(ANY) for _ in range(count)])
        if count == 1:
            return [self._called(callback, [Boxed(thing)])]
        is_tuple, fits, other, on = (emit.label(name) for name in ("tuple", "fits", "other", "on"))
        emit.branch(emit.is_of_class(thing, tuple), is_tuple, other)
        emit.begin(is_tuple)
        emit.branch(emit.has_size(thing, count), fits, other)
        emit.begin(fits)
        emit.keep_object((node, "parts"), emit.another(thing))
        emit.jump(on)
        emit.begin(other)
        emit.keep_object((node, "parts"), self._called(callback, [Boxed(thing)]))
        emit.jump(on)
        emit.begin(on)
        return self._parts(emit.kept_object((node, "parts")), count)

    def _raise_again(self, node: Node) -> None:
        """Raise what an iterator has raised, at the line of the loop."""
        made = Node("raise", (Value(ANY),), place=node.place)
        error = self.emit.take_exception()
        self.emit.call(self.emit.address(self._callback((node, "raise"), [made], [])), [error])
        self.emit.forget(error)
        self._stop()
