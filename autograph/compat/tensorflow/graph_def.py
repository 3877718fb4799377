"""`graph.as_graph_def()`: a graph as TensorFlow writes graphs down, for people to read.

Nodes have the names and fields that TensorFlow gives them; it shows this library's graph, which has been optimised,
with its branches and loops as functions in a library.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from autograph.compat.tensorflow.dtypes import as_dtype
from autograph.runtime.graph import Block, Constant, Graph, Node, Value, gather
from autograph.runtime.types import ObjectType, TensorType

_OPS = {
    "add": "AddV2", "sub": "Sub", "mul": "Mul", "truediv": "RealDiv", "floordiv": "FloorDiv", "mod": "FloorMod",
    "pow": "Pow", "matmul": "MatMul", "gt": "Greater", "ge": "GreaterEqual", "lt": "Less", "le": "LessEqual",
    "eq": "Equal", "ne": "NotEqual", "neg": "Neg", "abs": "Abs", "np.exp": "Exp", "np.log": "Log", "np.sum": "Sum",
    "np.mean": "Mean", "np.max": "Max", "np.min": "Min", "np.prod": "Prod", "np.maximum": "Maximum",
    "np.minimum": "Minimum", "np.where": "SelectV2", "np.arange": "Range", "np.reshape": "Reshape",
    "np.stack": "Pack", "np.concatenate": "ConcatV2", "getitem": "StridedSlice", "astype": "Cast", "call": "PyFunc",
    "if": "StatelessIf", "while": "StatelessWhile", "for": "For", "np.take": "GatherV2", "np.tanh": "Tanh",
    "checked_take": "GatherV2", "stack_items": "TensorListStack", "fill_gap": "TensorListSetItem",
}  # fmt: skip
_FIELDS = {"f": "float_val", "i": "int_val", "u": "int_val", "b": "bool_val", "c": "scomplex_val"}
_BLOCKS = {"if": ("then_branch", "else_branch"), "while": ("cond", "body"), "for": ("body",)}
_STARTS = {"if": ("cond_true", "cond_false"), "while": ("while_cond", "while_body"), "for": ("for_body",)}
Lines = list[str]


class NodeDef:
    """A node that has been written down."""

    def __init__(self, lines: Lines) -> None:
        told = [line.strip().partition(": ") for line in lines if line.startswith("  ") and line[2] != " "]
        found = [(name, value.strip('"')) for name, _, value in told]
        self.name, self.op = dict(found)["name"], dict(found)["op"]
        self.input = [value for name, value in found if name == "input"]
        self.type = self.op
        self._lines = lines

    def __repr__(self) -> str:
        return "\n".join(line[2:] for line in self._lines[1:-1])


class GraphDef:
    """A graph that has been written down."""

    def __init__(self, graph: Graph) -> None:
        self._functions: list[Lines] = []
        self._numbers = iter(range(1, 1 << 30))
        nodes, results = _Writer(self, "node").block(graph.block, graph.params)
        for number, (name, type) in enumerate(results):
            suffix = f"_{number}" if number else ""
            nodes.append(_node("node", f"Identity{suffix}", "Identity", [name], [_type("T", type)]))
        library = _field("library", [line for each in self._functions for line in each]) if self._functions else []
        versions = _field("versions", ["producer: 898", "min_consumer: 12"])
        self._lines = [line for each in nodes for line in each] + library + versions
        self.node = list(map(NodeDef, nodes))
        self.names = [each.name for each in self.node]

    def function(self, start: str, block: Block) -> str:
        """Write a block down as a function; gives its name."""
        name = f"{start}_{next(self._numbers)}"
        writer = _Writer(self, "node_def")
        nodes, results = writer.block(block, block.params, placeholders=False)
        inputs = [_field("input_arg", [f'name: "{writer.names[each]}"', _enum(each.type)]) for each in block.params]
        outputs = [f"identity_{number}" if number else "identity" for number in range(len(results))]
        lines = [f'name: "{name}"', *(line for each in inputs for line in each)]
        for output, (_, type) in zip(outputs, results):
            lines += _field("output_arg", [f'name: "{output}"', _enum(type)])
        body = [*_field("signature", lines), *(line for each in nodes for line in each)]
        for output, (given, _) in zip(outputs, results):
            body += _field("ret", [f'key: "{output}"', f'value: "{given}"'])
        self._functions.append(_field("function", body))
        return name

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"

    __repr__ = __str__


class _Writer:
    """Writes down the nodes of one block.

    Args:
        kind: what nodes are called there.

    Attributes:
        names: of the values.
    """

    def __init__(self, whole: GraphDef, kind: str) -> None:
        self._whole = whole
        self._kind = kind
        self._used: Counter[str] = Counter()
        self.names: dict[Value, str] = {}
        self.nodes: list[Lines] = []

    def block(
        self, block: Block, params: list[Value], placeholders: bool = True
    ) -> tuple[list[Lines], list[tuple[str, Any]]]:
        """The nodes of a block; and its results, each the name of a node's output, with its type."""
        for each in params:
            self.names[each] = self._unique(each.name or "input")
            if placeholders:
                fields = [_attr("_user_specified_name", [f's: "{each.name}"']), _type("dtype", each.type), _shape(each)]
                self.nodes.append(_node(self._kind, self.names[each], "Placeholder", [], fields))
        for node in block.nodes:
            self._write(node)
        results: Any = block.results or ()
        if len(results) == 1 and isinstance(results[0], tuple):
            (results,) = results
        return self.nodes, [(self._operand(each, "Const"), _type_of(each)) for each in results]

    def _write(self, node: Node) -> None:
        op = _OPS.get(node.op, "".join(part.capitalize() for part in node.op.removeprefix("np.").split("_")))
        name = self._unique({"if": "cond", "while": "while", "for": "for"}.get(node.op, op))
        inputs = [self._operand(each, f"{name}/{'xyzabc'[min(at, 5)]}") for at, each in enumerate(_flat(node.args))]
        found: list[Value] = []
        gather(node.kwargs, found)
        inputs += [self._name(each) for each in found]
        fields = []
        if node.blocks:
            functions = [self._whole.function(start, block) for start, block in zip(_STARTS[node.op], node.blocks)]
            fields = [_attr("Tout", _field("list", [_enum(each.type) for each in node.outputs]))]
            fields += [_attr(key, _field("func", [f'name: "{function}"']))
                       for key, function in sorted(zip(_BLOCKS[node.op], functions))]  # fmt: skip
        elif node.inputs:
            fields = [_type("T", node.inputs[0].type)]
        self.nodes.append(_node(self._kind, name, op, inputs, fields))
        for number, output in enumerate(node.outputs):
            self.names[output] = f"{name}:{number}" if number else name

    def _operand(self, value: Any, name: str) -> str:
        """The name of a value; constants become nodes of their own."""
        if isinstance(value, Value):
            return self._name(value)
        found = value.value if isinstance(value, Constant) else value
        name = self._unique(name)
        fields = [_type("dtype", _type_of(value))]
        if isinstance(found, (np.ndarray, np.generic, bool, int, float, complex)):
            fields.append(_attr("value", _tensor(np.asarray(found))))
        self.nodes.append(_node(self._kind, name, "Const", [], fields))
        return name

    def _name(self, value: Value) -> str:
        return self.names.get(value, value.name or "captured")

    def _unique(self, base: str) -> str:
        number = self._used[base]
        self._used[base] += 1
        return f"{base}_{number}" if number else base


# Fields ---------------------------------------------------------------------------------------------------------------


def _field(name: str, lines: Lines) -> Lines:
    return [f"{name} {{", *(f"  {line}" for line in lines), "}"]


def _attr(key: str, value: Lines) -> Lines:
    return _field("attr", [f'key: "{key}"', *_field("value", value)])


def _node(kind: str, name: str, op: str, inputs: list[str], attributes: list[Lines]) -> Lines:
    lines = [f'name: "{name}"', f'op: "{op}"', *(f'input: "{each}"' for each in inputs)]
    return _field(kind, [*lines, *(line for each in attributes for line in each)])


def _enum(type: Any) -> str:
    if isinstance(type, TensorType):
        name = as_dtype(type.dtype).kernel_name.upper()
        return f"type: DT_{name}"
    return "type: DT_STRING" if type == ObjectType("bytes") else "type: DT_VARIANT"


def _type(key: str, type: Any) -> Lines:
    return _attr(key, [_enum(type)])


def _shape(value: Value) -> Lines:
    dims = value.type.shape if isinstance(value.type, TensorType) else ()
    return _attr("shape", _field("shape", _dims(dims)))


def _dims(dims: Any) -> Lines:
    return [line for each in dims for line in _field("dim", [f"size: {-1 if each is None else each}"])]


def _tensor(array: Any) -> Lines:
    """An array, with its elements if there are but a few."""
    values = [str(each).lower() if array.dtype.kind == "b" else str(each) for each in array.ravel()[:16].tolist()]
    shape = _field("tensor_shape", _dims(array.shape))
    field = _FIELDS.get(array.dtype.kind, "string_val")
    return _field("tensor", [_enum(TensorType(array.dtype, (), "scalar")).replace("type:", "dtype:"), *shape,
                             *(f"{field}: {each}" for each in values)])  # fmt: skip


def _type_of(value: Any) -> Any:
    if isinstance(value, Value):
        return value.type
    found = value.value if isinstance(value, Constant) else value
    is_number = isinstance(found, (np.ndarray, np.generic, bool, int, float, complex))
    return TensorType(np.asarray(found).dtype, (), "scalar") if is_number else ObjectType()


def _flat(args: Any) -> list[Any]:
    """The parts of arguments within one another."""
    if isinstance(args, (tuple, list)):
        return [leaf for part in args for leaf in _flat(part)]
    return [args]
