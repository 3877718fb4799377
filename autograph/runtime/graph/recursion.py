"""Functions that call themselves: the call of the function in its own graph.

Where only data decide how deep a function recurses, its graph calls the function. Machine code of the whole graph calls
itself there, see `engines/native/loops/recursion.py`. Anything else that runs the node calls `Itself`, and all levels
below run as plain Python: to enter the graph again at each level would take longer, and more of Python's stack.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, walk
from autograph.runtime.graph.types import type_of


class Itself:
    """A function in its own graph.

    Args:
        function: the plain one.
        staged: the staged function that the program calls; None if that is the plain one.
        names: the parameters that the arguments of a call are for, in order.
        keywords: how many of these, at the end, take keywords only.

    Attributes:
        fits: whether machine code may call itself, as another call needs no other graph.
    """

    def __init__(
        self, function: FunctionType, staged: Any, names: tuple[str, ...], keywords: int, fits: bool
    ) -> None:
        self.function = function
        self.names = names
        self.fits = fits
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__ = function.__module__
        self._staged = getattr(staged, "__ag_function__", staged)
        self._positional = len(names) - keywords

    def __call__(self, *args: Any) -> Any:
        first = self._positional
        keywords = dict(zip(self.names[first:], args[first:]))
        if self._staged is None:
            return self.function(*args[:first], **keywords)
        with self._staged.plainly:
            return self.function(*args[:first], **keywords)


def itself_in(node: Node) -> Itself | None:
    """The function that a node calls, if that is the one of its own graph."""
    called = node.args[0] if node.args else None
    found = called.value if isinstance(called, Constant) else called
    return found if isinstance(found, Itself) else None


def as_one(graph: Graph) -> Block | None:
    """A block of one node, the `if True:` around a graph that calls its own function; None for other graphs."""
    block = graph.block
    if block.results is None or not any(itself_in(node) for node in walk(block)):
        return None
    (result,) = block.results
    if isinstance(result, (tuple, list, dict, Constant)):
        return None
    body, never, whole = Block(block.nodes), Block(), Block()
    body.results, never.results, whole.params = (result,), None, block.params
    node = whole.append(Node("if", (True,), {"itself": True}, (body, never), block.nodes[0].place))
    made = node.add_output(type_of(result))
    is_made = isinstance(result, Value) and result.node is not None     # else it is the same without this node
    whole.results = (made if is_made else result,)
    return whole


def calls_itself(node: Node) -> bool:
    """Whether a node is the one around such a graph."""
    return "itself" in node.kwargs
