"""From a converted tree to code that runs in the place of the user's.

A converted function is compiled under the user's file name and lines, as if it stood where the original stands.
It is never executed as a statement: its code is taken out and put together with the original's globals, closure
cells and defaults. So both see the same variables, also when one of them rebinds one.

`ag__` in a function is no variable, but a constant of its code: it is seen neither by `locals()`, nor in the
user's module, nor in the closure.

Wherever converted code calls operators it is *guarded*: frames of this library are cut out of the traceback of
an exception as it passes. That is compiled, but not printed:

    try:
        BODY
    except ag__.trim() or ():
        pass

`trim` returns None, so nothing is caught. Nor does a debugger see anything of it: see `_invisible`.
"""

from __future__ import annotations

import ast
import dis
import inspect
import os
import sys
from types import CodeType, FunctionType
from typing import Any

import gast

from . import codes
from .bridge import Enter, to_ast

FULL_TRACEBACK = "AUTOGRAPH_FULL_TRACEBACK"

OPERATORS = "ag__"
# What stands for the operators until they are put in: no text that a user's program has.
_OPERATORS = "\0ag__"


def load_function(
    node: Any,
    original: FunctionType,
    *,
    class_names: tuple[str, ...],
    generated: frozenset[str],
    operators: Any,
) -> FunctionType:
    """Make the function that runs `node`, and is otherwise like `original`.

    Args:
        node: a converted `gast.FunctionDef`, `AsyncFunctionDef` or `Lambda`; it is not modified.
        original: the user's function.
        class_names: the classes around it, innermost last.
        generated: the names of the functions that converters generated.
        operators: what `ag__` means.
    """
    code = compile_function(node, original, class_names=class_names, generated=generated, operators=operators)
    return instantiate(code, original)


def compile_function(
    node: Any,
    original: FunctionType,
    *,
    class_names: tuple[str, ...],
    generated: frozenset[str],
    operators: Any,
) -> CodeType:
    """The code of `load_function`, which all closures over `original`'s code can share."""
    like = original.__code__
    lowering = _Lowering(generated)
    function = lowering.lower(node)
    if isinstance(function, ast.Lambda):
        body = ast.copy_location(ast.Return(function.body), function.body)
        empty: dict[str, Any] = {"decorator_list": [], "returns": None, "type_params": []}
        function = ast.copy_location(ast.FunctionDef("<lambda>", function.args, [body], **empty), function)
        lowering.regions[0].node = function
    lowering.put_in(operators)
    code, path = codes.compile_alone(function, like, class_names, codes.imported(like), lowering.noisy)
    qualname = getattr(like, "co_qualname", original.__qualname__)
    code = codes.relabelled(code, lowering.marks, path, qualname, _invisible)
    flags = code.co_flags | like.co_flags & inspect.CO_ITERABLE_COROUTINE
    return code.replace(co_flags=flags, co_name=like.co_name)


def instantiate(code: CodeType, original: FunctionType) -> FunctionType:
    """Put compiled code in the place of that of `original`.

    Args:
        code: what `compile_function` made of the code of `original`.
        original: the function whose variables and attributes the new one has.
    """
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or ()))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, original.__globals__, original.__name__, original.__defaults__, closure)
    for name in ("__kwdefaults__", "__annotations__", "__doc__", "__module__", "__qualname__", "__type_params__"):
        if hasattr(original, name):
            setattr(made, name, getattr(original, name))
    made.__dict__.update(original.__dict__)
    return made


def load_module(
    tree: Any, filename: str, generated: frozenset[str] | None = None, operators: Any = None
) -> CodeType:
    """Compile a converted module.

    Args:
        tree: the converted `gast.Module`; it is not modified.
        filename: the user's file.
        generated: the names of the functions that converters generated; by default all that have no origin.
        operators: what `ag__` means; by default it is the variable that the converted module imports. Code that is
            given them does not import them, and cannot be written to a `.pyc` file.
    """
    lowering = _Lowering(generated)
    module = lowering.lower(tree)
    if operators is None:
        lowering.guard_all(_at_no_line(ast.Name(OPERATORS, ast.Load())))
    else:
        module.body = [made for made, node in zip(module.body, tree.body) if not _imports_operators(node)]
        lowering.put_in(operators)
    with codes.quiet(lowering.noisy):
        code = compile(module, filename, "exec", dont_inherit=True)
    return codes.relabelled(code, lowering.marks, change=_invisible)


def _imports_operators(node: Any) -> bool:
    names = node.names if isinstance(node, gast.Import) and not hasattr(node, "origin") else []
    return any(alias.asname == OPERATORS for alias in names)


# -- lowering: gast to ast, noting what is generated and what calls operators -------------------------------

_QUIET_OPERATORS = frozenset({"ref", "unbound"})            # they call nothing of the user's


class _Region:
    """A function, module or `try` statement; it is `active` if an operator is called in it."""

    __slots__ = ("active", "lambdas", "node", "parent")

    def __init__(self, node: Any, parent: _Region | None, lambdas: int) -> None:
        self.node = node
        self.parent = parent
        self.lambdas = lambdas                              # how many it stands in, itself included
        self.active = False


class _Lowering:
    """One translation of a tree, and what must be known of it afterwards."""

    def __init__(self, generated: frozenset[str] | None) -> None:
        self.generated = generated
        self.marks = codes.Marks()
        self.regions: list[_Region] = []
        self.operators: list[ast.Attribute] = []
        self.noisy = False

    def lower(self, tree: Any) -> Any:
        hooks: dict[type, Enter] = {
            gast.Attribute: self.attribute,
            gast.Lambda: self.function,
            gast.FunctionDef: self.function,
            gast.AsyncFunctionDef: self.region,
            gast.Module: self.region,
            gast.Try: self.region,
            gast.TryStar: self.region,
            gast.Compare: self.warned_of,
            gast.Assert: self.warned_of,
        }
        return to_ast(tree, hooks)

    def attribute(self, node: Any, made: Any, region: _Region | None) -> _Region | None:
        if type(node.value) is gast.Name and node.value.id == OPERATORS and not hasattr(node.value, "origin"):
            self.operators.append(made)
            if node.attr not in _QUIET_OPERATORS:
                around = region
                while around is not None and not around.active:
                    around.active = True
                    around = around.parent
        return region

    def region(self, node: Any, made: Any, region: _Region | None) -> _Region:
        inner = _Region(made, region, region.lambdas if region else 0)
        self.regions.append(inner)
        return inner

    def function(self, node: Any, made: Any, region: _Region | None) -> _Region:
        inner = self.region(node, made, region)
        if isinstance(node, gast.Lambda):
            if not hasattr(node, "origin") and region is not None:
                made.col_offset = made.end_col_offset = -1
                made.end_lineno = made.lineno
                given = node.args
                parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
                self.marks.lambdas.add((made.lineno, tuple(p.id for p in parameters), inner.lambdas))
            inner.lambdas += 1
        elif not hasattr(node, "origin") and (self.generated is None or node.name in self.generated):
            self.marks.functions.add((node.name, made.lineno))
        return inner

    def warned_of(self, node: Any, made: Any, region: _Region | None) -> _Region | None:
        """The compiler has something to say about constants in `is` and `assert`, as it had when it saw the file."""
        self.noisy = self.noisy or isinstance(node, gast.Assert) or isinstance(node.ops[0], gast.Is | gast.IsNot)
        return region

    def put_in(self, operators: Any) -> None:
        """Let operators be constants; for the compiler, which takes no objects, a text stands for them."""
        self.marks.constants[_OPERATORS] = operators
        for attribute in self.operators:
            attribute.value = _at_line(attribute.lineno, ast.Constant(_OPERATORS))
        self.guard_all(_at_no_line(ast.Constant(_OPERATORS)))

    def guard_all(self, operators: ast.expr) -> None:
        """Guard what calls operators, unless the user wants to see all frames."""
        if os.environ.get(FULL_TRACEBACK) == "1":
            return
        for region in self.regions:
            if region.active:
                _guard(region.node, operators)


# -- the guard ----------------------------------------------------------------------------------------------


def _guard(node: Any, operators: ast.expr) -> None:
    """Guard the body of a function or module; in a `try`, trim what the user's handlers get to see."""
    trim = _at_no_line(ast.Call(_at_no_line(ast.Attribute(operators, "trim", ast.Load())), [], []))
    if isinstance(node, ast.Lambda):
        return
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        for handler in node.handlers:
            handler.body.insert(0, _at_no_line(ast.Expr(trim)))
        return
    start = _preamble(node)
    nothing = _at_no_line(ast.Tuple([], ast.Load()))
    caught = _at_no_line(ast.BoolOp(ast.Or(), [trim, nothing]))
    handler = _at_no_line(ast.ExceptHandler(caught, None, [_at_no_line(ast.Pass())]))
    if start < len(node.body):
        node.body[start:] = [_at_no_line(ast.Try(node.body[start:], [handler], [], []))]


def _preamble(node: Any) -> int:
    """How many statements must stay in front: the docstring, and in a module `__future__` and other imports."""
    count = 0
    for statement in node.body:
        docstring = count == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        imports = isinstance(node, ast.Module) and isinstance(statement, ast.Import | ast.ImportFrom)
        if not docstring and not imports:
            break
        count += 1
    return count


def _at_no_line(node: Any) -> Any:
    return _at_line(-1, node)


def _at_line(line: int, node: Any) -> Any:
    node.lineno = node.end_lineno = line
    node.col_offset = node.end_col_offset = -1
    return node


# To a debugger, an exception leaves a function from the line that raised it. A handler at no line would leave it from
# line None, on which `pdb` stumbles; so the guard raises again in the way that `with` does: together with the exception
# it is handed the place where it was raised (`lasti`), and it puts this back. Python has no other syntax that says so.
_TABLES = sys.version_info >= (3, 11)
_RAISE_AGAIN = bytes(
    part
    for name, argument in (("RERAISE", 0), ("COPY", 3), ("POP_EXCEPT", 0), ("RERAISE", 1))
    for part in (dis.opmap.get(name, 0), argument)
)


def _invisible(code: CodeType) -> dict[str, Any]:
    """What to replace in the code of a guarded function, so that the guard leaves no mark on its frame."""
    raw = bytearray(code.co_code)
    if "trim" not in code.co_names:
        return {}
    if not _TABLES:
        if raw[-2] == dis.opmap["RERAISE"]:
            raw[-1] = 1                                 # the place is at hand: it only must be asked for
        return {"co_code": bytes(raw)}
    start = raw[::2].rfind(dis.opmap["PUSH_EXC_INFO"])
    again = raw.find(_RAISE_AGAIN, 2 * start)
    if start < 0 or again < 0 or codes.positions(code)[start + 1][0] is not None:
        return {}                                       # the last handler is the user's: it stands on lines
    raw[again + 1] = 2                                  # the place lies two below the exception
    table = _numbers(getattr(code, "co_exceptiontable"))  # noqa: B009
    for entry in range(0, len(table), 4):
        target = table[entry + 2]
        if target == start:
            table[entry + 3] |= 1                       # hand it over
        elif 2 * target == again + 2:
            table[entry + 3] += 2                       # one more on the stack, in units of two
    return {
        "co_code": bytes(raw),
        "co_exceptiontable": _table(table),
        "co_stacksize": code.co_stacksize + 1,
    }


def _numbers(table: bytes) -> list[int]:
    """An exception table: four numbers an entry, in groups of six bits, 64 meaning that more of them follow.

    They are the first instruction, how many, where to go, and twice the depth of the stack there, plus one if the
    place of the exception is to be handed over.
    """
    numbers, number = [], 0
    for byte in table:
        number = number << 6 | byte & 63
        if not byte & 64:
            numbers.append(number)
            number = 0
    return numbers


def _table(numbers: list[int]) -> bytes:
    """The inverse of `_numbers`; 128 marks where an entry begins."""
    table = bytearray()
    for place, number in enumerate(numbers):
        groups = [number & 63]
        while number := number >> 6:
            groups.append(number & 63 | 64)
        groups[-1] |= 0 if place % 4 else 128
        table.extend(reversed(groups))
    return bytes(table)
