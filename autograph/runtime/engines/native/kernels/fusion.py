"""Fusion: decides which operations on whole arrays become one kernel.

In a block, elementwise nodes of one shape wait. They run when a node comes that uses one of them, or that may raise,
warn or change anything; so effects keep their order, and arrays are read before they change. The nodes that have waited
together become a `Kernel`. Its results are the values that are used elsewhere; the others never are arrays.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from operator import matmul
from typing import Any

from autograph.runtime.engines.native.abi import list_functions
from autograph.runtime.engines.native.analysis.clone import Copier
from autograph.runtime.engines.native.analysis.structure import used_in
from autograph.runtime.engines.native.kernels import elementwise, indices, loop_interchange
from autograph.runtime.engines.native.kernels.entry_points import COSTLY
from autograph.runtime.engines.native.kernels.kernel import MOST, STREAMS, Kernel
from autograph.runtime.engines.native.kernels.masks import masked_writes
from autograph.runtime.engines.native.kernels.multi_nest import goes_on, shape_of
from autograph.runtime.engines.native.kernels.views import Part, WaitingSlices, is_narrower, is_slice, part_views
from autograph.runtime.engines.native.libmath.ufunc_loops import is_costly
from autograph.runtime.engines.native.matmul.autotune import Autotuned, is_larger_product
from autograph.runtime.engines.native.matmul.small import SOON, Product, is_small_product
from autograph.runtime.graph.effects import effect_of
from autograph.runtime.graph.graph import Block, Graph, Node, Value
from autograph.runtime.graph.opdef import PURE, VIEW, lookup
from autograph.runtime.graph.operands import DTYPES
from autograph.runtime.graph.traits import OUTER, SLOW_IN_NUMPY
from autograph.runtime.graph.types import TensorType
from autograph.runtime.passes.speculatable import is_quiet


class Fuser(Copier):
    """Copies a graph, and replaces operations on arrays by calls of kernels.

    Args:
        make: makes a kernel, as `Kernel` does.
        compile: compiles a graph for the NumPy engine.
        after: see `Product`.
        known: kernels of the same graph from before; nodes of those that are given up stay as they are.
        module: see `Product`.

    Attributes:
        graph: the copy.
        kernels: the kernels that it calls.
    """

    def __init__(
        self,
        graph: Graph,
        make: Callable[..., Kernel],
        compile: Callable[[Graph], Any],
        after: int = SOON,
        known: Sequence[Kernel] = (),
        module: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self._after = after
        self._module = module
        self._known = {tuple(kernel.sources): kernel for kernel in known}
        self._without = {node for kernel in known if kernel.is_given_up for node in kernel.given_up}
        self._sources: dict[Node, Node] = {}
        self._outer: dict[Node, Node] = {}      # those that `_broadcast` has made
        self._places: dict[Node, int] = {}
        self._part_views: set[Node] = set()
        self.kernels: list[Kernel] = []
        self._make = make
        self._compile = compile
        self._name = graph.name
        self._uses = used_in([graph.block])
        self._waiting: list[Node] = []
        self._slices, self._into = WaitingSlices(self._uses), Block()
        self.graph = Graph(graph.name, self.block(graph.block))

    def fill(self, into: Block, nodes: Sequence[Node]) -> None:
        outer, self._into = self._into, into
        self._fuse(nodes)
        self._copy(self._slices.pop_all())
        self._into = outer

    def _leaf(self, leaf: Any) -> Any:
        node = self._slices.pop(leaf) if isinstance(leaf, Value) else None
        if node is not None:
            self._copy([node])
        return super()._leaf(leaf)

    def _copy(self, nodes: Sequence[Node]) -> None:
        """Leave nodes to NumPy."""
        for node in nodes:
            self._into.append(self.node(node))

    def _fuse(self, nodes: Sequence[Node]) -> None:
        self._part_views |= part_views(nodes, self._uses)
        writes = masked_writes(nodes, self._uses)
        writes = {node: each for node, each in writes.items() if self._without.isdisjoint([node, *each])}
        deferred = {each for members in writes.values() for each in members}
        for each in nodes:
            self._places[each] = len(self._places)
            node = each if each in self._without else self._broadcast(each)
            if node in self._without:
                self._flush()
                self._copy([*self._slices.pop_unsure(), node])
            elif node in writes:
                self._write_masked(node, writes[node])
            elif node in deferred:
                continue
            elif is_slice(node):
                if self._uses_waiting(node):
                    self._flush()
                self._slices.add(node)
            elif loop_interchange.is_interchangeable(node, self._uses):
                self._flush()
                self._copy(self._slices.pop_unsure())
                self._interchange(node)
            elif not self._joins(node):
                self._stands_alone(node)
        self._flush()

    def _write_masked(self, node: Node, members: list[Node]) -> None:
        """Run a write under a mask, with the nodes that compute what it writes."""
        every = [*self._waiting, *members, node]
        uses = any(map(self._uses_waiting, [*members, node])) and not self._waits(node.args[0])
        fits = len(every) <= MOST and len(_inputs(every)) <= STREAMS and not any(map(goes_on, self._waiting))
        if not (uses and fits and len(shape_of(self._waiting[0])) == node.args[0].type.ndim):
            self._flush()
        self._waiting += [*members, node]
        self._flush()

    def _broadcast(self, node: Node) -> Node:
        """`a[:, None] + b` in the place of `np.add.outer(a, b)`, and `a[:, None] * b` in that of `np.outer(a, b)`."""
        if node.op not in OUTER or node.kwargs or len(node.args) != 2 or not all(map(_is_array, node.args)):
            return node
        first, second = node.args
        if getattr(node.output.type, "ndim", 0) != first.type.ndim + second.type.ndim:
            return node     # `np.outer` makes vectors of its arguments
        wide = Node("getitem", (first, (slice(None),) * first.type.ndim + (None,) * second.type.ndim), place=node.place)
        view = wide.add_output(TensorType(first.type.dtype, first.type.shape + (1,) * second.type.ndim))
        found = Node(OUTER[node.op], (view, second), place=node.place)
        found.outputs = node.outputs
        self._uses[view] = 1
        self._sources[found] = node
        self._outer[found] = self._outer[wide] = node
        self._places[wide] = self._places[found] = self._places[node]
        if self._uses_waiting(wide):
            self._flush()
        self._slices.add(wide)
        return found

    def _for_numpy(self, nodes: Sequence[Node]) -> list[Node]:
        """Nodes as NumPy runs them, for it warns at the places of `np.outer` itself."""
        return [*dict.fromkeys(self._outer.get(node, node) for node in nodes)]

    def _joins(self, node: Node) -> bool:
        """Let a node wait, or be the last of those that wait, if it can."""
        if self._may_wait(node):
            if self._waiting and not self._fits(node):
                self._flush()
            self._waiting.append(node)
        elif self._writes(node):
            self._waiting.append(self._written(node))
            self._flush()
        elif self._ends(node):
            if not self._uses_waiting(node) or not self._follows(node) or not self._are_one_row(node):
                self._flush()
            self._waiting.append(node)
            if not goes_on(node):
                self._flush()
        else:
            return False
        return True

    def _stands_alone(self, node: Node) -> None:
        """Run a node that is no part of a kernel."""
        if node in self._outer:
            self._slices.pop(node.args[0])
            node = self._outer[node]
        if self._waiting and not self._is_indifferent(node):
            self._flush()
        if node.blocks or effect_of(node).kind not in (PURE, VIEW):
            self._copy(self._slices.pop_all())
        elif not is_quiet(node) or self._slices.unsure_of(node.inputs):
            self._copy(self._slices.pop_unsure())
        if is_small_product(node) or is_larger_product(node):
            kind = Product if is_small_product(node) else Autotuned
            product = kind(lookup(node.op).target or matmul, self._after, node.place, self._module)
            self.call(self._into, product, node.args, node.outputs, node.place)
        elif list_functions.is_list_function(node):
            self.call(self._into, list_functions.made_for(node, self._after), node.args, node.outputs, node.place)
        else:
            self._copy([node])

    def _may_wait(self, node: Node) -> bool:
        """Whether a node is elementwise, and its result is used."""
        return (elementwise.is_elementwise(node) or node in self._part_views) and self._uses[node.output] > 0

    def _fits(self, node: Node) -> bool:
        """Whether a node may wait together with those that wait."""
        if len(self._waiting) >= MOST or len(_inputs([*self._waiting, node])) > STREAMS:
            return False
        return self._follows(node)

    def _follows(self, node: Node) -> bool:
        """Whether a node has the shape of the first one, or, after a reduction of rows, one element for each row."""
        first, shape = shape_of(self._waiting[0]), shape_of(node)
        if not any(map(goes_on, self._waiting)):
            return first == shape
        reduction, sums = elementwise.reduction_of(node), elementwise.sums_of(node)
        ends = sums is not None or (reduction is not None and reduction.whole)
        return self._uses_waiting(node) and shape in (first, (*first[:-1], 1)) and not ends

    def _ends(self, node: Node) -> bool:
        """Whether a node is a reduction that a kernel can end with."""
        sums = elementwise.sums_of(node)
        if (elementwise.reduction_of(node) is None and sums is None) or not self._uses[node.output]:
            return False
        if sums is not None and not self._uses_waiting(node):
            return False        # NumPy adds up whole arrays as fast
        type = node.output.type
        is_number = isinstance(type, TensorType) and type.kind == "scalar" and type.exact and type.dtype.char in DTYPES
        return elementwise.is_numeric(node.args[0].type, 1) and (is_number or elementwise.is_numeric(type, 1))

    def _are_one_row(self, node: Node) -> bool:
        """Whether the elements that a node reduces may be one row, in the order in which NumPy reduces them."""
        reduction, shape = elementwise.reduction_of(node), shape_of(node)
        if reduction is None or not reduction.whole or len(shape) == 1:
            return True
        arrays = [value for value in _inputs(self._waiting) if elementwise.is_numeric(value.type, 1)]
        narrow = any(is_narrower(each) for value in arrays for each in self._slices.of(value))
        return not narrow and all(value.type.shape == shape for value in arrays)  # type: ignore[union-attr]

    def _waits(self, value: Value) -> bool:
        return any(value in node.outputs for node in self._waiting)

    def _writes(self, node: Node) -> bool:
        """Whether a node writes a result of waiting nodes into an array."""
        target = elementwise.target_of(node) if elementwise.mask_of(node) is None else None
        if target is None or not self._uses_waiting(node) or self._waits(target):
            return False
        if any(map(goes_on, self._waiting)) or not elementwise.is_numeric(target.type, 1):
            return False
        if elementwise.is_whole(node) and target.type.shape != self._waiting[0].output.type.shape:  # type: ignore[union-attr]
            return False
        return node.op == "setitem" or (elementwise.has_loop(node) and all(map(elementwise.is_operand, node.args)))

    def _written(self, node: Node) -> Node:
        """A write into a whole array in the place of one into a part: `part[...] = …` for `x[1:-1] = …`."""
        if elementwise.is_whole(node):
            return node
        target, index, value = node.args
        part = Node("getitem", (target, index), place=node.place)
        ndim = target.type.ndim + indices.axes_added(index)
        view = part.add_output(TensorType(target.type.dtype, (None,) * ndim))
        if is_slice(part):
            self._slices.add(part)
        else:
            self._copy([part])
        written = Node("setitem", (view, ..., value), place=node.place)
        self._sources[written] = node
        self._places[part] = self._places[written] = self._places[node]
        return written

    def _uses_waiting(self, node: Node) -> bool:
        return any(map(self._waits, node.inputs))

    def _slices_of(self, inputs: Sequence[Any], nodes: Sequence[Node]) -> dict[Value, list[Node]]:
        """The slices that a kernel takes itself, for each input: none if the rows of all are adjacent."""
        found = {value: self._slices.of(value) for value in inputs}
        if (target := _object_of(nodes)) is not None:
            found[target] = []
        if not any(is_narrower(node) for chain in found.values() for node in chain):
            return {}
        return {value: chain for value, chain in found.items() if chain}

    def _is_indifferent(self, node: Node) -> bool:
        """Whether a node may run before those that wait."""
        quiet = not node.blocks and is_quiet(node) and effect_of(node).kind in (PURE, VIEW)
        return quiet and not self._uses_waiting(node) and not self._slices.unsure_of(node.inputs)

    def _flush(self) -> None:
        """Run the nodes that wait, and slices whose indices may be out of bounds in order with them."""
        waiting, self._waiting = self._waiting, []
        while waiting and self._slices.unsure and not self._takes_all(waiting):
            first = next(iter(self._slices.unsure))
            before = [node for node in waiting if self._places[node] < self._places[first]]
            waiting = waiting[len(before) :]
            for nodes in _parts(before):
                self._run(nodes)
            self._slices.pop(first.output)
            self._copy([first])
        for nodes in _parts(waiting):
            self._run(nodes)

    def _takes_all(self, nodes: list[Node]) -> bool:
        """Whether nodes are one kernel, which takes all slices whose indices may be out of bounds."""
        return len(_parts(nodes)) == 1 and self._slices.unsure.keys() == set(self._taken(nodes))

    def _taken(self, nodes: list[Node]) -> list[Node]:
        """Those of these slices that a kernel of some nodes takes itself."""
        return self._slices.unsure_of(value for value in _inputs(nodes) if value is not _object_of(nodes))

    def _run(self, every: list[Node]) -> None:
        """Run nodes as a kernel, if that pays, and views that others use as they are."""
        inside = Counter(value for node in every for value in node.inputs)
        views = [node for node in every if node in self._part_views and self._uses[node.output] > inside[node.output]]
        nodes = [node for node in every if node not in views or inside[node.output]]
        if sum(node not in self._part_views for node in nodes) < 2 and not any(map(pays_alone, nodes)):
            taken = self._taken(every)
            for each in taken:
                self._slices.pop(each.output)
            for each in every:
                if each in self._outer:
                    self._slices.pop(each.args[0])
            self._copy(self._for_numpy(sorted([*taken, *every], key=self._places.__getitem__)))
            return
        viewed = {node.args[0] for node in views}
        computed = [value for node in nodes if node not in views for value in node.outputs]
        outputs = [value for value in computed if self._uses[value] > inside[value] or value in viewed]
        self._call_kernel(nodes, inside, outputs)
        self._copy(views)

    def _call_kernel(self, nodes: list[Node], inside: Counter[Value], outputs: list[Value]) -> None:
        inputs = _inputs(nodes)
        sources = [self._sources.get(node, node) for node in nodes]
        slices = self._slices_of(inputs, nodes)
        self._slices.used({value: inside[value] for value in slices})
        arrays = {value: slices[value][0].args[0] if value in slices else value for value in inputs}
        taken = [node for chain in slices.values() for node in chain]
        integers = [value for node in taken for value in indices.values_of(node.args[1])]
        args = list(dict.fromkeys([*arrays.values(), *integers]))

        def placed(each: Any) -> Any:
            return indices.Argument(args.index(each)) if isinstance(each, Value) else each

        chosen = {
            value: tuple(indices.mapped(node.args[1], placed) for node in chain) for value, chain in slices.items()
        }
        parts = [Part(args.index(arrays[value]), chosen.get(value, ())) for value in inputs]
        self._slices.checked(taken)
        kernel = self._known.get(tuple(sources))
        if kernel is None or kernel.parts != parts:
            every = self._for_numpy(sorted([*dict.fromkeys(taken), *nodes], key=self._places.__getitem__))
            kernel = self._make(
                nodes, inputs, outputs, lambda: self._compile(self._alone(every, args, outputs)), args, parts
            )
        kernel.sources = sources
        self.kernels.append(kernel)
        self.call(self._into, kernel, args, outputs, nodes[0].place)

    def _interchange(self, loop: Node) -> None:
        """Run a loop all of whose iterations are one kernel."""
        kernel, others = self._known.get((loop,)), loop_interchange.used_by(loop)
        if kernel is None:
            kernel = loop_interchange.interchanged(loop, others, self._name, self._compile, self._make)
        kernel.sources = [loop]
        self.kernels.append(kernel)
        self.call(self._into, loop_interchange.Interchange(kernel), [*loop.args, *others], loop.outputs, loop.place)

    def _alone(self, nodes: list[Node], args: list[Any], outputs: list[Value]) -> Graph:
        """The graph of a kernel's nodes, for NumPy."""
        graph, copier = Graph(self._name), Copier()
        for each in args:
            copier.values[each] = graph.block.add_param(each.type, each.name)
        for node in nodes:
            graph.block.append(copier.node(node))
        found = copier.arg(tuple(outputs))
        graph.block.results = (found[0] if len(found) == 1 else found,)
        return graph


def _is_array(arg: Any) -> bool:
    return isinstance(arg, Value) and elementwise.is_numeric(arg.type, 1) and arg.type.exact  # type: ignore[union-attr]


def _object_of(nodes: Sequence[Node]) -> Value | None:
    """The array that nodes write into, if the kernel needs its object, to return it."""
    return None if nodes[-1].op == "setitem" else elementwise.target_of(nodes[-1])


def pays_alone(node: Node) -> bool:
    """Whether a kernel of one operation pays: NumPy takes twice the time, or uses one thread for a long time."""
    if not node.outputs:
        return elementwise.mask_of(node) is not None
    if node.op in SLOW_IN_NUMPY and not elementwise.is_complex(node.output):
        return True
    type, loop = node.output.type, elementwise.loop_of_node(node)
    if not isinstance(type, TensorType) or None in type.shape or loop is None:
        return False
    return math.prod(type.shape) >= COSTLY and is_costly(loop.ufunc, type.dtype)  # type: ignore[arg-type]


def _parts(nodes: list[Node]) -> list[list[Node]]:
    """Nodes in groups that are connected by arrays: if shapes are unknown, only these have one shape for sure."""
    if len(nodes) < 2 or None not in nodes[0].output.type.shape:  # type: ignore[union-attr]
        return [nodes]
    parts: list[tuple[list[Node], set[Value]]] = []
    for node in nodes:
        part, values = [node], (*node.inputs, *node.outputs)
        arrays = {value for value in values if elementwise.is_numeric(value.type, 1)}
        while any(arrays & others for _, others in parts):      # it joins this group and all later ones
            before, others = parts.pop()
            part, arrays = before + part, arrays | others
        parts.append((part, arrays))
    return [part for part, _ in parts]


def _inputs(nodes: list[Node]) -> list[Value]:
    """The values that nodes use and do not compute."""
    computed = {value for node in nodes for value in node.outputs}
    return list(dict.fromkeys(value for node in nodes for value in node.inputs if value not in computed))
