"""Loop interchange: loops over iterations of elementwise operations become one kernel.

    for _ in range(iterations):
        x, y = x + dt * y, y - dt * x

In plain order, each iteration reads all of `x` and `y`, which may be larger than the cache, and makes new arrays. But
no element depends on another. So a strip of elements goes through all iterations in the cache, then the next strip
(`schedule.interchange`; Allen and Kennedy, "Automatic loop interchange", 1984). If a flag is raised, NumPy computes
everything again, iteration by iteration.

A call runs a limited number of iterations, so that Ctrl-C is handled in between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.structure import used_in
from autograph.runtime.engines.native.kernels.elementwise import has_rule, is_elementwise
from autograph.runtime.engines.native.kernels.kernel import MOST, STREAMS, Carried, Kernel
from autograph.runtime.engines.native.kernels.multi_nest import shape_of
from autograph.runtime.engines.native.kernels.views import Part, part_views
from autograph.runtime.graph.graph import Graph, Node, Value
from autograph.runtime.graph.types import INT, ObjectType

FIRST = 64          # iterations of the first call, or 1 while NumPy computes; each later call has twice as many
AT_ONCE = 1 << 26   # operations in a call, about 20 ms


class Interchange:
    """A loop that calls a kernel for some iterations at a time."""

    __ag_tame__ = True      # see `effects.tame`

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self._count = kernel, len(kernel.outputs)

    def __call__(self, iterations: range, *args: Any) -> Any:
        carried, others = args[: self._count], args[self._count :]
        most = max(1, AT_ONCE // (len(self._kernel.nodes) * max(1, *(each.size for each in carried))))
        count = 1 if self._kernel.on_trial else FIRST
        while iterations:
            count = min(count, most)
            now, iterations = iterations[:count], iterations[count:]
            found = self._kernel.entry(len(now), *carried, *others)
            carried = found if self._count > 1 else (found,)
            count *= 2
        return carried[0] if self._count == 1 else carried


def is_interchangeable(loop: Node, uses: Counter[Value]) -> bool:
    """Whether the whole body of a loop is elementwise, as far as types tell.

    Args:
        uses: the number of uses of each value.
    """
    over = loop.args[0].type if loop.op == "for" and isinstance(loop.args[0], Value) else None
    if not isinstance(over, ObjectType) or over.name != "range" or loop.kwargs != {"target": 0}:
        return False
    body = loop.blocks[0]
    (item, *params), results = body.params, body.results
    computed = {value for node in body.nodes for value in node.outputs}
    if uses[item] or not results or len({*results}) < len(results) or not computed.issuperset(results):
        return False
    types = [each.type for each in params]
    if any([arg.type for arg in args if isinstance(arg, Value)] != types for args in (results, loop.args[1:])):
        return False
    if len(body.nodes) > MOST or len(params) + len(used_by(loop)) > STREAMS:
        return False
    views = part_views(body.nodes, uses)
    if not all(is_elementwise(node) or node in views for node in body.nodes):
        return False
    if not all(has_rule(node) and uses[node.output] for node in body.nodes):
        return False
    return len({*map(shape_of, body.nodes)}) == 1


def used_by(loop: Node) -> list[Value]:
    """The values that such a loop uses and does not carry."""
    body = loop.blocks[0]
    inner = {*body.params, *(value for node in body.nodes for value in node.outputs)}
    return [value for value in used_in([body]) if value not in inner]


def interchanged(
    loop: Node, inputs: Sequence[Value], name: str, compile: Callable[[Graph], Any], make: Callable[..., Kernel]
) -> Kernel:
    """The kernel of such a loop, a function of the trip count, the carried values and the values that it uses.

    Args:
        inputs: the values that it uses.
    """
    body, iterations = loop.blocks[0], Value(INT, None, "iterations")
    params, results = body.params[1:], list(body.results or ())
    operands = [iterations, *params, *inputs]
    carried = Carried(iterations, dict(zip(params, results)))

    def python() -> Any:
        graph, copier = Graph(name), Copier()
        count, *begin = (graph.block.add_param(value.type, value.name) for value in operands)
        copier.values.update(zip(inputs, begin[len(params) :]))
        every = graph.block.append(Node("range", (count,), place=loop.place)).add_output(loop.args[0].type)
        copy = graph.block.append(copier.node(loop, (every, *begin[: len(params)])))
        found = tuple(copy.outputs)
        graph.block.results = (found[0] if len(found) == 1 else found,)
        return compile(graph)

    parts = [Part(place) for place in range(len(operands))]
    return make(body.nodes, operands, results, python, operands, parts, carried)
