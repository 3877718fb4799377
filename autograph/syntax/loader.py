"""Compiles a converted tree to code that runs in place of the user's.

A converted function is compiled under the user's file name and lines, as if it were at the place of the original. The
definition never runs: `compile_function` takes its code out, and `instantiate` joins the code with the original's
globals, closure cells and defaults. So both functions have the same variables, also when one rebinds one.

In a function, `ag__` is not a variable but a constant of the code. So neither `locals()`, nor the user's module, nor
the closure shows it.

Functions and modules that call operators are *guarded*: the guard removes frames of this library from the traceback of
an exception as it passes. Guards are compiled, but not printed:

    try:
        BODY
    except:
        ag__.trim()
        raise
"""

from __future__ import annotations

import ast
import functools
import inspect
from types import CodeType, FunctionType
from typing import Any

import gast

from autograph.common.code_marks import Shelter
from autograph.common.trace_rules import wants_full_tracebacks

from . import codes, trees
from .bridge import Enter, to_ast
from .relabeling import Marks, relabeled

OPERATORS = "ag__"
# A placeholder for the operators: a string that no program contains.
_OPERATORS = "\0ag__"


def compile_function(
    node: Any, original: FunctionType, *, class_names: tuple[str, ...], generated: frozenset[str], operators: Any
) -> CodeType:
    """Compile a converted function; closures over the code of `original` can share the result.

    Args:
        node: a converted `gast.FunctionDef`, `AsyncFunctionDef` or `Lambda`, which is not modified.
        original: the user's function, which gives name, place, flags and free variables.
        class_names: the classes around it, innermost last.
        generated: the names of generated functions.
        operators: the object that `ag__` names.
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
    """Make a function of code from `compile_function`, with the variables and attributes of `original`."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or ()))
    closure = tuple(cells[name] for name in code.co_freevars)
    function = FunctionType(code, original.__globals__, original.__name__, original.__defaults__, closure)
    for name in ("__kwdefaults__", "__annotations__", "__doc__", "__module__", "__qualname__", "__type_params__"):
        if hasattr(original, name):
            setattr(function, name, getattr(original, name))
    function.__dict__.update(original.__dict__)
    return function


def without_operators(code: CodeType, operators: Any) -> CodeType:
    """Return code that can be written to a file, with a placeholder for the operators."""
    return _with_constant(code, operators, _OPERATORS)


def with_operators(code: CodeType, operators: Any) -> CodeType:
    """Return the code with the operators instead of the placeholder."""
    return _with_constant(code, _OPERATORS, operators)


def _with_constant(code: CodeType, one: Any, other: Any) -> CodeType:
    """Replace a constant by another object in a code object and all code nested in it."""
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
    module.body = [new_node for new_node, node in zip(module.body, tree.body) if not _imports_operators(node)]
    lowering.embed_operators(operators)
    with codes.ignore_warnings(lowering.may_warn):
        code = compile(module, filename, "exec", dont_inherit=True)
    return relabeled(code, lowering.marks)


def _imports_operators(node: Any) -> bool:
    names = node.names if isinstance(node, gast.Import) and not hasattr(node, "origin") else []
    return any(alias.asname == OPERATORS for alias in names)


# -- lowering -----------------------------------------------------------------------------------------------

# They run no code of the user's.
_QUIET_OPERATORS = frozenset({"ref", "unbound", "concrete", "context", "is_container", "place", "bound"})


class _Region:
    """A function, module or `try` statement; `active` if it calls an operator."""

    __slots__ = ("active", "guarded", "lambdas", "node", "parent", "shelters")

    def __init__(self, node: Any, parent: _Region | None, lambdas: int) -> None:
        self.node = node
        self.parent = parent
        self.lambdas = lambdas                              # the number of lambdas around it, itself included
        self.active = False
        self.shelters: list[Shelter] = parent.shelters if parent else []    # of the function around it
        self.guarded = True                                 # False in a piece of a function, which has the guard


class _Lowering:
    """Translates one tree from gast to Python's `ast`, and records generated functions and calls of operators."""

    def __init__(self, generated: frozenset[str]) -> None:
        self.generated = generated
        self.marks = Marks()
        self.regions: list[_Region] = []
        self.operators: list[ast.Attribute] = []
        self.may_warn = False

    def lower(self, tree: Any) -> Any:
        hooks: dict[type, Enter] = {kind: functools.partial(hook, self) for kind, hook in _HOOKS.items()}
        new_node = to_ast(tree, hooks)
        for region in self.regions:
            if region.shelters and isinstance(region.node, ast.FunctionDef | ast.AsyncFunctionDef):
                function = region.node
                line = min(node.lineno for node in (function, *function.decorator_list))
                self.marks.shelters[function.name, line] = sorted(region.shelters, key=lambda s: (s.first, -s.last))
        return new_node

    def visit_Attribute(self, node: Any, new_node: Any, region: _Region | None) -> _Region | None:
        if type(node.value) is gast.Name and node.value.id == OPERATORS and not hasattr(node.value, "origin"):
            self.operators.append(new_node)
            if node.attr not in _QUIET_OPERATORS:
                enclosing = region
                while enclosing is not None and not enclosing.active:
                    enclosing.active = True
                    enclosing = enclosing.parent
        return region

    def visit_Module(self, node: Any, new_node: Any, region: _Region | None) -> _Region:
        inner = _Region(new_node, region, region.lambdas if region else 0)
        self.regions.append(inner)
        return inner

    def visit_FunctionDef(self, node: Any, new_node: Any, region: _Region | None) -> _Region:
        inner = self.visit_Module(node, new_node, region)
        inner.shelters = []
        if isinstance(node, gast.Lambda):
            if not hasattr(node, "origin") and region is not None:
                new_node.col_offset = new_node.end_col_offset = -1
                new_node.end_lineno = new_node.lineno
                arguments = node.args
                parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
                self.marks.lambdas.add((new_node.lineno, tuple(p.id for p in parameters), inner.lambdas))
            inner.lambdas += 1
            inner.guarded = not isinstance(new_node, ast.Lambda)
        elif not hasattr(node, "origin") and node.name in self.generated:
            self.marks.functions.add((node.name, new_node.lineno))
            inner.guarded = False
        return inner

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_Try(self, node: Any, new_node: Any, region: _Region | None) -> _Region:
        inner = self.visit_Module(node, new_node, region)
        if node.finalbody:
            inner.shelters.append(Shelter(node.lineno, _last_line_before(node.finalbody), "finally"))
        if node.handlers:
            inner.shelters.append(Shelter(node.lineno, _last_line_before(node.handlers), "except"))
        return inner

    visit_TryStar = visit_Try

    def visit_With(self, node: Any, new_node: Any, region: _Region | None) -> _Region | None:
        if region is not None:
            region.shelters.append(Shelter(node.lineno, node.end_lineno, "with"))
        return region

    visit_AsyncWith = visit_With

    def visit_Compare(self, node: Any, new_node: Any, region: _Region | None) -> _Region | None:
        """Note whether the compiler will warn of constants in `is` and `assert`, as it already did."""
        self.may_warn = self.may_warn or isinstance(node, gast.Assert) or isinstance(node.ops[0], gast.Is | gast.IsNot)
        return region

    visit_Assert = visit_Compare

    def embed_operators(self, operators: Any) -> None:
        """Make the operators constants, and guard the regions that call them.

        The compiler accepts no objects as constants, so a placeholder stands for the operators until `relabeled`
        replaces it.
        """
        self.marks.constants[_OPERATORS] = operators
        for attribute in self.operators:
            attribute.value = _place_on_line(attribute.lineno, ast.Constant(_OPERATORS))
        for region in self.regions if not wants_full_tracebacks() else ():
            if region.active and region.guarded:
                _guard(region.node)


_HOOKS = trees.visitors(_Lowering)


def _last_line_before(nodes: list[Any]) -> int:
    """Return the last line before a block or the handlers of a statement; generated nodes have no line."""
    lines: list[int] = [node.lineno for node in nodes if hasattr(node, "lineno")]
    return min(lines) - 1


# -- the guard ----------------------------------------------------------------------------------------------


def _guard(node: Any) -> None:
    """Guard the body of a function or module; in a `try`, trim the traceback before the user's handlers run.

    Trace functions see an exception leave a guarded function by its first line, which has already run.
    """
    trim = ast.Expr(ast.Call(ast.Attribute(ast.Constant(_OPERATORS), "trim", ast.Load()), [], []))
    if hasattr(node, "handlers"):
        for handler in node.handlers:
            handler.body.insert(0, _place_on_line(-1, trim))
    elif (start := _preamble(node)) < len(node.body):
        handler = _place_on_line(getattr(node, "lineno", 1), ast.ExceptHandler(None, None, [trim, ast.Raise()]))
        node.body[start:] = [_place_on_line(-1, ast.Try(node.body[start:], [handler], [], []))]


def _preamble(node: Any) -> int:
    """Return the number of statements that must stay first: the docstring, and in a module imports."""
    count = 0
    for statement in node.body:
        docstring = count == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        imports = isinstance(node, ast.Module) and isinstance(statement, ast.Import | ast.ImportFrom)
        if not docstring and not imports:
            break
        count += 1
    return count


def _place_on_line(line: int, node: Any) -> Any:
    """Place a new node and the new nodes in it on a line; -1 is no line."""
    if hasattr(node, "lineno"):
        return node
    node.lineno = node.end_lineno = line
    node.col_offset = node.end_col_offset = -1 if line < 0 else 0
    for child in ast.iter_child_nodes(node):
        _place_on_line(line, child)
    return node
