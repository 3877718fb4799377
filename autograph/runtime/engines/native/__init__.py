"""The engine that compiles loops to machine code, through LLVM.

The graph is run as the NumPy engine runs it, but for its *regions*: loops that the machine can do. Such a loop becomes
the call of a `Region`, which is compiled when it is first called, for the kinds of objects that it gets.

    regions      which loops, and the graph in which they are calls
    region       a loop at run time: machine code by kinds of inputs, and what happens when that is left
    structure    how the blocks of a loop nest, what is live where
    lowering     blocks to machine code, with a version for each combination of types
    emitter      operations to LLVM's assembly
    calls        Python's objects to machine code and back
    exits        from machine code back to Python, at any node
    machine      LLVM

Machine code never does anything else than Python and NumPy would do: where it would, it is left, and Python goes on at
the very node.
"""

from __future__ import annotations

from typing import Any

from autograph.runtime.engines import numpy
from autograph.runtime.engines.native.machine import binding
from autograph.runtime.engines.native.region import Region
from autograph.runtime.engines.native.regions import Splitter
from autograph.runtime.graph import Graph

__all__ = ["Executable", "Region", "compile"]


class Executable:
    """A graph that can be called; see `autograph.runtime.engines.numpy.Executable`.

    Attributes:
        regions: the loops in it that are machine code.
    """

    def __init__(self, graph: Graph, around: numpy.Executable, regions: list[Region]) -> None:
        self.graph = graph
        self.regions = regions
        self._around = around
        self.run = around.run

    def __call__(self, *args: Any) -> Any:
        try:
            return self.run(*args)
        except BaseException as error:
            self.translate(error)
            raise

    @property
    def source(self) -> str:
        """The text of the function around the machine code."""
        return self._around.source

    def translate(self, error: BaseException) -> None:
        """See `autograph.runtime.engines.numpy.Executable.translate`."""
        self._around.translate(error)


def compile(graph: Graph, *, module: dict[str, Any] | None = None, filename: str | None = None) -> Executable:
    """Make a graph a function; see `autograph.runtime.engines.numpy.compile`.

    Raises:
        EngineError: llvmlite is not installed.
    """
    binding()
    splitter = Splitter(graph, lambda piece: numpy.compile(piece, module=module))
    around = numpy.compile(splitter.graph, module=module, filename=filename)
    return Executable(graph, around, splitter.regions)
