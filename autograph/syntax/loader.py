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
    except:
        ag__.trim()
        raise
"""

from __future__ import annotations

import ast
import inspect
from types import CodeType, FunctionType
from typing import Any

import gast

from autograph.common.code_marks import Shelter
from autograph.common.trace_rules import wants_full_tracebacks

from . import codes
from .bridge import Enter, to_ast
from .relabeling import Marks, relabeled

OPERATORS = "ag__"
# A placeholder for the operators: a text that no user's program has.
_OPERATORS = "\0ag__"


def compile_function(
    node: Any,
    original: FunctionType,
    *,
    class_names: tuple[str, ...],
    generated: frozenset[str],
    operators: Any,
) -> CodeType:
    """The code of a function that runs `node`, and is otherwise like `original`; closures over its code can share it.

    Args:
        node: a converted `gast.FunctionDef`, `AsyncFunctionDef` or `Lambda`; it is not modified.
        original: the user's function.
        class_names: the classes around it, innermost last.
        generated: the names of the functions that converters generated.
        operators: what `ag__` means.
    """
    like = original.__code__
    lowering = _Lowering(generated)
    function = lowering.lower(node)
    if isinstance(function, ast.Lambda):
        body = ast.copy_location(ast.Return(function.body), function.body)
        empty: dict[str, Any] = {"decorator_list": [], "returns": None, "type_params": []}
        function = ast.copy_location(ast.FunctionDef("<lambda>", function.args, [body], **empty), function)
        lowering.regions[0].node = function
        lowering.regions[0].guarded = True
    lowering.embed_operators(operators)
    code, path = codes.compile_alone(function, like, class_names, codes.imported_names(like), lowering.may_warn)
    qualname = getattr(like, "co_qualname", original.__qualname__)
    code = relabeled(code, lowering.marks, path, qualname)
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


def without_operators(code: CodeType, operators: Any) -> CodeType:
    """Code that can be written to a file: what stands for the operators is put in for them."""
    return _with_constant(code, operators, _OPERATORS)


def with_operators(code: CodeType, operators: Any) -> CodeType:
    """The same code with the operators in it again."""
    return _with_constant(code, _OPERATORS, operators)


def _with_constant(code: CodeType, one: Any, other: Any) -> CodeType:
    """Put another object in the place of a constant, in all code that is nested in this, too."""
    kind = type(one)
    consts = tuple([
        _with_constant(const, one, other) if isinstance(const, CodeType)
        else other if type(const) is kind and const == one
        else const
        for const in code.co_consts
    ])  # fmt: skip
    return code.replace(co_consts=consts)


def load_module(tree: Any, filename: str, generated: frozenset[str], operators: Any) -> CodeType:
    """Compile a converted module.

    Args:
        tree: the converted `gast.Module`; it is not modified.
        filename: the user's file.
        generated: the names of the functions that converters generated.
        operators: the object that `ag__` names. The code has it as a constant instead of importing it, so it cannot be
            written to a `.pyc` file.
    """
    lowering = _Lowering(generated)
    module = lowering.lower(tree)
    module.body = [made for made, node in zip(module.body, tree.body) if not _imports_operators(node)]
    lowering.embed_operators(operators)
    with codes.ignore_warnings(lowering.may_warn):
        code = compile(module, filename, "exec", dont_inherit=True)
    return relabeled(code, lowering.marks)


def _imports_operators(node: Any) -> bool:
    names = node.names if isinstance(node, gast.Import) and not hasattr(node, "origin") else []
    return any(alias.asname == OPERATORS for alias in names)


# -- lowering: gast to ast, noting what is generated and what calls operators -------------------------------

# They call nothing of the user's.
_QUIET_OPERATORS = frozenset({"ref", "unbound", "concrete", "context", "is_container", "place", "bound"})


class _Region:
    """A function, module or `try` statement; it is `active` if an operator is called in it."""

    __slots__ = ("active", "guarded", "lambdas", "node", "parent", "shelters")

    def __init__(self, node: Any, parent: _Region | None, lambdas: int) -> None:
        self.node = node
        self.parent = parent
        self.lambdas = lambdas                              # how deep it is nested, itself included
        self.active = False
        self.shelters: list[Shelter] = parent.shelters if parent else []    # those of the function it is in
        self.guarded = True                                 # not so the pieces of a function, which is guarded itself


class _Lowering:
    """One translation of a tree, and what must be known of it afterwards."""

    def __init__(self, generated: frozenset[str]) -> None:
        self.generated = generated
        self.marks = Marks()
        self.regions: list[_Region] = []
        self.operators: list[ast.Attribute] = []
        self.may_warn = False

    def lower(self, tree: Any) -> Any:
        hooks: dict[type, Enter] = {
            gast.Attribute: self.attribute,
            gast.Lambda: self.function,
            gast.FunctionDef: self.function,
            gast.AsyncFunctionDef: self.function,
            gast.Module: self.region,
            gast.Try: self.try_,
            gast.TryStar: self.try_,
            gast.With: self.with_,
            gast.AsyncWith: self.with_,
            gast.Compare: self.note_warnings,
            gast.Assert: self.note_warnings,
        }
        made = to_ast(tree, hooks)
        for region in self.regions:
            if region.shelters and isinstance(region.node, ast.FunctionDef | ast.AsyncFunctionDef):
                function = region.node
                line = min(node.lineno for node in (function, *function.decorator_list))
                self.marks.shelters[function.name, line] = sorted(region.shelters, key=lambda s: (s.first, -s.last))
        return made

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
        inner.shelters = []
        if isinstance(node, gast.Lambda):
            if not hasattr(node, "origin") and region is not None:
                made.col_offset = made.end_col_offset = -1
                made.end_lineno = made.lineno
                given = node.args
                parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
                self.marks.lambdas.add((made.lineno, tuple(p.id for p in parameters), inner.lambdas))
            inner.lambdas += 1
            inner.guarded = not isinstance(made, ast.Lambda)
        elif not hasattr(node, "origin") and node.name in self.generated:
            self.marks.functions.add((node.name, made.lineno))
            inner.guarded = False
        return inner

    def try_(self, node: Any, made: Any, region: _Region | None) -> _Region:
        inner = self.region(node, made, region)
        if node.finalbody:
            inner.shelters.append(Shelter(node.lineno, _last_line_before(node.finalbody), "finally"))
        if node.handlers:
            inner.shelters.append(Shelter(node.lineno, _last_line_before(node.handlers), "except"))
        return inner

    def with_(self, node: Any, made: Any, region: _Region | None) -> _Region | None:
        if region is not None:
            region.shelters.append(Shelter(node.lineno, node.end_lineno, "with"))
        return region

    def note_warnings(self, node: Any, made: Any, region: _Region | None) -> _Region | None:
        """The compiler has something to say about constants in `is` and `assert`, as it had when it saw the file."""
        self.may_warn = self.may_warn or isinstance(node, gast.Assert) or isinstance(node.ops[0], gast.Is | gast.IsNot)
        return region

    def embed_operators(self, operators: Any) -> None:
        """Let operators be constants; for the compiler, which takes no objects, a text stands for them."""
        self.marks.constants[_OPERATORS] = operators
        for attribute in self.operators:
            attribute.value = _place_on_line(attribute.lineno, ast.Constant(_OPERATORS))
        for region in self.regions if not wants_full_tracebacks() else ():
            if region.active and region.guarded:
                _guard(region.node)


def _last_line_before(nodes: list[Any]) -> int:
    """The last line before a block or the handlers of a statement; what was generated stands on none."""
    lines: list[int] = [node.lineno for node in nodes if hasattr(node, "lineno")]
    return min(lines) - 1


# -- the guard ----------------------------------------------------------------------------------------------


def _guard(node: Any) -> None:
    """Guard the body of a function or module; in a `try`, trim what the user's handlers get to see.

    To a tracer, an exception leaves a guarded function by way of its first line, which has run.
    """
    trim = ast.Expr(ast.Call(ast.Attribute(ast.Constant(_OPERATORS), "trim", ast.Load()), [], []))
    if hasattr(node, "handlers"):
        for handler in node.handlers:
            handler.body.insert(0, _place_on_line(-1, trim))
    elif (start := _preamble(node)) < len(node.body):
        handler = _place_on_line(getattr(node, "lineno", 1), ast.ExceptHandler(None, None, [trim, ast.Raise()]))
        node.body[start:] = [_place_on_line(-1, ast.Try(node.body[start:], [handler], [], []))]


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


def _place_on_line(line: int, node: Any) -> Any:
    """Put new code on a line, with all in it that stands on none yet; -1 is no line."""
    if hasattr(node, "lineno"):
        return node
    node.lineno = node.end_lineno = line
    node.col_offset = node.end_col_offset = -1 if line < 0 else 0
    for child in ast.iter_child_nodes(node):
        _place_on_line(line, child)
    return node
