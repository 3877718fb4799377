"""Trees back to text: a complete printer for `gast` and `ast` trees of Python 3.10 to 3.13.

`unparse` prints a whole tree afresh. `Unparser` is made of small parts that the printer which keeps the user's text
(`reprint`) overrides: a compound statement is a `head` (all before the colon) and `suite`s.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import gast

from autograph.syntax.bridge import to_gast
from autograph.syntax.origin import fields
from autograph.syntax.printing import literals
from autograph.syntax.printing.precedence import kind, method_of
from autograph.syntax.printing.unparse_expr import BINARY, ExpressionUnparser

_DOCUMENTED = ("FunctionDef", "AsyncFunctionDef", "ClassDef", "Module")


def unparse(tree: gast.AST) -> str:
    """The text of a tree; of statements with a line feed at the end, of an expression without."""
    printer = Unparser()
    printer.dispatch(tree)
    text = printer.text()
    return text.lstrip("\n") + "\n" if text.startswith("\n") else text


def shown(body: Sequence[gast.AST]) -> Sequence[gast.AST]:
    """The statements of a block but those marked `silent`, which run and say nothing; at least a `pass`."""
    if not any(getattr(statement, "silent", False) for statement in body):
        return body
    audible = [statement for statement in body if not getattr(statement, "silent", False)]
    if audible:
        return audible
    stand_in = gast.Pass()
    if hasattr(body[-1], "comments"):
        stand_in.comments = body[-1].comments
    return [stand_in]


class Unparser(ExpressionUnparser):
    """Prints statements; every line begins with a line feed, as in astunparse."""

    unit = "    "

    def __init__(self, quoting: literals.Quoting = literals.ANYWHERE) -> None:
        super().__init__(quoting)
        self.indent = ""
        self._except = "except"

    def fill(self, text: str = "") -> None:
        """Begin a line."""
        self.write(f"\n{self.indent}{text}")

    # -- blocks --------------------------------------------------------------------------------------------

    def block(self, owner: gast.AST, body: Sequence[gast.AST]) -> None:
        """Print the statements of a block, at the present indentation."""
        for index, statement in enumerate(shown(body)):
            if index == 0 and kind(owner) in _DOCUMENTED and _is_docstring(statement):
                self.fill(literals.docstring(statement.value.value))
            else:
                if index and kind(statement) in _DOCUMENTED:
                    self.write("\n")
                self.dispatch(statement)

    def colon(self, owner: gast.AST, keyword: str = "") -> None:
        """Print the colon behind a head, or behind the keyword of another block of `owner`."""
        self.write(":")
        if not keyword:
            self._type_comment(owner)

    def suite(self, owner: gast.AST, body: Sequence[gast.AST], keyword: str = "") -> None:
        """Print a colon and an indented block."""
        self.colon(owner, keyword)
        outer, self.indent = self.indent, self.indent + self.unit
        self.block(owner, body)
        self.indent = outer

    def clause(self, node: gast.AST, prefix: str = "") -> None:
        """Print the head of a statement, handler or case, and its own block."""
        self.fill(prefix)
        self.head(node)
        self.suite(node, node.body)

    def head(self, node: gast.AST) -> None:
        """Print a compound statement up to the colon."""
        getattr(self, method_of(node, "_head"))(node)

    def keyword_clause(self, keyword: str, owner: gast.AST, body: Sequence[gast.AST]) -> None:
        """Print an `else` or `finally`, if there is one."""
        if body:
            self.fill(keyword)
            self.suite(owner, body, keyword)

    def _type_comment(self, node: gast.AST) -> None:
        if getattr(node, "type_comment", None):
            self.write(f"  # type: {node.type_comment}")

    # -- simple statements that astunparse has not, or prints otherwise ------------------------------------

    def _Module(self, node: gast.AST) -> None:
        self.block(node, node.body)

    def _Expr(self, node: gast.AST) -> None:
        self.fill()
        self.child(node, "value")

    def _Assign(self, node: gast.AST) -> None:
        self.fill()
        self.children(node, "targets", " = ")
        self.write(" = ")
        self.child(node, "value")
        self._type_comment(node)

    def _AugAssign(self, node: gast.AST) -> None:
        self.fill()
        self.child(node, "target")
        self.write(f" {BINARY[kind(node.op)]}= ")
        self.child(node, "value")

    def _AnnAssign(self, node: gast.AST) -> None:
        self.fill()
        bare = node.simple or kind(node.target) != "Name"  # `(x): int` declares no variable
        self.write("" if bare else "(")
        self.child(node, "target")
        self.write(": " if bare else "): ")
        self.child(node, "annotation")
        if node.value is not None:
            self.write(" = ")
            self.child(node, "value")

    def _TypeAlias(self, node: gast.AST) -> None:
        self.fill("type ")
        self.child(node, "name")
        self._type_params(node)
        self.write(" = ")
        self.child(node, "value")

    def _keyword_statement(self, keyword: str, node: gast.AST, field: str) -> None:
        self.fill(keyword)
        if getattr(node, field) is not None:
            self.write(" ")
            self.child(node, field)

    def _Return(self, node: gast.AST) -> None:
        self._keyword_statement("return", node, "value")

    def _Raise(self, node: gast.AST) -> None:
        self._keyword_statement("raise", node, "exc")
        if node.cause is not None:
            self.write(" from ")
            self.child(node, "cause")

    def _Assert(self, node: gast.AST) -> None:
        self._keyword_statement("assert", node, "test")
        if node.msg is not None:
            self.write(", ")
            self.child(node, "msg")

    def _Delete(self, node: gast.AST) -> None:
        self.fill("del ")
        self.children(node, "targets")

    # -- compound statements -------------------------------------------------------------------------------

    def _If(self, node: gast.AST) -> None:
        self.clause(node)
        while self.is_elif(node.orelse):
            node = node.orelse[0]
            self.clause(node, "el")
        self.keyword_clause("else", node, node.orelse)

    def is_elif(self, orelse: Sequence[gast.AST]) -> bool:
        """Whether what follows an `if` is to be printed as `elif`."""
        return len(orelse) == 1 and kind(orelse[0]) == "If"

    def _If_head(self, node: gast.AST) -> None:
        self.write("if ")
        self.child(node, "test")

    def _While(self, node: gast.AST) -> None:
        self.clause(node)
        self.keyword_clause("else", node, node.orelse)

    def _While_head(self, node: gast.AST) -> None:
        self.write("while ")
        self.child(node, "test")

    def _For(self, node: gast.AST) -> None:
        self._While(node)

    def _For_head(self, node: gast.AST) -> None:
        self.write("for ")
        self.child(node, "target")
        self.write(" in ")
        self.child(node, "iter")

    def _With(self, node: gast.AST) -> None:
        self.clause(node)

    def _With_head(self, node: gast.AST) -> None:
        self.write("with ")
        alone = len(node.items) == 1 and node.items[0].optional_vars is None
        if alone and kind(node.items[0].context_expr) == "Tuple":
            self.write("(")  # in a single pair of parentheses they would be several items
            self.dispatch(node.items)
            self.write(")")
        else:
            for index, item in enumerate(node.items):
                self.write(", " if index else "")
                self.dispatch(item)

    def _withitem(self, node: gast.AST) -> None:
        self.child(node, "context_expr")
        if node.optional_vars is not None:
            self.write(" as ")
            self.child(node, "optional_vars")

    def _Try(self, node: gast.AST, keyword: str = "except") -> None:
        self.clause(node)
        for handler in node.handlers:
            self._except = keyword
            self.clause(handler)
        self.keyword_clause("else", node, node.orelse)
        self.keyword_clause("finally", node, node.finalbody)

    def _Try_head(self, node: gast.AST) -> None:
        self.write("try")

    def _ExceptHandler_head(self, node: gast.AST) -> None:
        self.write(self._except)
        if node.type is not None:
            self.write(" ")
            self.child(node, "type")
        if node.name is not None:  # a Name in gast, a string in ast
            self.write(f" as {getattr(node.name, 'id', node.name)}")

    def _Match(self, node: gast.AST) -> None:
        self.fill()
        self.head(node)
        self.colon(node)
        outer, self.indent = self.indent, self.indent + self.unit
        for case in node.cases:
            self.clause(case)
        self.indent = outer

    def _Match_head(self, node: gast.AST) -> None:
        self.write("match ")
        self.child(node, "subject")

    def _match_case_head(self, node: gast.AST) -> None:
        self.write("case ")
        self.child(node, "pattern")
        if node.guard is not None:
            self.write(" if ")
            self.child(node, "guard")

    # -- definitions ---------------------------------------------------------------------------------------

    def decorators(self, node: gast.AST) -> None:
        """Print the decorators of a definition, each on its line."""
        for decorator in node.decorator_list:
            self.fill("@")
            self.part(node, "decorator_list", decorator)

    def _FunctionDef(self, node: gast.AST) -> None:
        self.decorators(node)
        self.clause(node)

    def _FunctionDef_head(self, node: gast.AST) -> None:
        self.write(f"def {node.name}")
        self._type_params(node)
        self.write("(")
        self.dispatch(node.args)
        self.write(")")
        if node.returns is not None:
            self.write(" -> ")
            self.child(node, "returns")

    def _ClassDef(self, node: gast.AST) -> None:
        self.decorators(node)
        self.clause(node)

    def _ClassDef_head(self, node: gast.AST) -> None:
        self.write(f"class {node.name}")
        self._type_params(node)
        if node.bases or node.keywords:
            self.write("(")
            self.places([*node.bases, *node.keywords])
            self.write(")")

    def _type_params(self, node: gast.AST) -> None:
        if getattr(node, "type_params", None):
            self.write("[")
            self.places(node.type_params)
            self.write("]")

    # -- the same with a word more -------------------------------------------------------------------------

    _AsyncFor, _AsyncWith, _AsyncFunctionDef = _For, _With, _FunctionDef

    def _AsyncFor_head(self, node: gast.AST) -> None:
        self.write("async ")
        self._For_head(node)

    def _AsyncWith_head(self, node: gast.AST) -> None:
        self.write("async ")
        self._With_head(node)

    def _AsyncFunctionDef_head(self, node: gast.AST) -> None:
        self.write("async ")
        self._FunctionDef_head(node)

    def _TryStar(self, node: gast.AST) -> None:
        self._Try(node, "except*")

    _TryStar_head = _Try_head


def _is_docstring(node: gast.AST) -> bool:
    if kind(node) != "Expr" or kind(node.value) != "Constant" or node.value.kind:
        return False
    return isinstance(node.value.value, str)


def falls_apart(text: str) -> bool:
    """Whether an expression, put on a line of its own, would not be one."""
    try:
        return len(ast.parse(f"_ = {text}").body) != 1
    except SyntaxError:
        return True


def means(text: str, node: gast.AST) -> bool:
    """Whether a text parses to just this expression."""
    try:
        return _same(to_gast(ast.parse(f"({text}\n)", mode="eval").body), node)
    except SyntaxError:
        return False


def _same(one: object, other: object) -> bool:
    """Whether two gast trees are equal, places aside."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        return all(_same(getattr(one, name, None), getattr(other, name, None)) for name in fields(one))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other
