"""Graphs as TensorBoard's `GraphDef`: nodes in scopes that are written as paths, with edges, types and shapes.

    def scale(x):           outer/x                 Placeholder
        return x * 2        scale/mul               mul
    def outer(x):           while/test/lt           lt
        x = scale(x)        while/x                 Carried: into the loop, from iteration to iteration, and out of it
        while x < 9:        while/body/scale/mul    mul
            x = scale(x)    return                  Return
        return x

A scope is a called function, a loop or a branch; `while/test` and `while/body`, `if/then` and `if/else` are within
these. Values captured from outside bear the path on which they were found: `net/layers/0/w`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograph.common import code_marks, trace_rules
from autograph.common.statics import own_attribute
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, map_args, user_line
from autograph.runtime.graph.types import TensorType, Type
from autograph.runtime.graph_text import notation
from autograph.runtime.graph_text.printer import describe, lines

if TYPE_CHECKING:
    from tensorboard.compat.proto.graph_pb2 import GraphDef

Call = tuple[Any, str]  # a key of a call, and the name of the function
Calls = tuple[Call, ...]
_ODD = re.compile(r"[^\w.\-]+")


def calls_of(node: Node) -> Calls:
    """The calls of the user's functions that lead to a node, the outermost first, without that of the graph itself."""
    found: list[Call] = []
    path: list[Any] = []
    for number, (code, instruction) in enumerate(node.place):
        is_call = number > 0 and not code_marks.is_body(code)
        label = _function_name(code) if is_call else ""
        if label:
            found.append(((*path, code.co_filename, code.co_firstlineno), label))
        path.append(instruction)
    return tuple(found)


def _function_name(code: Any) -> str:
    """The name of a function as a scope, that of a class for its `__call__`; "" if it is none of the user's."""
    is_private = code.co_name.startswith("__") and code.co_name != "__call__"   # an operator of a variable
    is_foreign = "numpy" in code.co_filename or code.co_filename.startswith(trace_rules.ROOT + "variables")
    if is_private or is_foreign or (code.co_name.startswith("<") and code.co_name != "<lambda>"):
        return ""
    name = getattr(code, "co_qualname", code.co_name).rpartition("<locals>.")[2]
    return _clean(name.removesuffix(".__call__").strip("_<>"))


def title_of(node: Node) -> tuple[str, str]:
    """The name of a node, and that of its operation."""
    name = node.op.removeprefix("np.").removeprefix(".")
    if node.op == "call" and not isinstance(node.args[0], Value):
        called = node.args[0].value if isinstance(node.args[0], Constant) else node.args[0]
        name = str(own_attribute(called, "__name__", name))
    return name, node.op


class Drawing:
    """A graph as a `GraphDef`.

    Args:
        graph: the graph.
        scope: a path around it; "" for none.
        calls: the scopes of a node, within those of the loops and branches around it.
        title: the name of a node, and that of its operation. One without a name passes its argument on.
        objects: the paths of objects that nodes refer to, by id.

    Attributes:
        names: of the nodes, for run times. Those that only read what was captured have none.
    """

    def __init__(
        self,
        graph: Graph,
        scope: str = "",
        calls: Callable[[Node], Calls] = calls_of,
        title: Callable[[Node], tuple[str, str]] = title_of,
        objects: Mapping[int, str] | None = None,
    ) -> None:
        from tensorboard.compat.proto.graph_pb2 import GraphDef

        self.graph_def: GraphDef = GraphDef(versions={"producer": 22})
        self.names: dict[Node, str] = {}
        self._calls, self._title, self._objects = calls, title, objects or {}
        self._codes = {line.node: str(line).strip() for line in lines(graph) if line.node is not None}
        self._values: dict[Value, str] = {}
        self._paths: dict[Value, str] = {}  # of captured values that have no node yet
        self._made: dict[str, str] = {}  # the nodes of objects, by path
        self._used: Counter[str] = Counter()
        self._scopes: dict[tuple[str, Any], str] = {}
        self._top = f"{scope}/" if scope else ""
        for param in graph.params:
            self._define(param, self._add(self._top, param.name or "input", "Placeholder", (), param.type))
        self._block(graph.block, self._top, ())
        if graph.block.results is not None:
            self._add(self._top, "return", "Return", graph.block.results)

    # Nodes ------------------------------------------------------------------------------------------------------------

    def _add(self, scope: str, name: str, op: str, args: Any, type: Type | None = None, **texts: str) -> Any:
        """Add a node; gives it."""
        node = self.graph_def.node.add(name=self._unique(scope, name), op=op)
        node.input.extend(self._inputs(args))
        if isinstance(type, TensorType):
            node.attr["_output_shapes"].list.shape.append(_shape(type))
            node.attr["T"].type = _enum(type.dtype)
        for key, text in texts.items():
            node.attr[key].s = text.encode()
        return node

    def _unique(self, scope: str, name: str) -> str:
        path = scope + _clean(name)
        number = self._used[path]
        self._used[path] += 1
        return f"{path}_{number}" if number else path

    def _define(self, value: Value, node: Any, at: int = 0) -> None:
        self._values[value] = f"{node.name}:{at}" if at else node.name

    def _inputs(self, args: Any) -> list[str]:
        """The nodes that give the values and named objects in arguments."""
        leaves: list[Any] = []
        map_args(leaves.append, args)
        found = [self._input(leaf) if isinstance(leaf, Value) else self._object(leaf) for leaf in leaves]
        return [name for name in found if name]

    def _input(self, value: Value) -> str:
        """The node that gives a value; that of a captured one is made when it is first used."""
        if value in self._paths:
            self._values[value] = self._captured(self._paths.pop(value), value.type)
        return self._values.get(value, "")

    def _object(self, leaf: Any) -> str:
        path = self._objects.get(id(leaf.value)) if isinstance(leaf, Constant) else None
        if path is not None and path not in self._made:
            self._made[path] = self._captured(path)
        return self._made.get(path or "", "")

    def _captured(self, path: str, type: Type | None = None) -> str:
        parts = path.split("/")
        scope = self._top + "".join(f"{part}/" for part in parts[:-1])
        return str(self._add(scope, parts[-1], "Captured", (), type).name)

    def _block(self, block: Block, scope: str, outer: Calls) -> None:
        for node in block.nodes:
            path = self._path_of(node)
            if path:
                self._paths[node.output] = path
                continue
            calls = self._calls(node)
            is_within = calls[: len(outer)] == outer
            around = self._scope(scope, calls[len(outer) :] if is_within else calls)
            if node.blocks:
                self._nested(node, around, calls if is_within else outer)
            else:
                self._operation(node, around)

    def _scope(self, scope: str, calls: Sequence[Call]) -> str:
        for key, name in calls:
            found = self._scopes.get((scope, key))
            if found is None:
                found = self._scopes[scope, key] = self._unique(scope, name) + "/"
            scope = found
        return scope

    def _path_of(self, node: Node) -> str:
        """The path of a captured object or array: "net/layers/0"; "" if the node does something else."""
        if node.op not in ("getattr", "getitem") or len(node.args) != 2 or not isinstance(node.args[1], (str, int)):
            return ""
        base, key = node.args[0], _clean(str(node.args[1]))
        if isinstance(base, Value):
            return f"{self._paths[base]}/{key}" if base in self._paths else ""
        is_namespace = isinstance(base, Constant) and isinstance(base.value, dict)
        return key if is_namespace else f"{_clean(describe(base).split(',')[0])}/{key}"

    def _operation(self, node: Node, scope: str) -> None:
        name, op = self._title(node)
        if not name:
            self._values[node.output] = self._input(node.args[0])
            return
        type = node.outputs[0].type if node.outputs else None
        place = user_line(node.place)
        texts = {"code": self._codes[node]} | ({"line": "{}:{}".format(*place)} if place else {})
        made = self._add(scope, name, op, (node.args, node.kwargs), type, **texts)
        self.names[node] = made.name
        for at, output in enumerate(node.outputs):
            self._define(output, made, at)

    # Loops and branches -----------------------------------------------------------------------------------------------

    def _nested(self, node: Node, around: str, calls: Calls) -> None:
        scope = self._unique(around, node.op) + "/"
        carried = [self._carried(node, at, scope) for at in range(len(node.inits))]
        if node.op == "for":
            items = node.blocks[0].params[: len(node.blocks[0].params) - len(carried)]
            for item in items:
                self._define(item, self._add(scope, item.name or "item", "Item", node.args[0], item.type))
        elif node.op == "if":
            self.names[node] = self._add(scope, "test", "Test", node.args[0]).name
        for number, block in enumerate(node.blocks):
            inner = f"{scope}{notation.label(node.op, number)}/"
            self._block(block, inner, calls)
            results = list(block.results or ())
            if node.op == "while" and number == 0:
                self.names[node] = self._add(inner, "continue", "Test", results).name
                continue
            if node.kwargs.get("until") and results:
                self.names[node] = self._add(inner, "stop", "Test", results.pop(0)).name
            for made, result in zip(carried, results):
                made.input.extend(self._inputs(result))
        if not node.inits:
            self._merged(node, scope)

    def _carried(self, node: Node, at: int, scope: str) -> Any:
        """The node of a value that a loop carries, for all iterations and after the loop."""
        count = len(node.inits)
        params = [block.params[len(block.params) - count + at] for block in node.blocks]
        output = node.outputs[at]
        name = output.name or next((param.name for param in params if param.name), "value")
        made = self._add(scope, name, "Carried", node.inits[at], output.type)
        for value in (output, *params):
            self._define(value, made)
        return made

    def _merged(self, node: Node, scope: str) -> None:
        """The nodes of the results of branches."""
        for at, output in enumerate(node.outputs):
            results = [block.results[at] for block in node.blocks if block.results is not None]
            made = self._add(scope, output.name or "value", "Merge", results, output.type)
            if node in self.names:
                made.input.append(f"^{self.names[node]}")
            self._define(output, made)


def _clean(name: str) -> str:
    return _ODD.sub("_", name).strip("_") or "value"


def _shape(type: TensorType) -> Any:
    from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

    if not (type.exact or type.shape):
        return TensorShapeProto(unknown_rank=True)
    sizes = [-1 if size is None else int(size) for size in type.shape]
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def _enum(dtype: np.dtype[Any]) -> int:
    """TensorFlow's number for a dtype; 0 if it has none."""
    from tensorboard.util.tensor_util import make_tensor_proto

    try:
        return int(make_tensor_proto(np.zeros(0, dtype)).dtype)
    except TypeError:
        return 0
