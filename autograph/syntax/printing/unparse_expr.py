"""Expressions and patterns of the printer: one `_Node` method for each, as astunparse wants it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import astunparse
import gast

from autograph.syntax.printing import literals, precedence
from autograph.syntax.printing.precedence import TEST, kind

_UNARY = {"Invert": "~", "Not": "not ", "UAdd": "+", "USub": "-"}
BINARY = {
    "Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "Mod": "%", "Pow": "**", "LShift": "<<",
    "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&", "FloorDiv": "//",
}  # fmt: skip
_COMPARE = {
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not",
    "In": "in", "NotIn": "not in",
}  # fmt: skip
_STAR_INDEX = sys.version_info >= (3, 11)


class ExpressionUnparser(astunparse.Unparser):  # type: ignore[misc]
    """Prints expressions with parentheses only where precedence asks for them.

    astunparse prints while it is being constructed, and into a file. Here the pieces of text gather in `out`;
    `write` appends one. Methods ask for the parts of a node by the name of their field (`child`, `children`), so that
    there is one place, `place`, that decides on parentheses and that subclasses may override.
    """

    def __init__(self, quoting: literals.Quoting = literals.ANYWHERE) -> None:
        self.out: list[str] = []
        self.write = self.out.append
        self.quoting = quoting
        self.future_imports: list[str] = []  # astunparse notes them, we do not need them

    def text(self) -> str:
        """What was printed so far."""
        return "".join(self.out)

    def place(self, node: gast.AST, level: int) -> None:
        """Print an expression in a place that demands a level of precedence."""
        if precedence.needs_parentheses(node, level):
            self.write("(")
            self.dispatch(node)
            self.write(")")
        else:
            self.dispatch(node)

    def part(self, owner: gast.AST, field: str, node: gast.AST) -> None:
        """Print `node`, which stands in a field of `owner`."""
        self.place(node, precedence.demand(owner, field))

    def child(self, node: gast.AST, field: str) -> None:
        """Print what stands in a field."""
        self.part(node, field, getattr(node, field))

    def children(self, node: gast.AST, field: str, separator: str = ", ") -> None:
        """Print the list of expressions in a field."""
        for index, item in enumerate(getattr(node, field)):
            if index:
                self.write(separator)
            self.part(node, field, item)

    def places(self, nodes: Iterable[gast.AST]) -> None:
        """Print expressions one after the other, in brackets that somebody else prints."""
        for index, item in enumerate(nodes):
            if index:
                self.write(", ")
            self.place(item, TEST)

    # -- atoms ---------------------------------------------------------------------------------------------

    def _Constant(self, node: gast.AST) -> None:
        if node.kind:
            self.write(node.kind)
        self.write(literals.constant(node.value, self.quoting))

    def _JoinedStr(self, node: gast.AST) -> None:
        self.write(literals.fstring(node, self.in_fstring, self.quoting))

    def in_fstring(self, node: gast.AST, quoting: literals.Quoting) -> str:
        """The text of an expression inside an f-string, where a bare `:` would end it."""
        printer = type(self).plain(quoting)
        end = node
        while kind(end) == "IfExp":
            end = end.orelse
        printer.place(node, precedence.OR if kind(end) == "Lambda" else TEST)
        return printer.text()

    @classmethod
    def plain(cls, quoting: literals.Quoting) -> ExpressionUnparser:
        """A printer for an expression inside an f-string."""
        return cls(quoting)

    def _FormattedValue(self, node: gast.AST) -> None:
        self._JoinedStr(gast.JoinedStr([node]))

    def _Name(self, node: gast.AST) -> None:
        self.write(node.id)
        if getattr(node, "annotation", None) is not None:  # a parameter, in gast
            self.write(": ")
            self.child(node, "annotation")

    def _arg(self, node: gast.AST) -> None:
        self._Name(gast.Name(node.arg, None, node.annotation, None))

    def _List(self, node: gast.AST) -> None:
        self.write("[")
        self.children(node, "elts")
        self.write("]")

    def _Set(self, node: gast.AST) -> None:
        self.write("{")
        self.children(node, "elts")
        self.write("}" if node.elts else "*()}")

    def _Tuple(self, node: gast.AST) -> None:
        """A tuple of two or more is bare: `place` parenthesises it."""
        if len(node.elts) > 1:
            self.children(node, "elts")
        else:
            self.write("(")
            self.children(node, "elts")
            self.write(",)" if node.elts else ")")

    def _Dict(self, node: gast.AST) -> None:
        self.write("{")
        for index, (key, value) in enumerate(zip(node.keys, node.values)):
            if index:
                self.write(", ")
            if key is None:
                self.write("**")
                self.place(value, precedence.BIT_OR)
            else:
                self.place(key, TEST)
                self.write(": ")
                self.place(value, TEST)
        self.write("}")

    # -- comprehensions ------------------------------------------------------------------------------------

    def _comprehended(self, node: gast.AST, opening: str, closing: str) -> None:
        self.write(opening)
        self.child(node, "elt")
        self.dispatch(node.generators)
        self.write(closing)

    def _ListComp(self, node: gast.AST) -> None:
        self._comprehended(node, "[", "]")

    def _SetComp(self, node: gast.AST) -> None:
        self._comprehended(node, "{", "}")

    def _GeneratorExp(self, node: gast.AST) -> None:
        self._comprehended(node, "(", ")")

    def _DictComp(self, node: gast.AST) -> None:
        self.write("{")
        self.child(node, "key")
        self.write(": ")
        self.child(node, "value")
        self.dispatch(node.generators)
        self.write("}")

    def _comprehension(self, node: gast.AST) -> None:
        self.write(" async for " if node.is_async else " for ")
        self.child(node, "target")
        self.write(" in ")
        self.child(node, "iter")
        for test in node.ifs:
            self.write(" if ")
            self.part(node, "ifs", test)

    # -- operations ----------------------------------------------------------------------------------------

    def _NamedExpr(self, node: gast.AST) -> None:
        self.child(node, "target")
        self.write(" := ")
        self.child(node, "value")

    def _BoolOp(self, node: gast.AST) -> None:
        self.children(node, "values", " or " if kind(node.op) == "Or" else " and ")

    def _BinOp(self, node: gast.AST) -> None:
        chain = [node]
        while self.is_link(chain[-1].left, precedence.demand(chain[-1], "left")):  # sums can be long
            chain.append(chain[-1].left)
        self.child(chain[-1], "left")
        for link in reversed(chain):
            self.write(f" {BINARY[kind(link.op)]} ")
            self.child(link, "right")

    def is_link(self, node: gast.AST, level: int) -> bool:
        """Whether an operand is an operation that is to be printed afresh, without parentheses."""
        return kind(node) == "BinOp" and not precedence.needs_parentheses(node, level)

    def _UnaryOp(self, node: gast.AST) -> None:
        self.write(_UNARY[kind(node.op)])
        self.child(node, "operand")

    def _Compare(self, node: gast.AST) -> None:
        self.child(node, "left")
        for operator, operand in zip(node.ops, node.comparators):
            self.write(f" {_COMPARE[kind(operator)]} ")
            self.part(node, "comparators", operand)

    def _IfExp(self, node: gast.AST) -> None:
        self.child(node, "body")
        self.write(" if ")
        self.child(node, "test")
        self.write(" else ")
        self.child(node, "orelse")

    def _Lambda(self, node: gast.AST) -> None:
        self.write("lambda")
        mark = len(self.out)
        self.dispatch(node.args)
        if len(self.out) > mark:
            self.out.insert(mark, " ")
        self.write(": ")
        self.child(node, "body")

    def _keyword_and_value(self, keyword: str, node: gast.AST) -> None:
        self.write(keyword)
        if node.value is not None:
            self.write(" ")
            self.child(node, "value")

    def _Await(self, node: gast.AST) -> None:
        self._keyword_and_value("await", node)

    def _Yield(self, node: gast.AST) -> None:
        self._keyword_and_value("yield", node)

    def _YieldFrom(self, node: gast.AST) -> None:
        self._keyword_and_value("yield from", node)

    # -- primaries -----------------------------------------------------------------------------------------

    def _Attribute(self, node: gast.AST) -> None:
        self.child(node, "value")
        self.write("." + node.attr)

    def _Subscript(self, node: gast.AST) -> None:
        self.child(node, "value")
        self.write("[")
        index = node.slice
        if kind(index) == "Tuple" and index.elts and self._is_bare_index(index):
            self.places(index.elts)
            self.write("," * (len(index.elts) == 1))
        else:
            self.place(index, TEST)
        self.write("]")

    def _is_bare_index(self, index: gast.AST) -> bool:
        kinds = {kind(item) for item in index.elts}
        return _STAR_INDEX or "Slice" in kinds or "Starred" not in kinds

    def _Slice(self, node: gast.AST) -> None:
        if node.lower is not None:
            self.child(node, "lower")
        self.write(":")
        if node.upper is not None:
            self.child(node, "upper")
        if node.step is not None:
            self.write(":")
            self.child(node, "step")

    def _Starred(self, node: gast.AST) -> None:
        self.write("*")
        self.child(node, "value")

    def _Call(self, node: gast.AST) -> None:
        self.child(node, "func")
        if len(node.args) == 1 and not node.keywords and kind(node.args[0]) == "GeneratorExp":
            self.dispatch(node.args[0])  # it brings the parentheses
        else:
            self.write("(")
            self.places([*node.args, *node.keywords])
            self.write(")")

    def _keyword(self, node: gast.AST) -> None:
        self.write("**" if node.arg is None else node.arg + "=")
        self.child(node, "value")

    # -- parameters ----------------------------------------------------------------------------------------

    def _arguments(self, node: gast.AST) -> None:
        positional = [*node.posonlyargs, *node.args]
        defaults = [None] * (len(positional) - len(node.defaults)) + node.defaults
        parts = list(zip([""] * len(positional), positional, defaults))
        if node.posonlyargs:
            parts.insert(len(node.posonlyargs), ("/", None, None))
        if node.vararg or node.kwonlyargs:
            parts.append(("*", node.vararg, None))
        parts.extend(zip([""] * len(node.kwonlyargs), node.kwonlyargs, node.kw_defaults))
        if node.kwarg:
            parts.append(("**", node.kwarg, None))
        for index, part in enumerate(parts):
            self.write(", " if index else "")
            self._parameter(*part)

    def _parameter(self, stars: str, name: gast.AST | None, default: gast.AST | None) -> None:
        self.write(stars)
        if name is not None:
            self.place(name, TEST)
        if default is not None:
            self.write(" = " if getattr(name, "annotation", None) is not None else "=")
            self.place(default, TEST)

    def _type_parameter(self, node: gast.AST, stars: str) -> None:
        self.write(stars + node.name)
        if getattr(node, "bound", None) is not None:
            self.write(": ")
            self.child(node, "bound")
        if getattr(node, "default_value", None) is not None:
            self.write(" = ")
            self.child(node, "default_value")

    def _TypeVar(self, node: gast.AST) -> None:
        self._type_parameter(node, "")

    def _TypeVarTuple(self, node: gast.AST) -> None:
        self._type_parameter(node, "*")

    def _ParamSpec(self, node: gast.AST) -> None:
        self._type_parameter(node, "**")

    # -- patterns ------------------------------------------------------------------------------------------

    def _pattern(self, node: gast.AST, *weaker: str) -> None:
        """Print a pattern, parenthesized if it is one of those that bind too weakly here."""
        if kind(node) in weaker and getattr(node, "pattern", node) is not None:
            self.write("(")
            self.dispatch(node)
            self.write(")")
        else:
            self.dispatch(node)

    def _MatchValue(self, node: gast.AST) -> None:
        self.child(node, "value")

    def _MatchSingleton(self, node: gast.AST) -> None:
        self.write(repr(node.value))

    def _MatchSequence(self, node: gast.AST) -> None:
        self.write("[")
        self.places(node.patterns)
        self.write("]")

    def _MatchStar(self, node: gast.AST) -> None:
        self.write("*" + (node.name or "_"))

    def _MatchMapping(self, node: gast.AST) -> None:
        self.write("{")
        for index, (key, pattern) in enumerate(zip(node.keys, node.patterns)):
            self.write(", " if index else "")
            self.place(key, TEST)
            self.write(": ")
            self.dispatch(pattern)
        if node.rest is not None:
            self.write((", **" if node.keys else "**") + node.rest)
        self.write("}")

    def _MatchClass(self, node: gast.AST) -> None:
        self.child(node, "cls")
        self.write("(")
        self.places(node.patterns)
        for index, (name, pattern) in enumerate(zip(node.kwd_attrs, node.kwd_patterns)):
            self.write((", " if index or node.patterns else "") + name + "=")
            self.dispatch(pattern)
        self.write(")")

    def _MatchAs(self, node: gast.AST) -> None:
        if node.pattern is not None:
            self._pattern(node.pattern, "MatchAs")
            self.write(" as ")
        self.write(node.name or "_")

    def _MatchOr(self, node: gast.AST) -> None:
        for index, pattern in enumerate(node.patterns):
            self.write(" | " if index else "")
            self._pattern(pattern, "MatchAs", "MatchOr")
