"""Compiles a function alone, as if it were at its place in its file, and compares code objects."""

from __future__ import annotations
import __future__

import ast
import contextlib
import dis
import functools
import inspect
import operator
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from autograph.common import forking
from autograph.common.parsing import parse

FUTURE: int = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)

# -- warnings -----------------------------------------------------------------------------------------------

_WARNING = re.compile(
    r"""\\[^\n\\'"abfnrtv0-7xNuU] | ['"]\s*[(\[] | \bassert\s*\( | \d(?:and|or|if|in|is|else)\b
    | \bis\s+(?:not\s+)?['"(\[{0-9-] | \b\d[\w.]*\s*[(\[] | [)\]}]\s*\(""",
    re.VERBOSE,
)
_FILTERS = forking.lock()


def may_warn(text: str) -> bool:
    """Whether the compiler may warn of `text`; if so, it already did when it compiled the user's file."""
    return _WARNING.search(text) is not None


@contextlib.contextmanager
def ignore_warnings(needed: bool = True) -> Iterator[None]:
    """While it lasts, ignore the compiler's warnings.

    Args:
        needed: False does nothing. Filters of warnings belong to all threads, so changing them is slow.
    """
    if not needed:
        yield
        return
    current = sys.modules.get("warnings", warnings)  # a program may have imported it again
    with forking.undivided(), _FILTERS, current.catch_warnings():
        current.simplefilter("ignore", SyntaxWarning)
        current.simplefilter("ignore", DeprecationWarning)
        yield


# -- compiling ----------------------------------------------------------------------------------------------


def parse_text(text: str, filename: str, flags: int = 0) -> ast.Module:
    """Parse a file or a part of it, without the warnings that the compiler gave when it compiled the file."""
    with ignore_warnings(may_warn(text)):
        tree = parse(text, filename, flags=flags)
    assert isinstance(tree, ast.Module)
    return tree



def future_flags(code: CodeType) -> int:
    """Return the flags of the `from __future__` imports that `code` was compiled with."""
    return code.co_flags & FUTURE


def compile_alone(
    function: Any, like: CodeType, class_names: tuple[str, ...], imports: Iterable[str] = (), no_warnings: bool = False
) -> tuple[CodeType, str]:
    """Compile one function of a Python tree as if it were at the place of the function of `like`.

    The function is put into a class of the same name as its own class, if it has one, so that names are mangled and
    `super()` finds its class; and that into a function that binds the free variables of `like`. Nothing of this runs:
    only the code object is taken out. So decorators, defaults and annotations do not matter, and are left out.

    Args:
        function: an `ast.FunctionDef`, `AsyncFunctionDef` or `Lambda`, which is not modified.
        like: the code that gives file name, future imports, free variables and nesting.
        class_names: the classes around the function, innermost last.
        imports: names that the module imports; see `imported_names`.
        no_warnings: ignore warnings.

    Returns:
        The code, and its qualified name inside the wrapping.
    """
    body, path = [_function_alone(function)], [getattr(function, "name", "<lambda>")]
    free = [name for name in like.co_freevars if name != "__class__"]
    depth = 1
    if class_names or len(free) < len(like.co_freevars):
        name = class_names[-1] if class_names else "_"          # a class `_` mangles nothing
        path.insert(0, name)
        body = [_new_node(function, ast.ClassDef, name=name, bases=[], keywords=[], **_body_fields(*body))]
        depth += 1
    if free or like.co_flags & inspect.CO_NESTED:
        if path[0] != "<lambda>" and path[0] not in free:
            # the function may use a global of its own name, or of the name of its class
            body.insert(0, _new_node(function, ast.Global, names=path[:1]))
        else:
            path[:0] = ["_", "<locals>"]
        arguments = _arguments(args=[_new_node(function, ast.arg, arg=name, annotation=None) for name in free])
        body = [_new_node(function, ast.FunctionDef, name="_", args=arguments, returns=None, **_body_fields(*body))]
        depth += 1
    names = [_new_node(function, ast.alias, name=name, asname=None) for name in imports]
    module = ast.Module([*([_new_node(function, ast.Import, names=names)] if names else []), *body], [])
    with ignore_warnings(no_warnings):
        code: CodeType = compile(module, like.co_filename, "exec", future_flags(like), dont_inherit=True)
    for _ in range(depth):
        code = next(const for const in code.co_consts if isinstance(const, CodeType))
    return code, ".".join(path)


def _function_alone(function: Any) -> Any:
    """Return a function statement without its defaults, annotations and decorators, except one for the first line."""
    arguments = _arguments(kw_defaults=[None] * len(function.args.kwonlyargs))
    for name in ("posonlyargs", "args", "kwonlyargs"):
        setattr(arguments, name, [*map(_no_annotation, getattr(function.args, name))])
    arguments.vararg, arguments.kwarg = _no_annotation(function.args.vararg), _no_annotation(function.args.kwarg)
    if isinstance(function, ast.Lambda):
        return _new_node(function, ast.Expr, value=_new_node(function, ast.Lambda, args=arguments, body=function.body))
    rest = _body_fields(*function.body)
    rest["decorator_list"] = [_new_node(first, ast.Constant, value=None) for first in function.decorator_list[:1]]
    return _new_node(function, type(function), name=function.name, args=arguments, returns=None, **rest)


def _body_fields(*body: ast.stmt) -> dict[str, Any]:
    return {"body": list(body), "decorator_list": [], "type_params": []}


def _arguments(**parts: Any) -> ast.arguments:
    none: dict[str, Any] = {"posonlyargs": [], "args": [], "kwonlyargs": [], "kw_defaults": [], "defaults": []}
    return ast.arguments(**{**none, **parts})


def _no_annotation(parameter: ast.arg | None) -> Any:
    if parameter is None or parameter.annotation is None:
        return parameter
    return _new_node(parameter, ast.arg, arg=parameter.arg, annotation=None)


def _new_node(place: Any, kind: type, **fields: Any) -> Any:
    """Return a new node at the position of `place`."""
    node: Any = ast.AST.__new__(kind)
    node.__dict__.update(fields)
    return ast.copy_location(node, place)


# How a call is compiled depends on the module's top level: `module.f(x)` is not a method call if the module imports
# `module` there (from 3.11 on), and `super().f(x)` has an instruction of its own unless `super` occurs there (3.12).
# The running code shows both: a global whose attributes are never called as methods may be a module.
_GLOBAL, _ATTRIBUTE = dis.opmap["LOAD_GLOBAL"], dis.opmap["LOAD_ATTR"]
_METHOD = _ATTRIBUTE if sys.version_info >= (3, 12) else dis.opmap["LOAD_METHOD"]
_SUPER = dis.opmap.get("LOAD_SUPER_ATTR")
_GLOBAL_ATTRIBUTE = re.compile(
    rb"(?=%s(.)\0{8,10}([%s%s])(.))" % tuple(re.escape(bytes([op])) for op in (_GLOBAL, _ATTRIBUTE, _METHOD)), re.DOTALL
)


def imported_names(code: CodeType, known: Iterable[str] | None = None) -> list[str]:
    """Return the global names that the module of `code` imports, as far as they affect how `code` is compiled.

    Args:
        code: the running code.
        known: the names that the module is known to import.
    """
    found: dict[str, None] = {}
    methods: set[str] = set()
    for inner in nested_codes(code) if sys.version_info >= (3, 11) else ():
        raw = inner.co_code
        for place in _GLOBAL_ATTRIBUTE.finditer(raw) if known is None else ():
            index = raw[place.start() + 1] >> 1
            if place.start() % 2 == 0 and index < len(inner.co_names):
                op, argument = place[2][0], place[3][0]
                method = op == _METHOD and (op != _ATTRIBUTE or argument & 1)
                (methods.add if method else found.setdefault)(inner.co_names[index])
        if _SUPER and "super" in inner.co_names and _SUPER not in raw[::2]:
            found["super"] = None
    return [*(known or ()), *(name for name in found if name not in methods)]


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all code objects nested in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from nested_codes(const)


# -- comparing ----------------------------------------------------------------------------------------------

# `co_code` is as compiled, also while the interpreter specializes or instruments the running code.
_compared_fields = operator.attrgetter(
    *"co_name co_firstlineno co_argcount co_posonlyargcount co_kwonlyargcount co_varnames co_freevars".split(),
    *"co_cellvars co_names co_code".split(),
)
# types.coroutine sets the first; the second depends only on the place of a function.
_IGNORED_FLAGS = inspect.CO_ITERABLE_COROUTINE | inspect.CO_NESTED


def same_code(compiled: CodeType, path: str, running: CodeType) -> bool:
    """Whether two code objects, and all code nested in them, do the same on the same lines.

    Args:
        compiled: the code that `compile_alone` returned.
        path: the qualified name that it returned, with which the names of all functions and classes inside begin.
        running: the code of the live function.
    """

    def same_constant(one: Any, other: Any) -> bool:
        if type(one) is not type(other):
            return False
        if isinstance(one, CodeType):
            return same_code(one, path, other)
        if isinstance(one, tuple):
            return len(one) == len(other) and all(map(same_constant, one, other))
        if isinstance(one, frozenset):              # {1} == {True}
            return sorted(map(repr, one)) == sorted(map(repr, other))
        if isinstance(one, float | complex):        # 0.0 == -0.0, and nan is not itself
            return repr(one) == repr(other)
        if isinstance(one, str) and one != other:
            return one.startswith(f"{path}.") and bool(other.endswith(one[len(path) :]))
        return bool(one == other)

    return (
        _compared_fields(compiled) == _compared_fields(running)
        and (compiled.co_flags ^ running.co_flags) & ~_IGNORED_FLAGS == 0
        and len(compiled.co_consts) == len(running.co_consts)
        and all(map(same_constant, compiled.co_consts, running.co_consts))
        # columns are missing under -X no_debug_ranges, whatever a cached file holds
        and (compiled.co_linetable == running.co_linetable or [*compiled.co_lines()] == [*running.co_lines()])
    )


def description(code: CodeType) -> str:
    """Return all that `same_code` compares, and the file, as a text that is the same in each process."""

    def constant(value: Any) -> str:
        if isinstance(value, CodeType):
            return description(value)
        if isinstance(value, tuple):
            return f"({','.join(map(constant, value))})"
        if isinstance(value, frozenset):
            return f"{{{','.join(sorted(map(constant, value)))}}}"
        return hex(value) if type(value) is int else repr(value)    # Python refuses to write large ones in decimals

    qualname = getattr(code, "co_qualname", "")
    parts = *_compared_fields(code), code.co_filename, qualname, code.co_flags, code.co_linetable
    return f"{parts!r} {constant(code.co_consts)}"


_CALLING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE


def same_interface(compiled: CodeType, path: str, running: CodeType) -> bool:
    """Whether two code objects agree in everything that a rewriting of their bodies preserves."""
    return _interface(compiled) == _interface(running)


def _interface(code: CodeType) -> tuple[object, ...]:
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    flags = code.co_flags & (_CALLING | inspect.CO_ASYNC_GENERATOR)
    return code.co_name, code.co_firstlineno, code.co_argcount, parameters, set(code.co_freevars), flags
