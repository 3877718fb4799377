"""A loop of the graph that runs as machine code."""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.engines import numpy as numpy_engine
from autograph.runtime.engines.native.calls import Caller, fetch, kind_of
from autograph.runtime.engines.native.exits import Continuation, Copier, Exit
from autograph.runtime.engines.native.lowering import Lowering, Refused
from autograph.runtime.engines.native.machine import Code
from autograph.runtime.engines.native.structure import Key, Point, Structure
from autograph.runtime.graph import Graph, Node, Value

EXITS = 64          # in one call; then the rest of the loop is Python's
PATIENCE = 16       # calls that leave the code more than once on average, after which it is not used any more


class Version:
    """The machine code of a loop for inputs of certain kinds."""

    def __init__(self, structure: Structure, values: list[Value], inputs: tuple[Any, ...]) -> None:
        begin = time.perf_counter()
        lowering = Lowering(structure, {})
        self.caller = Caller(lowering.emit, inputs)
        lowering.inputs.update(zip(values, self.caller.operands))
        self.text = lowering.run()
        lowered = time.perf_counter()
        self.exits: list[Exit] = lowering.exits
        self.code = Code(self.text)
        self.seconds = {"lower": lowered - begin, "llvm": time.perf_counter() - lowered}
        self.frame = ctypes.c_char * (8 * max(self.caller.slots, lowering.slots, 1))
        self.calls = self.left = 0


class Region:
    """A loop as a function of what it begins with, and of the values that it uses.

    Attributes:
        versions: machine code by the kinds of inputs; None where it is of no use.
        reasons: why not.
        continuations: what is run where machine code is left.
    """

    def __init__(self, loop: Node, name: str, compile: Callable[[Graph], Any]) -> None:
        copier = Copier()
        args = [Value(_type_of(arg), None, arg.name if isinstance(arg, Value) else "") for arg in loop.args]
        copied = copier.node(loop, tuple(args))
        self.structure = Structure(copied)
        self.loop = loop
        self.values = [*args, *copier.params.values()]
        self.inputs = [*loop.args, *copier.params]
        self.name = name
        self.versions: dict[Any, Version | None] = {}
        self.reasons: list[str] = []
        self.continuations: dict[Point, tuple[list[Key], Any]] = {}
        self._compile = compile
        self._plain: Any = None

    def __call__(self, *inputs: Any) -> Any:
        exits = 0
        while True:
            version = self._version(inputs)
            if version is None:
                return self.plain(*inputs)
            frame = version.frame()
            try:
                version.caller.put(frame, *inputs)
            except struct.error:        # an integer of more than 64 bits
                return self.plain(*inputs)
            found = version.exits[version.code.run(ctypes.addressof(frame))]
            values = fetch(tuple(found.values), frame, inputs)[0]
            if found.at is None:
                return _returned(values)
            exits += 1
            self._count(version, inputs)
            going, *carried = self._go_on(found.at, dict(zip(found.keys, values)), inputs)
            if not going:
                return _returned(carried)
            rest = [_rest(values[found.keys.index(self.structure.root)])] if self.structure.root.op == "for" else []
            inputs = (*rest, *carried, *inputs[len(rest) + len(carried) :])
            if exits > EXITS:
                return self.plain(*inputs)

    @property
    def plain(self) -> Callable[..., Any]:
        """The loop as the NumPy engine runs it."""
        if self._plain is None:
            graph = Graph(self.name)
            copier = Copier()
            graph.block.params = [copier.arg(value) for value in self.values]
            node = copier.node(self.structure.root)
            graph.block.append(node)
            graph.block.results = (_returned(node.outputs),)
            self._plain = self._compile(graph)
        run: Callable[..., Any] = self._plain.run
        return run

    def executables(self) -> list[Any]:
        """All that the NumPy engine has made for it."""
        made = [executable for _, executable in self.continuations.values()]
        return made if self._plain is None else [*made, self._plain]

    def _version(self, inputs: tuple[Any, ...]) -> Version | None:
        kinds = tuple(map(kind_of, inputs))
        if kinds not in self.versions:
            try:
                self.versions[kinds] = Version(self.structure, self.values, inputs)
            except Refused as refused:
                self.versions[kinds] = None
                self.reasons.append(str(refused))
        return self.versions[kinds]

    def _count(self, version: Version, inputs: tuple[Any, ...]) -> None:
        """Give machine code up that is left again and again."""

    def _go_on(self, at: Point, values: dict[Key, Any], inputs: tuple[Any, ...]) -> Any:
        """Run what remains of a turn."""
        if at not in self.continuations:
            made = Continuation(self.structure, at, self.name)
            self.continuations[at] = made.keys, self._compile(made.graph)
        keys, executable = self.continuations[at]
        given: dict[Key, Any] = {**dict(zip(self.values, inputs)), **values}
        return executable.run(*(_rest(given[key]) if isinstance(key, Node) else given[key] for key in keys))


def _rest(iterator: Any) -> Any:
    """What is left to iterate over: a range, or an array from a place on."""
    return iterator[0][iterator[1] :] if isinstance(iterator, tuple) else iterator


def _returned(values: Any) -> Any:
    """What a region gives: one value as it is, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


def _type_of(arg: Any) -> Any:
    from autograph.runtime.types import type_of

    return arg.type if isinstance(arg, Value) else type_of(arg)


__all__ = ["Region", "np", "numpy_engine"]
