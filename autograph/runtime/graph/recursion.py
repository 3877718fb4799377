"""Functions that call themselves: the call of the function in its own graph.

Where only data decide how deep a function recurses, its graph calls the function. Machine code of the whole graph calls
itself there, see `engines/native/loops/recursion.py`. Anything else that runs the node calls `Itself`, and all levels
below run as plain Python: to enter the graph again at each level would take longer, and more of Python's stack.

Other graphs call such a function in its staged form, a `Helper`, whose machine code theirs calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, NamedTuple

from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, piece, walk
from autograph.runtime.graph.types import TensorType, type_of

FEW = 50        # nodes


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


class Target(NamedTuple):
    """The code of a helper for arguments of certain kinds.

    Attributes:
        executable: that of its trace.
        names: the parameters of the helper, in order.
        shapes: the lengths of arrays for which the trace is, None for any, by parameter.
        holds: whether the guards of the trace hold.
    """

    executable: Any
    names: tuple[str, ...]
    shapes: dict[str, tuple[int | None, ...]]
    holds: Callable[[], bool]


class Helper:
    """A staged function that graphs call, since only data decide how deep it recurses.

    Attributes:
        links: the links of machine code to its machine code, by the kinds of arguments.
    """

    __slots__ = ()
    links: dict[Any, Any]

    def target(self, values: Sequence[Any]) -> Target | None:
        """The code for some arguments, made if need be; None if only a call in Python finds it."""
        raise NotImplementedError


def helper_in(node: Node) -> Helper | None:
    """The helper that a node calls, with places only, if it calls one."""
    called = node.args[0] if node.args and not node.kwargs and node.op == "call" else None
    found = called.value if isinstance(called, Constant) else called
    return found if isinstance(found, Helper) else None


def itself_in(node: Node) -> Itself | None:
    """The function that a node calls, if that is the one of its own graph."""
    called = node.args[0] if node.args else None
    found = called.value if isinstance(called, Constant) else called
    return found if isinstance(found, Itself) else None


def as_one(graph: Graph) -> Block | None:
    """A block of one node, the `if True:` around a graph that calls its own function; None for other graphs.

    So is the block of a graph that does little else than to call helpers.
    """
    block = graph.block
    if block.results is None or not (any(itself_in(node) for node in walk(block)) or _only_calls_helpers(block)):
        return None
    (result,) = block.results
    if isinstance(result, (tuple, list, dict, Constant)):
        return None
    body, whole = Block(block.nodes), Block()
    body.results, whole.params = (result,), block.params
    node = whole.append(piece(body, block.nodes[0].place, {"itself": True}))
    made = node.add_output(type_of(result))
    is_made = isinstance(result, Value) and result.node is not None     # else it is the same without this node
    whole.results = (made if is_made else result,)
    return whole


def _only_calls_helpers(block: Block) -> bool:
    """Whether a block computes with numbers, and calls helpers, without a loop, which would be a region by itself."""
    nodes = list(walk(block))
    values = [value for node in nodes for value in node.outputs]
    is_array = any(isinstance(each.type, TensorType) and each.type.kind == "array" for each in values)
    return any(map(helper_in, nodes)) and len(nodes) <= FEW and not is_array and not any(map(_has_loop, nodes))


def _has_loop(node: Node) -> bool:
    return bool(node.blocks) and node.op != "if"


def calls_itself(node: Node) -> bool:
    """Whether a node is the one around such a graph."""
    return "itself" in node.kwargs


def calls_levels(root: Node) -> bool:
    """Whether machine code of a node may call machine code of functions, so that it is a level itself."""
    return calls_itself(root) or any(helper_in(node) for block in root.blocks for node in walk(block))
