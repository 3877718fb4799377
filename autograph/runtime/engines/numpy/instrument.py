"""Times the nodes of a graph, for `ag.profile`: a copy of the generated function with calls that read the clock.

    def f(x, y):                            def f(x, y):
                                                run = begin()
                                                try:
        t = x * y + 1               ->              t = run.tick(1, x * y) + 1
                                                    run.tick(2)
        return np.sin(t)                            return run.tick(3, np.sin(t))
                                                finally:
                                                    run.end()

Operands are evaluated before the operation. So the time between two ticks is that of the node of the second one, also
within an expression. The code does the same as without ticks: they return what they get, and nothing else.

While there is a profile, the function has the code `STUB`, and the other code from its first call on. So only what runs
is instrumented, and without a profile, there is nothing that takes time.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from types import CodeType
from typing import Any

from autograph.common.code_flags import OfCode, code_line
from autograph.common.forking import cached_property
from autograph.runtime.engines.numpy.line_table import Marks, calls, node_of
from autograph.runtime.graph.callables import name_of
from autograph.runtime.graph.graph import Block, Constant, Graph, Node, walk
from autograph.runtime.profiling.recorder import Line, Site, Spot

# Names that no program can use.
RUN, BEGIN, FIRST = "<run>", "<begin>", "<first>"

originals: OfCode[CodeType] = OfCode()      # of instrumented code with marks: the same code without ticks


def _stub_code() -> CodeType:
    def stub(*args: Any) -> Any:
        return first()(*args)     # type: ignore[name-defined] # noqa: F821

    code = stub.__code__
    return code.replace(co_names=tuple(FIRST if name == "first" else name for name in code.co_names))


STUB = _stub_code()


def instrumented(function: ast.FunctionDef, marks: Marks) -> ast.FunctionDef:
    """A copy of a generated function that times its nodes."""
    made = copy.deepcopy(function)
    ticks = _Ticks(marks)
    at: Any = {"lineno": 1, "end_lineno": 1, "col_offset": 0, "end_col_offset": 0}      # the mark of no node
    begun = ast.Call(ast.Name(BEGIN, ast.Load(), **at), [], [], **at)
    begin = ast.Assign([ast.Name(RUN, ast.Store(), **at)], begun, **at)
    made.body = [begin, ast.Try(ticks.block(made.body), [], [], [_statement("end", at)], **at)]
    return made


def _call(method: str, arguments: list[ast.expr], at: Any) -> ast.Call:
    function = ast.Attribute(ast.Name(RUN, ast.Load(), **at), method, ast.Load(), **at)
    return ast.Call(function, arguments, [], **at)


def _statement(method: str, at: Any, *arguments: int) -> ast.stmt:
    return ast.Expr(_call(method, [ast.Constant(each, **at) for each in arguments], at), **at)


def _at(tree: Any) -> dict[str, Any]:
    return {name: getattr(tree, name) for name in ("lineno", "end_lineno", "col_offset", "end_col_offset")}


_PLAIN = (ast.Name, ast.Constant, ast.Starred, ast.Slice, ast.FormattedValue)  # take no time, or are no expressions


class _Ticks:
    """Puts ticks into statements."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [made for statement in body for made in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        mark, at = statement.lineno, _at(statement)
        for name, part in ast.iter_fields(statement):
            if isinstance(part, ast.expr):
                setattr(statement, name, self._expression(part, self._around(statement)))
            elif isinstance(part, list) and part and isinstance(part[0], ast.expr):
                part[:] = [self._expression(each, mark) for each in part]
            elif isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                part[:] = self.block(part)
        match statement:
            case ast.For():
                statement.body.insert(0, _statement("tick", at, mark))
                return [statement, _statement("also", at, mark)]
            case ast.With():
                for item in statement.items:
                    item.context_expr = self._expression(item.context_expr, mark)
                statement.body.insert(0, _statement("tick", at, mark))
                return [statement, _statement("also", at, mark)]
            case ast.Delete([ast.Name(), *_]):
                return [statement, _statement("also", at, mark)]
            case ast.AugAssign() | ast.Expr() | ast.Delete():
                return [statement, _statement("tick", at, mark)]
            case ast.Assign(targets, value) if not (isinstance(targets[0], (ast.Name, ast.Tuple)) and _is_copy(value)):
                return [statement, _statement("tick", at, mark)]
        return [statement]

    def _around(self, statement: ast.stmt) -> int:
        """The mark whose time ends with a statement, so that its expression needs no tick; 0 if none does."""
        return 0 if isinstance(statement, (ast.Return, ast.If, ast.While, ast.Raise)) else statement.lineno

    def _expression(self, tree: ast.expr, around: int) -> ast.expr:
        """An expression with ticks, also at its end unless the mark around it is the same."""
        if not isinstance(getattr(tree, "ctx", None), (ast.Store, ast.Del)):
            self._parts(tree)
            if tree.lineno != around and self._takes_time(tree):
                return _call("tick", [ast.Constant(tree.lineno, **_at(tree)), tree], _at(tree))
        elif isinstance(tree, (ast.Subscript, ast.Attribute)):
            self._parts(tree)
        return tree

    def _takes_time(self, tree: ast.expr) -> bool:
        return not isinstance(tree, _PLAIN) and not _is_copy(tree) and node_of(self._marks, tree.lineno) is not None

    def _parts(self, tree: Any) -> None:
        around = tree.lineno
        for name, part in ast.iter_fields(tree):
            if isinstance(part, ast.Attribute) and isinstance(tree, ast.Call) and name == "func":
                part.value = self._expression(part.value, around)
            elif isinstance(part, ast.Slice):
                self._parts(part)
            elif isinstance(part, ast.expr):
                setattr(tree, name, self._expression(part, around))
            elif isinstance(part, list):
                part[:] = [self._part(each, around) for each in part]

    def _part(self, part: Any, around: int) -> Any:
        """An item of a list in a tree."""
        if isinstance(part, ast.expr):
            return self._expression(part, around)
        if isinstance(part, ast.keyword):
            part.value = self._expression(part.value, around)
        elif isinstance(part, ast.comprehension):
            part.iter = self._expression(part.iter, around)
            part.ifs = [self._expression(each, around) for each in part.ifs]
        return part


def _is_copy(tree: ast.expr) -> bool:
    """Whether an expression only names things."""
    if isinstance(tree, ast.Tuple):
        return all(map(_is_copy, tree.elts))
    return isinstance(tree, (ast.Name, ast.Constant))


# What ticks are of ---------------------------------------------------------------------------------------------------


class _Spots:
    """The nodes of instrumented code by their marks.

    Args:
        marked: the instrumented code, with marks for lines.
    """

    def __init__(self, marks: Marks, marked: CodeType, begin: Line) -> None:
        self._marks = marks
        self._marked = marked
        self._begin = begin

    @cached_property
    def _by_instruction(self) -> list[int]:
        return [mark or 0 for start, end, mark in self._marked.co_lines() for _ in range(start, end, 2)]

    def number_at(self, instruction: int) -> int:
        """The mark of an instruction."""
        return self._by_instruction[instruction // 2] if instruction >= 0 else 0

    def spot(self, number: int) -> Spot:
        """The spot of a mark."""
        node = node_of(self._marks, number)
        if node is None:
            return Spot("", "entering", (self._begin,))
        lines = _lines_of(node) or (self._begin,)
        if node.op != "call":
            return Spot(node.op, "NumPy", lines, (node,))
        target = node.args[0].value if isinstance(node.args[0], Constant) else node.args[0]
        if not hasattr(target, "sources"):
            return Spot(f"call {name_of(target)}", "Python", lines, (node,))
        nodes = tuple(target.sources)       # a loop or a kernel
        name = ", ".join(dict.fromkeys(each.op for each in nodes))
        return Spot(name, "machine code" if target.compiled else "NumPy", lines, nodes, _last(nodes, lines[-1]))


def _lines_of(node: Node) -> tuple[Line, ...]:
    return tuple(_line_of(code, code_line(code, instruction)) for code, instruction in calls(node.place))


def _last(nodes: Iterable[Node], first: Line) -> int:
    """The last line of some nodes in the function in which they begin."""
    inside = (inner for node in nodes for inner in walk(Block([node])))
    places = (line for node in inside for line in _lines_of(node) if line._replace(line=0) == first._replace(line=0))
    return max((line.line for line in places), default=0)


def _line_of(code: CodeType, line: int | None) -> Line:
    return Line(code.co_filename, line or code.co_firstlineno, getattr(code, "co_qualname", code.co_name))


def site_of(graph: Graph, marks: Marks, marked: CodeType) -> Site:
    """The site of instrumented code."""
    places = (node.place for node in marks if node is not None and node.place)
    begin = next((_line_of(place[0][0], None) for place in places), Line("", 0, graph.name))
    spots = _Spots(marks, marked, begin)
    return Site("graph", begin, spots.spot, len(marks) + 1, spots.number_at)
