"""The verifier: checks that a graph is well-formed.

It checks that every value is computed once, before it is used, and where its users can see it; ops exist; blocks
have the params and results that their node needs, of types that fit; a block has no results exactly if its last node
never ends; no node or block is in two places. It takes time linear in the size of the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from autograph.errors import AutographError
from autograph.runtime.graph import opdef
from autograph.runtime.graph.graph import UNBOUND, Block, Constant, Graph, Node, Value, map_args, user_line, values_in
from autograph.runtime.graph.types import ANY, MaybeUnbound, ObjectType, TensorType, Type, covers, type_of
from autograph.runtime.graph_text import notation
from autograph.runtime.graph_text.printer import Printer, node_text


class GraphError(AutographError):
    """A graph is not well-formed.

    Attributes:
        node: the node concerned, if it is about one.
    """

    def __init__(self, problem: str, graph: Graph, node: Node | None = None) -> None:
        self.node = node
        place = user_line(node.place) if node else None
        at = f"\n    in graph {graph.name}" + (f": {node_text(graph, node)}" if node else "")
        super().__init__(problem + at, *(place or ()))


def check(graph: Graph) -> Graph:
    """Check a graph, and return it.

    Raises:
        GraphError: it is not well-formed; says which node, and what was expected.
    """
    _Checker(graph).run()
    return graph


def check_scopes(graph: Graph) -> None:
    """Check that each value is computed before it is used, and in that block or one around it; this takes little time.

    Raises:
        GraphError: one is not, so that engines would compile nonsense.
    """
    visible: set[Value] = set()

    def see(block: Block) -> None:
        local = list(block.params)
        visible.update(local)
        for node in block.nodes:
            if not visible.issuperset(node.inputs):
                raise GraphError("a value is used outside of its block, or before it is computed", graph, node)
            for inner in node.blocks:
                see(inner)
            visible.update(node.outputs)
            local += node.outputs
        if not visible.issuperset(block.result_values):
            raise GraphError("a result of a block is computed elsewhere", graph, None)
        visible.difference_update(local)

    see(graph.block)


class _Checker:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.visible: set[Value] = set()
        self.defined: set[Value] = set()
        self.visited: set[int] = set()  # nodes and blocks, by id
        self._names: Printer | None = None

    def run(self) -> None:
        self._block(self.graph.block, None)
        results = self.graph.block.results
        if results is not None and len(results) != 1:
            self._fail(f"a graph has one result, or none if it always raises, but this has {len(results)}")

    def _fail(self, problem: str, node: Node | None = None) -> NoReturn:
        raise GraphError(problem, self.graph, node)

    def _name(self, value: Value) -> str:
        if self._names is None:
            self._names = Printer.named(self.graph)
        return self._names.names.value(value)

    def _once(self, part: Node | Block, what: str, node: Node | None) -> None:
        if id(part) in self.visited:
            self._fail(f"{what} is in two places; each place needs one of its own", node)
        self.visited.add(id(part))

    def _block(self, block: Block, owner: Node | None) -> None:
        self._once(block, "a block", owner)
        local: list[Value] = []
        for param in block.params:
            self._define(param, None, owner, local)
        for index, node in enumerate(block.nodes):
            self._node(node)
            for output in node.outputs:
                self._define(output, node, node, local)
            if never_ends(node) and index + 1 < len(block.nodes):
                self._fail("this never ends, so no nodes can follow it", node)
        self._uses(block.results, owner, "results")
        self._ending(block, owner)
        self.visible.difference_update(local)

    def _define(self, value: Value, source: Node | None, node: Node | None, local: list[Value]) -> None:
        if value in self.defined:
            self._fail(f"{self._name(value)} is defined twice", node)
        if value.node is not source:
            wrong = "not marked as an output of its node" if source else "a param, but names a node that computes it"
            self._fail(f"{self._name(value)} is {wrong}", node)
        if not isinstance(value.type, (TensorType, ObjectType, MaybeUnbound)):
            self._fail(f"the value {value.name!r} must have a type of runtime/graph/types.py, not {value.type!r}")
        self.defined.add(value)
        self.visible.add(value)
        local.append(value)

    def _uses(self, args: Any, node: Node | None, what: str) -> None:
        for value in values_in(args):
            if value not in self.visible:
                why = "used outside of its block" if value in self.defined else "used before it is computed"
                self._fail(f"{self._name(value)}, among the {what}, is {why}", node)

    def _ending(self, block: Block, owner: Node | None) -> None:
        endless = bool(block.nodes) and never_ends(block.nodes[-1])
        if endless and block.results is not None:
            self._fail("this never ends, so its block must have None for its results", block.nodes[-1])
        if block.results is None and not endless:
            last = block.nodes[-1] if block.nodes else owner
            self._fail("a block without an end (its results are None) must end in what never ends, like `raise`", last)

    def _node(self, node: Node) -> None:
        self._once(node, "a node", node)
        if not isinstance(node.args, tuple) or not all(isinstance(key, str) for key in node.kwargs):
            self._fail("args must be a tuple, and the keys of kwargs strings", node)
        try:
            op = opdef.lookup(node.op)
        except KeyError:
            self._fail(f"there is no op {node.op!r}", node)
        self._uses((node.args, node.kwargs), node, "arguments")
        labels = notation.LABELS.get(node.op, ())
        self._count(len(node.blocks), len(labels), f"blocks ({' and '.join(labels) or 'none'})", node)
        rule = getattr(self, sys.intern(f"_check_{node.op}"), None)     # Python caches look-ups, with the names
        if rule is not None:
            rule(node)
        elif len(node.outputs) > 1:
            types = op.infer(*map_args(_as_type, node.args), **map_args(_as_type, node.kwargs))
            self._count(len(node.outputs), len(types) if isinstance(types, list) else 1, "outputs", node)
        for block in node.blocks:
            self._block(block, node)

    def _count(self, found: int, wanted: int, what: str, node: Node) -> None:
        if found != wanted:
            self._fail(f"`{node.op}` must have {wanted} {what} here, but has {found}", node)

    def _check_if(self, node: Node) -> None:
        """The outputs of an `if` are the results of its branches."""
        self._count(len(node.args), 1, "arguments", node)
        self._keywords(node)
        for name, block in zip(notation.LABELS["if"], node.blocks):
            self._count(len(block.params), 0, f"params of `{name}`", node)
            self._results(node, block, name, node.outputs)

    def _check_while(self, node: Node) -> None:
        """A `while` carries its inits through test and body."""
        test, body = node.blocks
        self._keywords(node, "until")
        self._carried(node, node.args, test.params, "params of `test`")
        self._count(1 if test.results is None else len(test.results), 1, "results of `test`", node)
        self._carried(node, node.args, body.params, "params of `body`")
        self._iteration(node, test.params)
        self._iteration(node, body.params)
        for output, param in zip(node.outputs, test.params):
            self._fits(output, param, node, "the output ")

    def _check_for(self, node: Node) -> None:
        """A `for` carries its inits through its body, whose first params are for the items."""
        (body,) = node.blocks
        self._keywords(node, "until", "target")
        self._require(bool(node.args), "`for` needs something to iterate over", node)
        numbers = sorted(_leaves(node.kwargs.get("target", 0)), key=lambda leaf: (len(repr(leaf)), repr(leaf)))
        if numbers != list(range(len(numbers))):
            self._fail(f"the target must consist of the numbers 0, 1, … of params, each once, not {numbers}", node)
        carried, inits = body.params[len(numbers) :], node.args[1:]
        self._count(len(body.params), len(numbers) + len(inits), "params of `body`", node)
        self._carried(node, inits, carried, "params of `body`")
        self._iteration(node, carried)
        for output, init in zip(node.outputs, inits):
            self._fits(output, init, node, "the output ")
        self._results(node, body, "body", node.outputs, skipped="until" in node.kwargs)

    def _check_raise(self, node: Node) -> None:
        """`raise` has no outputs."""
        self._count(len(node.args), 1, "arguments", node)
        self._keywords(node, "cause")
        self._count(len(node.outputs), 0, "outputs", node)

    def _keywords(self, node: Node, *allowed: str) -> None:
        for name in node.kwargs:
            self._require(name in allowed, f"`{node.op}` has no keyword {name!r}", node)

    def _require(self, condition: bool, problem: str, node: Node | None) -> None:
        if not condition:
            self._fail(problem, node)

    def _carried(self, node: Node, inits: Sequence[Any], params: Sequence[Value], what: str) -> None:
        self._count(len(params), len(inits), what, node)
        self._count(len(node.outputs), len(inits), "outputs", node)
        for init, param in zip(inits, params):
            self._fits(param, init, node, "the param ")

    def _iteration(self, node: Node, params: Sequence[Value]) -> None:
        """The results of an iteration must fit the params of the next."""
        self._results(node, node.blocks[-1], "body", params, skipped="until" in node.kwargs)

    def _results(self, node: Node, block: Block, name: str, targets: Sequence[Value], skipped: bool = False) -> None:
        if block.results is None:
            return
        self._count(len(block.results), len(targets) + skipped, f"results of `{name}`", node)
        for target, result in zip(targets, block.results[skipped:]):
            self._fits(target, result, node)

    def _fits(self, target: Value, arg: Any, node: Node, what: str = "") -> None:
        if not fits(target.type, arg):
            found = self._name(arg) if isinstance(arg, Value) else repr(arg)
            kind = f" of type {arg.type}" if isinstance(arg, Value) else ""
            problem = f"{what}{self._name(target)} is of type {target.type}, which does not cover {found}{kind}"
            self._fail(problem, node)


def never_ends(node: Node) -> bool:
    """Whether the nodes after this one are never reached: it always raises, or all its branches do."""
    if node.op == "raise":
        return True
    if node.op == "while":
        return node.blocks[0].results is None
    return node.op == "if" and all(block.results is None for block in node.blocks)


def fits(type: Type, arg: Any) -> bool:
    """Whether an argument is of a type, as far as its own is known; structures are looked into."""
    if isinstance(arg, Value):
        return covers(type, arg.type)
    if arg is UNBOUND:
        return isinstance(type, MaybeUnbound)
    inner = type.inner if isinstance(type, MaybeUnbound) else type
    if inner == ANY:
        return True
    kind = _STRUCTURES.get(arg.__class__)
    if kind is None or not isinstance(inner, ObjectType):
        return covers(inner, type_of(arg.value if isinstance(arg, Constant) else arg))
    if inner.name != kind:
        return False
    if kind == "tuple":
        return not inner.items or (len(inner.items) == len(arg) and all(map(fits, inner.items, arg)))
    return not inner.items or kind != "list" or all(fits(inner.items[0], part) for part in arg)


_STRUCTURES = {tuple: "tuple", list: "list", dict: "dict", slice: "slice"}


def _leaves(target: Any) -> list[Any]:
    return [leaf for part in target for leaf in _leaves(part)] if isinstance(target, tuple) else [target]


def _as_type(arg: Any) -> Any:
    return arg.type if isinstance(arg, Value) else arg
