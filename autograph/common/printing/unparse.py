"""Trees to text: a complete printer for `gast` and `ast` trees of Python 3.10 to 3.13.

The text of most nodes is a template (see `templates`), that of the others is printed by a function. Unlike
`ast.unparse`, this gives the same text under each version of Python, and writes tuples without needless parentheses.
Compound statements are a `head` (all before the colon) and `suite`s, so that printers which keep the user's text
(`syntax/printing`) can override these.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from autograph.common.printing import literals, precedence, templates
from autograph.common.printing.precedence import TEST, kind

Node = Any
"""A node of `ast` or `gast`: their classes differ, their names and fields nearly do not."""

_DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")
_DOCUMENTED = (*_DEFINITIONS, "Module")
_STAR_INDEX = sys.version_info >= (3, 11)


def unparse(tree: Node) -> str:
    """The text of a tree; of statements with a line feed at the end, of an expression without."""
    printer = Unparser()
    printer.dispatch(tree)
    text = printer.text()
    return text.lstrip("\n") + "\n" if text.startswith("\n") else text


def shown(body: Sequence[Node]) -> Sequence[Node]:
    """The statements of a block without those marked `silent`, which are never printed; at least a `pass`."""
    if not any(getattr(statement, "silent", False) for statement in body):
        return body
    visible = [statement for statement in body if not getattr(statement, "silent", False)]
    if visible:
        return visible
    empty: Node = ast.Pass()
    if hasattr(body[-1], "comments"):
        empty.comments = body[-1].comments
    return [empty]


class Unparser:
    """Prints trees; every line begins with a line feed.

    Attributes:
        out: the pieces of the text; `write` appends one.
        indent: the white space before the present line.
        unit: the indentation of a block.
        quoting: the allowed forms of string literals.
        except_: the keyword of the handlers that are being printed.
    """

    unit = "    "

    def __init__(self, quoting: literals.Quoting = literals.ANYWHERE) -> None:
        self.out: list[str] = []
        self.write = self.out.append
        self.quoting = quoting
        self.indent = ""
        self.except_ = "except"

    def text(self) -> str:
        """The text so far."""
        return "".join(self.out)

    def dispatch(self, tree: Node) -> None:
        """Print a node."""
        self.print_afresh(tree)

    def print_afresh(self, node: Node) -> None:
        """Print a node as the tables say."""
        name = kind(node)
        if name in templates.STATEMENTS:
            self.fill()
            _print(self, node, templates.STATEMENTS[name])
        elif name in templates.EXPRESSIONS:
            _print(self, node, templates.EXPRESSIONS[name])
        else:
            _FUNCTIONS[name](self, node)

    # -- expressions ---------------------------------------------------------------------------------------

    def place(self, node: Node, level: int) -> None:
        """Print an expression in a place that demands a level of precedence."""
        if precedence.needs_parentheses(node, level):
            self.write("(")
            self.dispatch(node)
            self.write(")")
        else:
            self.dispatch(node)

    def part(self, owner: Node, field: str, node: Node) -> None:
        """Print `node`, which is in a field of `owner`."""
        self.place(node, precedence.demand(owner, field))

    def child(self, node: Node, field: str) -> None:
        """Print the node in a field."""
        self.part(node, field, getattr(node, field))

    def separated(self, items: Iterable[Any], separator: str = ", ") -> Iterator[Any]:
        """The items, which the caller prints, with a separator printed between them."""
        for index, item in enumerate(items):
            if index:
                self.write(separator)
            yield item

    def children(self, node: Node, field: str, separator: str = ", ") -> None:
        """Print the list in a field."""
        for item in self.separated(getattr(node, field), separator):
            if isinstance(item, str):
                self.write(item)
            else:
                self.part(node, field, item)

    def places(self, nodes: Iterable[Node]) -> None:
        """Print expressions one after the other, in brackets that the caller prints."""
        for item in self.separated(nodes):
            self.place(item, TEST)

    def is_link(self, node: Node, level: int) -> bool:
        """Whether an operand is an operation that needs no parentheses, and is printed afresh."""
        return kind(node) == "BinOp" and not precedence.needs_parentheses(node, level)

    def in_fstring(self, node: Node, quoting: literals.Quoting) -> str:
        """The text of an expression inside an f-string, where a bare `:` would end it."""
        printer = self.inner(quoting)
        end = node
        while kind(end) == "IfExp":
            end = end.orelse
        printer.place(node, precedence.OR if kind(end) == "Lambda" else TEST)
        return printer.text()

    def inner(self, quoting: literals.Quoting) -> Unparser:
        """A printer for an expression inside an f-string."""
        return type(self)(quoting)

    # -- statements ----------------------------------------------------------------------------------------

    def fill(self, text: str = "") -> None:
        """Begin a line."""
        self.write(f"\n{self.indent}{text}")

    def block(self, owner: Node, body: Sequence[Node]) -> None:
        """Print the statements of a block, at the present indentation."""
        for index, statement in enumerate(shown(body)):
            if index == 0 and kind(owner) in _DOCUMENTED and _is_docstring(statement):
                self.fill(literals.docstring(statement.value.value))
            else:
                if index and kind(statement) in _DEFINITIONS:
                    self.write("\n")
                self.dispatch(statement)

    def colon(self, owner: Node, keyword: str = "") -> None:
        """Print the colon behind a head, or behind the keyword of another block of `owner`."""
        self.write(":")
        if not keyword and getattr(owner, "type_comment", None):
            self.write(f"  # type: {owner.type_comment}")

    def suite(self, owner: Node, body: Sequence[Node], keyword: str = "") -> None:
        """Print a colon and an indented block."""
        self.colon(owner, keyword)
        outer, self.indent = self.indent, self.indent + self.unit
        self.block(owner, body)
        self.indent = outer

    def clause(self, node: Node, prefix: str = "") -> None:
        """Print the head of a statement, handler or case, and its own block."""
        self.fill(prefix)
        self.head(node)
        self.suite(node, node.body)

    def head(self, node: Node) -> None:
        """Print a compound statement up to the colon."""
        name = kind(node)
        if name in templates.HEADS:
            _print(self, node, templates.HEADS[name])
        else:
            _FUNCTIONS[f"{name}_head"](self, node)

    def keyword_clause(self, keyword: str, owner: Node, body: Sequence[Node]) -> None:
        """Print an `else` or `finally`, if there is one."""
        if body:
            self.fill(keyword)
            self.suite(owner, body, keyword)

    def is_elif(self, orelse: Sequence[Node]) -> bool:
        """Whether to print the `else` branch of an `if` as `elif`."""
        return len(orelse) == 1 and kind(orelse[0]) == "If"

    def decorators(self, node: Node) -> None:
        """Print the decorators of a definition, each on its line."""
        for decorator in node.decorator_list:
            self.fill("@")
            self.part(node, "decorator_list", decorator)


_Form = Callable[[Unparser, Node], None]
_FUNCTIONS: dict[str, _Form] = {}


def _prints(*names: str) -> Callable[[_Form], _Form]:
    """Register the function that prints a kind of nodes, or the head of such."""

    def register(function: _Form) -> _Form:
        _FUNCTIONS.update(dict.fromkeys(names, function))
        return function

    return register


def _print(printer: Unparser, node: Node, template: str) -> None:
    """Print a node by its template."""
    for before, name, mode, after in templates.fields(template):
        value: Any = getattr(node, name, None) if name else ""  # older versions of Python have not all fields
        if mode == "*":
            for item in value:
                printer.write(before)
                printer.part(node, name, item)
                printer.write(after)
        elif value or not name:
            printer.write(before)
            if isinstance(value, str):
                printer.write(value)
            elif not isinstance(value, list):
                printer.part(node, name, value)
            elif mode == "+":
                printer.places(value)
            else:
                printer.children(node, name)
            printer.write(after)


# -- expressions --------------------------------------------------------------------------------------------


@_prints("Constant")
def _constant(printer: Unparser, node: Node) -> None:
    if node.kind:
        printer.write(node.kind)
    printer.write(literals.constant(node.value, printer.quoting))


@_prints("JoinedStr")
def _joined_string(printer: Unparser, node: Node) -> None:
    printer.write(literals.fstring(node, printer.in_fstring, printer.quoting))


@_prints("FormattedValue")
def _formatted_value(printer: Unparser, node: Node) -> None:
    _joined_string(printer, ast.JoinedStr([node]))


@_prints("Name")
def _name(printer: Unparser, node: Node) -> None:
    printer.write(node.id)
    if getattr(node, "annotation", None) is not None:  # a parameter, in gast
        printer.write(": ")
        printer.child(node, "annotation")


@_prints("Set")
def _set(printer: Unparser, node: Node) -> None:
    printer.write("{")
    printer.children(node, "elts")
    printer.write("}" if node.elts else "*()}")


@_prints("Tuple")
def _tuple(printer: Unparser, node: Node) -> None:
    """A tuple of two or more is bare: `place` parenthesizes it."""
    if len(node.elts) > 1:
        printer.children(node, "elts")
    else:
        printer.write("(")
        printer.children(node, "elts")
        printer.write(",)" if node.elts else ")")


@_prints("Dict")
def _dict(printer: Unparser, node: Node) -> None:
    printer.write("{")
    for key, value in printer.separated(zip(node.keys, node.values)):
        if key is not None:
            printer.place(key, TEST)
        printer.write("**" if key is None else ": ")
        printer.place(value, precedence.BIT_OR if key is None else TEST)
    printer.write("}")


@_prints("comprehension")
def _comprehension(printer: Unparser, node: Node) -> None:
    printer.write(" async" * node.is_async)
    _print(printer, node, " for {target} in {iter}{ if ifs*}")


@_prints("BoolOp")
def _logical(printer: Unparser, node: Node) -> None:
    printer.children(node, "values", " or " if kind(node.op) == "Or" else " and ")


@_prints("BinOp")
def _binary(printer: Unparser, node: Node) -> None:
    chain = [node]
    while printer.is_link(chain[-1].left, precedence.demand(chain[-1], "left")):  # sums can be long
        chain.append(chain[-1].left)
    printer.child(chain[-1], "left")
    for link in reversed(chain):
        printer.write(f" {templates.OPERATORS[kind(link.op)]} ")
        printer.child(link, "right")


@_prints("Compare")
def _compare(printer: Unparser, node: Node) -> None:
    printer.child(node, "left")
    for operator, operand in zip(node.ops, node.comparators):
        printer.write(f" {templates.OPERATORS[kind(operator)]} ")
        printer.part(node, "comparators", operand)


@_prints("Lambda")
def _lambda(printer: Unparser, node: Node) -> None:
    printer.write("lambda")
    mark = len(printer.out)
    printer.dispatch(node.args)
    if len(printer.out) > mark:
        printer.out.insert(mark, " ")
    printer.write(": ")
    printer.child(node, "body")


@_prints("Subscript")
def _subscript(printer: Unparser, node: Node) -> None:
    printer.child(node, "value")
    printer.write("[")
    index = node.slice
    if kind(index) == "Tuple" and index.elts and _is_bare_index(index):
        printer.places(index.elts)
        printer.write("," * (len(index.elts) == 1))
    else:
        printer.place(index, TEST)
    printer.write("]")


def _is_bare_index(index: Node) -> bool:
    kinds = {kind(item) for item in index.elts}
    return _STAR_INDEX or "Slice" in kinds or "Starred" not in kinds


@_prints("Call")
def _call(printer: Unparser, node: Node) -> None:
    printer.child(node, "func")
    if len(node.args) == 1 and not node.keywords and kind(node.args[0]) == "GeneratorExp":
        printer.dispatch(node.args[0])  # it brings the parentheses
    else:
        printer.write("(")
        printer.places([*node.args, *node.keywords])
        printer.write(")")


@_prints("keyword")
def _keyword(printer: Unparser, node: Node) -> None:
    printer.write("**" if node.arg is None else node.arg + "=")
    printer.child(node, "value")


@_prints("arguments")
def _arguments(printer: Unparser, node: Node) -> None:
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
    for stars, name, default in printer.separated(parts):
        printer.write(stars)
        if name is not None:
            printer.place(name, TEST)
        if default is not None:
            printer.write(" = " if getattr(name, "annotation", None) is not None else "=")
            printer.place(default, TEST)


# -- patterns -----------------------------------------------------------------------------------------------


@_prints("MatchSingleton")
def _match_singleton(printer: Unparser, node: Node) -> None:
    printer.write(repr(node.value))


@_prints("MatchStar")
def _match_star(printer: Unparser, node: Node) -> None:
    printer.write("*" + (node.name or "_"))


@_prints("MatchMapping")
def _match_mapping(printer: Unparser, node: Node) -> None:
    printer.write("{")
    for key, pattern in printer.separated(zip(node.keys, node.patterns)):
        printer.place(key, TEST)
        printer.write(": ")
        printer.dispatch(pattern)
    if node.rest is not None:
        printer.write((", **" if node.keys else "**") + node.rest)
    printer.write("}")


@_prints("MatchClass")
def _match_class(printer: Unparser, node: Node) -> None:
    printer.child(node, "cls")
    printer.write("(")
    printer.places(node.patterns)
    for index, (name, pattern) in enumerate(zip(node.kwd_attrs, node.kwd_patterns)):
        printer.write((", " if index or node.patterns else "") + name + "=")
        printer.dispatch(pattern)
    printer.write(")")


@_prints("MatchAs")
def _match_as(printer: Unparser, node: Node) -> None:
    if node.pattern is not None:
        printer.child(node, "pattern")
        printer.write(" as ")
    printer.write(node.name or "_")


@_prints("MatchOr")
def _match_or(printer: Unparser, node: Node) -> None:
    printer.children(node, "patterns", " | ")


# -- statements ---------------------------------------------------------------------------------------------


@_prints("Module")
def _module(printer: Unparser, node: Node) -> None:
    printer.block(node, node.body)


@_prints("AnnAssign")
def _annotated_assignment(printer: Unparser, node: Node) -> None:
    printer.fill()
    bare = node.simple or kind(node.target) != "Name"  # `(x): int` declares no variable
    _print(printer, node, "{target}: {annotation}{ = value}" if bare else "({target}): {annotation}{ = value}")


@_prints("ImportFrom")
def _import_from(printer: Unparser, node: Node) -> None:
    printer.fill(f"from {'.' * node.level}")
    _print(printer, node, "{module} import {names}")


@_prints("If")
def _if(printer: Unparser, node: Node) -> None:
    printer.clause(node)
    while printer.is_elif(node.orelse):
        node = node.orelse[0]
        printer.clause(node, "el")
    printer.keyword_clause("else", node, node.orelse)


@_prints("AsyncFor", "For", "While")
def _loop(printer: Unparser, node: Node) -> None:
    printer.clause(node)
    printer.keyword_clause("else", node, node.orelse)


@_prints("With", "AsyncWith")
def _with(printer: Unparser, node: Node) -> None:
    printer.clause(node)


@_prints("With_head", "AsyncWith_head")
def _with_head(printer: Unparser, node: Node) -> None:
    printer.write("async with " if kind(node) == "AsyncWith" else "with ")
    alone = len(node.items) == 1 and node.items[0].optional_vars is None
    in_parentheses = alone and kind(node.items[0].context_expr) == "Tuple"
    printer.write("(" * in_parentheses)  # in a single pair of parentheses they would be several items
    for item in printer.separated(node.items):
        printer.dispatch(item)
    printer.write(")" * in_parentheses)


@_prints("Try", "TryStar")
def _try(printer: Unparser, node: Node) -> None:
    printer.clause(node)
    for handler in node.handlers:
        printer.except_ = "except*" if kind(node) == "TryStar" else "except"
        printer.clause(handler)
    printer.keyword_clause("else", node, node.orelse)
    printer.keyword_clause("finally", node, node.finalbody)


@_prints("ExceptHandler_head")
def _handler_head(printer: Unparser, node: Node) -> None:
    printer.write(printer.except_)
    _print(printer, node, "{ type}{ as name}")  # the name is a Name in gast, a string in ast


@_prints("Match")
def _match(printer: Unparser, node: Node) -> None:
    printer.fill()
    printer.head(node)
    printer.colon(node)
    outer, printer.indent = printer.indent, printer.indent + printer.unit
    for case in node.cases:
        printer.clause(case)
    printer.indent = outer


@_prints("AsyncFunctionDef", "ClassDef", "FunctionDef")
def _definition(printer: Unparser, node: Node) -> None:
    printer.decorators(node)
    printer.clause(node)


@_prints("FunctionDef_head", "AsyncFunctionDef_head")
def _function_head(printer: Unparser, node: Node) -> None:
    printer.write("async " * (kind(node) == "AsyncFunctionDef"))
    _print(printer, node, "def {name}{[type_params+]}(")
    printer.dispatch(node.args)
    _print(printer, node, "){ -> returns}")


@_prints("ClassDef_head")
def _class_head(printer: Unparser, node: Node) -> None:
    _print(printer, node, "class {name}{[type_params+]}")
    if node.bases or node.keywords:
        printer.write("(")
        printer.places([*node.bases, *node.keywords])
        printer.write(")")


def _is_docstring(node: Node) -> bool:
    if kind(node) != "Expr" or kind(node.value) != "Constant" or node.value.kind:
        return False
    return isinstance(node.value.value, str)
