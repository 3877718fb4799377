"""Generates the expressions of a function, as a tree of Python's own `ast`.

Each node of the tree has a *mark* for its line number: the number of the graph's node that it comes from. So Python's
compiler assigns each instruction to a node of the graph, and `line_table` replaces the marks by the user's lines.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from autograph.common.parsing import parse
from autograph.runtime.engines.numpy.coalescing import Variables, is_usable
from autograph.runtime.engines.numpy.constants import Globals, StandIn, is_literal
from autograph.runtime.engines.numpy.fast_paths import added, beside_array, multiplied
from autograph.runtime.engines.numpy.plan import Plan
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.object_model import makes_named_tuples
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.graph.traits import IDENTITY, MAKES_RANGES, REDUCES, SILENT_METHOD
from autograph.runtime.graph.types import BOOL, TensorType


class Expressions:
    """Makes expressions of arguments and nodes.

    Attributes:
        marks: the nodes by their marks, of which the first is 1.
        at: the mark of the tree under construction, as attributes of its nodes.
        renamed: values that are in the variable of another value, in the statement under construction.
    """

    def __init__(self, plan: Plan, variables: Variables, constants: Globals) -> None:
        self.plan = plan
        self.variables = variables
        self.globals = constants
        self.marks: list[Node | None] = []
        self.at: dict[str, Any] = {}
        self.renamed: dict[Value, Value] = {}
        self._numbers: dict[Node | None, int] = {}
        with self.mark(None):
            self._start = self.at
        self.at = self._start

    @contextmanager
    def mark(self, node: Node | None) -> Iterator[None]:
        """Within the block, new parts of the tree get the mark of `node`."""
        before = self.at
        number = self._numbers.get(node)
        if number is None:
            self.marks.append(node)
            number = self._numbers[node] = len(self.marks)
        self.at = {"lineno": number, "end_lineno": number, "col_offset": 0, "end_col_offset": 0}
        yield
        self.at = before

    # Arguments --------------------------------------------------------------------------------------------------------

    def arg(self, arg: Any) -> ast.expr:
        """An argument, with its parts."""
        if isinstance(arg, Value):
            return self._value(arg)
        if isinstance(arg, tuple):
            parts, kind = list(map(self.arg, arg)), type(arg)
            if makes_named_tuples(kind.__new__):
                return ast.Call(self.constant(kind), parts, [], **self.at)
            whole = ast.Tuple(parts, ast.Load(), **self.at)
            if kind is tuple:
                return whole
            return ast.Call(self.constant(tuple.__new__), [self.constant(kind), whole], [], **self.at)
        if type(arg) is list:
            return ast.List(list(map(self.arg, arg)), ast.Load(), **self.at)
        if type(arg) is dict:
            keys: list[ast.expr | None] = list(map(self.arg, arg))
            return ast.Dict(keys, list(map(self.arg, arg.values())), **self.at)
        if type(arg) is set:
            return self._set(arg)
        if isinstance(arg, slice):
            return self.call("slice", [self.arg(part) for part in (arg.start, arg.stop, arg.step)])
        return self.constant(arg)

    def _set(self, arg: set[Any]) -> ast.expr:
        parts = list(map(self.arg, sorted(arg, key=repr)))
        return ast.Set(parts, **self.at) if parts else self.call("set", [])

    def _value(self, value: Value) -> ast.expr:
        value = self.plan.aliases.get(value, value)
        value = self.renamed.get(value, value)
        if value in self.plan.nested:
            assert value.node is not None
            return self.node(value.node)
        return ast.Name(self.variables.name(value), ast.Load(), **self.at)

    def constant(self, value: Any) -> ast.expr:
        if is_literal(value):
            return ast.Constant(value, **self.at)
        return self.path(self.globals.path(value))

    def path(self, dotted: str) -> ast.expr:
        """The global with a function or another object."""
        return ast.Name(dotted, ast.Load(), **self.at)

    def call(self, name: str, args: list[ast.expr]) -> ast.expr:
        """A call of a builtin."""
        return ast.Call(self.path(self.globals.function(name, None)), args, [], **self.at)

    def function(self, function: Any, args: Sequence[Any]) -> ast.expr:
        """A call of a constant."""
        return ast.Call(self.constant(function), list(map(self.arg, args)), [], **self.at)

    def target(self, value: Value) -> ast.Name:
        """The variable of a value, to assign to."""
        return ast.Name(self.variables.name(value), ast.Store(), **self.at)

    # Nodes ------------------------------------------------------------------------------------------------------------

    def operands(self, node: Node) -> list[ast.expr]:
        """The positional arguments of a node."""
        found = list(map(self.arg, node.args))
        if node.op in IDENTITY:
            found = list(map(self._named, found))
        number = beside_array(node)
        if number is not None:
            place, array = number
            found[place] = self._stand_in(array, found[place])
        return found

    def _named(self, operand: ast.expr) -> ast.expr:
        """An operand of `is`: a literal becomes a global, since Python warns of literals there."""
        if isinstance(operand, ast.Constant) and type(operand.value) in (int, float, complex, str, bytes):
            return self.path(self.globals.path(operand.value))
        return operand

    def _stand_in(self, thing: Any, shown: ast.expr) -> StandIn:
        found = StandIn(self.globals.path(thing), ast.Load(), **self.at)
        found.shown = shown
        return found

    def node(self, node: Node) -> ast.expr:
        """The expression of a node."""
        with self.mark(node):
            construct = _CONSTRUCTS.get(node.op)
            if construct is not None:
                return construct(self, node)
            if node.op in MAKES_RANGES:
                return self._range(node)
            if node.op.startswith("."):
                x, *args = node.args
                function: ast.expr = ast.Attribute(self.arg(x), node.op[1:], ast.Load(), **self.at)
                return self._call(function, list(map(self.arg, args)), node.kwargs)
            if node.op in SILENT_METHOD and _is_plain_reduction(node):      # a function takes 2 µs to find it
                method = ast.Attribute(self.arg(node.args[0]), SILENT_METHOD[node.op][1:], ast.Load(), **self.at)
                return self._call(method, list(map(self.arg, node.args[1:])), node.kwargs)
            op = lookup(node.op)
            if op.template and not node.kwargs and len(node.args) == op.template.count("{}"):
                return self._operator(op.template, node)
            function = self.path(self.globals.function(node.op, op.target))
            direct = _DIRECT.get(REDUCES.get(node.op))
            if direct and _is_plain_reduction(node) and node.args[0].type.exact:
                function = self._stand_in(direct, function)
            return self._call(function, self.operands(node), node.kwargs)

    def _call(self, function: ast.expr, args: list[ast.expr], kwargs: dict[str, Any]) -> ast.expr:
        keywords = [
            ast.keyword(name, self.arg(value), **self.at) for name, value in kwargs.items() if name.isidentifier()
        ]
        rest = {name: value for name, value in kwargs.items() if not name.isidentifier()}
        if rest:
            keywords.append(ast.keyword(None, self.arg(rest), **self.at))
        return ast.Call(function, args, keywords, **self.at)

    def _operator(self, template: str, node: Node) -> ast.expr:
        args = self.operands(node)
        found = fill(expression(template), args, self.at)
        assert isinstance(found, ast.expr)
        if isinstance(found, ast.UnaryOp) and isinstance(found.op, ast.Not):
            return self.negated(args[0])
        return found

    def untrue(self, test: ast.expr) -> ast.expr:
        """A condition with the opposite truth of `test`."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return test.operand
        return self.negated(test)

    def truth(self, test: Any) -> ast.expr:
        """A condition of which only the truth matters."""
        found = self.arg(test)
        if isinstance(found, ast.UnaryOp) and isinstance(found.op, ast.Not):
            inner = found.operand
            if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
                return inner.operand
        return found

    def negated(self, operand: ast.expr) -> ast.expr:
        """`not operand`, a bool."""
        if isinstance(operand, ast.Compare) and len(operand.ops) == 1:
            opposite = _OPPOSITES.get(type(operand.ops[0]))
            if opposite is not None:
                return ast.Compare(operand.left, [opposite()], operand.comparators, **self.at)
        return ast.UnaryOp(ast.Not(), operand, **self.at)

    def _getitem(self, node: Node) -> ast.expr:
        x, index = node.args
        return ast.Subscript(self.arg(x), self.index(index), ast.Load(), **self.at)

    def index(self, index: Any) -> ast.expr:
        """The text in brackets."""
        if isinstance(index, slice):
            parts = [None if part is None else self.arg(part) for part in (index.start, index.stop, index.step)]
            return ast.Slice(*parts, **self.at)
        if type(index) is tuple and index:
            return ast.Tuple(list(map(self.index, index)), ast.Load(), **self.at)
        return self.arg(index)

    def _getattr(self, node: Node) -> ast.expr:
        x, name, *default = node.args
        if default or not isinstance(name, str) or not is_usable(name):
            return self.call("getattr", list(map(self.arg, node.args)))
        return ast.Attribute(self.arg(x), name, ast.Load(), **self.at)

    def _any_call(self, node: Node) -> ast.expr:
        function, *args = node.args
        return self._call(self.arg(function), list(map(self.arg, args)), node.kwargs)

    def _range(self, node: Node) -> ast.expr:
        args = node.args
        if len(args) == 3 and type(args[2]) is int and args[2] == 1:
            args = args[1:2] if type(args[0]) is int and args[0] == 0 else args[:2]
        return self.call("range", list(map(self.arg, args)))

    def joined(self, parts: Any) -> ast.expr:
        """An f-string."""
        return ast.JoinedStr(list(map(self._part, parts)), **self.at)

    def _part(self, part: Any) -> ast.expr:
        if isinstance(part, str):
            return ast.Constant(part, **self.at)
        value, conversion, spec = part
        code = ord(conversion) if conversion else -1
        format_spec = self.joined((spec,) if isinstance(spec, str) else spec) if spec else None
        return ast.FormattedValue(self.arg(value), code, format_spec, **self.at)

    def _choice(self, node: Node) -> ast.expr:
        """`a if c else b`, which may be `c and a` or `c or b`."""
        then, orelse = self.plan.choices[node]
        test = node.args[0]
        is_bool = isinstance(test, Value) and test.type == BOOL
        if orelse is test or (orelse is False and is_bool):
            return self._logical(ast.And(), self.arg(test), self.arg(then))
        if then is test or (then is True and is_bool):
            return self._logical(ast.Or(), self.arg(test), self.arg(orelse))
        return ast.IfExp(self.arg(test), self.arg(then), self.arg(orelse), **self.at)

    def _logical(self, op: ast.boolop, first: ast.expr, second: ast.expr) -> ast.expr:
        values: list[ast.expr] = []
        for each in (first, second):
            flat = isinstance(each, ast.BoolOp) and type(each.op) is type(op)
            values += each.values if flat else [each]  # type: ignore[attr-defined]
        return ast.BoolOp(op, values, **self.at)


_CONSTRUCTS: dict[str, Callable[[Expressions, Node], ast.expr]] = {
    "build": lambda make, node: make.arg(node.args[0]),
    "getitem": Expressions._getitem,
    "getattr": Expressions._getattr,
    "call": Expressions._any_call,
    "fstring": lambda make, node: make.joined(node.args),
    "if": Expressions._choice,
}
_DIRECT: dict[np.ufunc | None, Callable[..., Any]] = {np.add: added, np.multiply: multiplied}
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.In: ast.NotIn, ast.Is: ast.IsNot}


def _is_plain_reduction(node: Node) -> bool:
    """Whether a function reduces an array of numbers, all of it or along an axis."""
    found = node.args[0].type if len(node.args) in (1, 2) and isinstance(node.args[0], Value) else None
    if not isinstance(found, TensorType) or found.kind != "array" or found.dtype.kind not in "biufc":
        return False
    others = (*node.args[1:], *node.kwargs.values())
    return node.kwargs.keys() <= {"axis", "keepdims"} and not any(arg is np._NoValue for arg in others)


@cache
def expression(template: str) -> ast.expr:
    """The tree of an operator's template, in which the operands are the names `_0`, `_1`, …"""
    found: ast.expr = parse(numbered(template), mode="eval").body
    return found


def numbered(template: str) -> str:
    """A template with names in its holes."""
    return template.format(*(f"_{number}" for number in range(template.count("{}"))))


def fill(tree: ast.AST, operands: Sequence[ast.expr], at: dict[str, Any]) -> ast.AST:
    """A copy of a template's tree with its operands."""
    if isinstance(tree, ast.Name):
        return operands[int(tree.id[1:])]
    if isinstance(tree, (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)):
        return tree
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(tree):
        if isinstance(value, list):
            fields[name] = [fill(each, operands, at) for each in value]
        else:
            fields[name] = fill(value, operands, at) if isinstance(value, ast.AST) else value
    return type(tree)(**fields, **at)
