"""`graph.as_graph_def()`: a graph in TensorFlow's text format, for people to read.

Nodes have the names and fields that TensorFlow gives them. The graph is this library's, optimized, with its branches
and loops as functions in a library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core.dtypes import as_dtype
from autograph.runtime.autodiff.activity import uses_in, values_of
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, Value, gather
from autograph.runtime.graph.types import BOOL, ObjectType, TensorType
from autograph.runtime.tracing.state.trace import GENERATED

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
_BLOCKS = {"while": ("cond", "body"), "for": ("body",)}
_STARTS = {"while": ("while_cond", "while_body"), "for": ("for_body",)}
_BINARY = frozenset("AddV2 Sub Mul RealDiv FloorDiv FloorMod Pow Greater GreaterEqual Less LessEqual Equal NotEqual "
                    "Maximum Minimum LogicalAnd LogicalOr".split())  # fmt: skip
_UNARY = frozenset("Neg Abs Exp Log Tanh Cast Sqrt Square Sign Floor Ceil LogicalNot".split())
Lines = list[str]


class NodeDef:
    """A node in TensorFlow's format."""

    def __init__(self, name: str, op: str, inputs: list[str], attributes: list[Lines]) -> None:
        self.name = name
        self.op = self.type = op
        self.input = inputs
        self.lines = [f'name: "{name}"', f'op: "{op}"', *(f'input: "{each}"' for each in inputs), *_joined(attributes)]

    def __repr__(self) -> str:
        return "\n".join(self.lines)


class GraphDef:
    """A graph in TensorFlow's format."""

    def __init__(self, graph: Graph) -> None:
        self._functions: dict[str, Lines] = {}
        self._numbers = iter(range(1, 1 << 30))
        writer = _Writer(self)
        writer.placeholders(graph.params)
        for number, result in enumerate(writer.block(graph.block)):
            suffix = f"_{number}" if number else ""
            operand = writer.operand(result, "Const")
            writer.nodes.append(NodeDef(f"Identity{suffix}", "Identity", [operand], [_type("T", _type_of(result))]))
        functions = [line for name in sorted(self._functions) for line in self._functions[name]]
        library = _field("library", functions) if functions else []
        versions = _field("versions", ["producer: 898", "min_consumer: 12"])
        self.node = writer.nodes
        self._lines = [*_joined(_field("node", each.lines) for each in self.node), *library, *versions]
        self.names = [each.name for each in self.node]

    def function(self, start: str, scope: str, block: Block, captured: list[Value], made: list[Any] | None) -> str:
        """Write a block as a function; gives its name.

        Args:
            scope: the beginning of the names of its nodes.
            captured: the values from outside that it uses, which become its arguments.
            made: of a branch that returns, the Python numbers that AutoGraph makes tensors of to compare branches.
        """
        name = f"{start}_{next(self._numbers)}"
        writer = _Writer(self, f"{scope}/")
        used = uses_in(block)
        for each in block.params:
            writer.names[each] = writer.unique(_variable_of(each, "input"), scoped=False)
        for each in captured:
            variable = _variable_of(each, "input")
            user = "placeholder" if each not in used else f"{writer.user_of(each, block, made)}_{variable}"
            writer.names[each] = writer.unique(f"{scope}_{user}".replace("/", "_").lower(), scoped=False)
        results = writer.block(block)
        for number in made or ():
            writer.operand(number, "Const")
        results = results if made is None else [True, *results]
        inputs = [_field("input_arg", [f'name: "{writer.names[each]}"', _enum(each.type)])
                  for each in (*block.params, *captured)]  # fmt: skip
        outputs, ends = list[Lines](), list[Lines]()
        for result in results:
            operand, type = writer.operand(result, "Const"), _type_of(result)
            end = writer.unique("Identity")
            writer.nodes.append(NodeDef(end, "Identity", [operand], [_type("T", type)]))
            key = end.replace("/", "_").lower()
            outputs.append(_field("output_arg", [f'name: "{key}"', _enum(type)]))
            ends.append(_field("ret", [f'key: "{key}"', f'value: "{end}:output:0"']))
        context = _attr("_construction_context", ['s: "kEagerRuntime"'])
        shapes = [_field("arg_attr", [f"key: {at}", *_field("value", _attr("_output_shapes", _list([_dims_of(each)])))])
                  for at, each in enumerate((*block.params, *captured))]  # fmt: skip
        signature = _field("signature", [f'name: "{name}"', *_joined([*inputs, *outputs])])
        nodes = [_field("node_def", each.lines) for each in writer.nodes]
        self._functions[name] = _field("function", _joined([signature, *nodes, *ends, context, *shapes]))
        return name

    def __str__(self) -> str:
        return "\n".join(self._lines) + "\n"

    __repr__ = __str__


class _Writer:
    """Writes the nodes of one block.

    Args:
        scope: the beginning of their names.

    Attributes:
        names: of the values.
    """

    def __init__(self, whole: GraphDef, scope: str = "") -> None:
        self._whole = whole
        self._scope = scope
        self._used: Counter[str] = Counter()
        self.names: dict[Value, str] = {}
        self.nodes: list[NodeDef] = []

    def placeholders(self, params: list[Value]) -> None:
        for each in params:
            name = self.names[each] = self.unique(each.name or "input")
            fields = [_attr("_user_specified_name", [f's: "{each.name}"']), _type("dtype", each.type),
                      _attr("shape", _dims_of(each))]  # fmt: skip
            self.nodes.append(NodeDef(name, "Placeholder", [], fields))

    def block(self, block: Block) -> list[Any]:
        """Write the nodes of a block; gives its results."""
        for node in block.nodes:
            write = self._write_if if node.op == "if" else self._write
            write(node, self.unique(_name_of(node)))
        results: Any = block.results or ()
        return list(results[0] if len(results) == 1 and isinstance(results[0], tuple) else results)

    def user_of(self, value: Value, block: Block, made: list[Any] | None) -> str:
        """The name, without its scope, of the first node that uses a value."""
        counts: Counter[str] = Counter()
        for node in block.nodes:
            op = _name_of(node)
            if value in node.inputs or any(value in uses_in(inner) for inner in node.blocks):
                return f"{op}_{counts[op]}" if counts[op] else op
            counts[op] += 1
        at = list(block.results or ()).index(value) + (made is not None)
        return f"Identity_{at}" if at else "Identity"

    def _write(self, node: Node, name: str) -> None:
        op = op_of(node)
        inputs = [self.operand(each, f"{_name_of(node)}/{'xyzabc'[min(at, 5)]}")
                  for at, each in enumerate(_flat(node.args))]  # fmt: skip
        found: list[Value] = []
        gather(node.kwargs, found)
        inputs += [self._name(each) for each in found]
        fields = []
        if node.blocks:
            captured = _captured(node)
            inputs += [self._name(each) for each in captured]
            functions = [self._whole.function(start, name, block, captured, None)
                         for start, block in zip(_STARTS[node.op], node.blocks)]  # fmt: skip
            fields = [_attr("Tout", _list([[_enum(each.type)] for each in node.outputs]))]
            fields += [_function(key, function) for key, function in sorted(zip(_BLOCKS[node.op], functions))]
        elif node.inputs:
            fields = [_type("T", node.inputs[0].type)]
        self.nodes.append(NodeDef(name, op, inputs, fields))
        for at, output in enumerate(node.outputs):
            here = f"{name}:{at}" if at else name
            self.names[output] = f"{name}:{_output_of(op)}:{at}" if self._scope else here

    def _write_if(self, node: Node, name: str) -> None:
        """Write an `if`. As in TensorFlow, one that returns also gives whether it returns, before its values."""
        captured = _captured(node)
        arms = [block.results or () for block in node.blocks]
        returns = any(each.name == GENERATED for each in node.outputs)
        compared = [True, True, *(each for pair in zip(*arms) for each in pair if not isinstance(each, Value))]
        made = [[], compared] if returns else [None, None]
        functions = [self._whole.function(f"{name.replace('/', '_')}_{which}", name, block, captured, numbers)
                     for which, block, numbers in zip(("true", "false"), node.blocks, made)]  # fmt: skip
        types = [*([BOOL] if returns else []), *(each.type for each in node.outputs)]
        fields = [
            _type("Tcond", BOOL), _attr("Tin", _list([[_enum(each.type)] for each in captured])),
            _attr("Tout", _list([[_enum(each)] for each in types])), _attr("_lower_using_switch_merge", ["b: true"]),
            _attr("_read_only_resource_inputs", _list([])), _function("else_branch", functions[1]),
            _attr("output_shapes", _list([_dims_of(each) for each in types])), _function("then_branch", functions[0]),
        ]  # fmt: skip
        inputs = [self.operand(node.args[0], "Const"), *(self._name(each) for each in captured)]
        self.nodes.append(NodeDef(name, "StatelessIf", inputs, fields))
        outputs = [*([None] if returns else []), *node.outputs]
        for at, (output, type) in enumerate(zip(outputs, types)):
            end = f"{name}/Identity_{at}" if at else f"{name}/Identity"
            source = f"{name}:output:{at}" if self._scope else f"{name}:{at}" if at else name
            self.nodes.append(NodeDef(end, "Identity", [source], [_type("T", type)]))
            if output is not None:
                self.names[output] = f"{end}:output:0" if self._scope else end

    def operand(self, value: Any, name: str) -> str:
        """The name of a value; constants become nodes of their own."""
        if isinstance(value, Value):
            return self._name(value)
        found = value.value if isinstance(value, Constant) else value
        name = self.unique(name)
        fields = [_type("dtype", _type_of(value))]
        if isinstance(found, (np.ndarray, np.generic, bool, int, float, complex)):
            fields.append(_attr("value", _tensor(np.asarray(found))))
        self.nodes.append(NodeDef(name, "Const", [], fields))
        return f"{name}:output:0" if self._scope else name

    def _name(self, value: Value) -> str:
        return self.names.get(value) or _variable_of(value, "captured")

    def unique(self, base: str, scoped: bool = True) -> str:
        number = self._used[base]
        self._used[base] += 1
        name = f"{base}_{number}" if number else base
        return self._scope + name if scoped else name


def _variable_of(value: Value, default: str) -> str:
    """The variable that holds a value; `default` if there is none, or it is a place in a container."""
    return value.name if value.name.isidentifier() else default


def _name_of(node: Node) -> str:
    """The name of a node, if no other has it."""
    op = op_of(node)
    return {"if": "cond", "while": "while", "for": "for"}.get(node.op, op)


def op_of(node: Node) -> str:
    """The name of TensorFlow's for an op."""
    op = node.op.removeprefix(".")  # of a method
    return _OPS.get(op, "".join(part.capitalize() for part in op.removeprefix("np.").split("_")))


def _captured(node: Node) -> list[Value]:
    """The values from outside that the blocks of a node use."""
    own = {value for block in node.blocks for value in values_of(block)}
    return list(dict.fromkeys(each for block in node.blocks for each in uses_in(block) if each not in own))


def _output_of(op: str) -> str:
    return "z" if op in _BINARY else "y" if op in _UNARY else "product" if op == "MatMul" else "output"


# Fields ---------------------------------------------------------------------------------------------------------------


def _field(name: str, lines: Lines) -> Lines:
    return [f"{name} {{", *(f"  {line}" for line in lines), "}"]


def _attr(key: str, value: Lines) -> Lines:
    return _field("attr", [f'key: "{key}"', *_field("value", value)])


def _enum(type: Any) -> str:
    if isinstance(type, TensorType):
        name = as_dtype(type.dtype).kernel_name.upper()
        return f"type: DT_{name}"
    return "type: DT_STRING" if type == ObjectType("bytes") else "type: DT_VARIANT"


def _type(key: str, type: Any) -> Lines:
    return _attr(key, [_enum(type)])


def _function(key: str, name: str) -> Lines:
    return _attr(key, _field("func", [f'name: "{name}"']))


def _list(parts: list[Lines]) -> Lines:
    return _field("list", _joined(parts))


def _joined(parts: Iterable[Lines]) -> Lines:
    return [line for part in parts for line in part]


def _dims_of(value: Any) -> Lines:
    """The shape of a value or type."""
    type = value.type if isinstance(value, Value) else value
    return _field("shape", _dims(type.shape if isinstance(type, TensorType) else ()))


def _dims(dims: Any) -> Lines:
    return [line for each in dims for line in _field("dim", [f"size: {-1 if each is None else each}"])]


def _tensor(array: Any) -> Lines:
    """An array, with its first elements."""
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
