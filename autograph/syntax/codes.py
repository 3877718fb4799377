"""Code objects: compiling one function as if it stood where it does in its file, and comparing the outcome."""

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
    """Whether the compiler may warn of something in `text`, as it did when the user's file was compiled."""
    return _WARNING.search(text) is not None


@contextlib.contextmanager
def ignore_warnings(needed: bool = True) -> Iterator[None]:
    """Ignore the compiler's warnings, if needed: it is not free, since the filters belong to all threads."""
    if not needed:
        yield
        return
    current = sys.modules.get("warnings", warnings)  # which a program may have imported afresh
    with forking.undivided(), _FILTERS, current.catch_warnings():
        current.simplefilter("ignore", SyntaxWarning)
        current.simplefilter("ignore", DeprecationWarning)
        yield


# -- compiling ----------------------------------------------------------------------------------------------


def parse_text(text: str, filename: str, flags: int = 0) -> ast.Module:
    """Parse a file or a part of it; warnings were given when the file was compiled, and are not given again."""
    with ignore_warnings(may_warn(text)):
        for last in (False, False, False, True):
            try:
                tree = compile(text, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
                break
            except SystemError as error:
                if last or not str(error).startswith(_DEPTH_ERROR):
                    raise
    assert isinstance(tree, ast.Module)
    return tree


# CPython counts the depth of what all threads parse at the same time: https://github.com/python/cpython/issues/106905
_DEPTH_ERROR = "AST constructor recursion depth mismatch"


def future_flags(code: CodeType) -> int:
    """The flags of the `from __future__` imports under which `code` was compiled."""
    return code.co_flags & FUTURE


def compile_alone(
    function: Any, like: CodeType, class_names: tuple[str, ...], imports: Iterable[str] = (), no_warnings: bool = False
) -> tuple[CodeType, str]:
    """Compile one function of a Python tree as if it stood where the function of `like` stands.

    It is put inside a class of the right name if there is one (names are mangled, `super()` finds its class),
    and that inside a function that binds what is free in `like`. None of that is executed: the code is taken
    out. So decorators, defaults and annotations do not matter, and are left out.

    Args:
        function: an `ast.FunctionDef`, `AsyncFunctionDef` or `Lambda`, which is not modified.
        like: the code whose file, future imports, free variables and nesting count.
        class_names: the classes around the function, innermost last.
        imports: what the module imports, as far as it matters (see `imported_names`).
        hush: ignore warnings.

    Returns:
        The code, and its qualified name inside what it was put in.
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
            # the function may mean a global of its own name, or of that of its class
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
    """A function statement without what is executed outside of it; a decorator stays for the first line's sake."""
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
    """A new node where `place` is."""
    node: Any = ast.AST.__new__(kind)
    node.__dict__.update(fields)
    return ast.copy_location(node, place)


# How a call is compiled depends on the module's top level: `module.f(x)` is not a method call if `module` was imported
# there (from 3.11 on), and `super().f(x)` has an instruction of its own unless `super` is mentioned there (3.12).
# Both can be told from the running code: a global whose attributes are never called as methods may well be a module.
_GLOBAL, _ATTRIBUTE = dis.opmap["LOAD_GLOBAL"], dis.opmap["LOAD_ATTR"]
_METHOD = _ATTRIBUTE if sys.version_info >= (3, 12) else dis.opmap["LOAD_METHOD"]
_SUPER = dis.opmap.get("LOAD_SUPER_ATTR")
_GLOBAL_ATTRIBUTE = re.compile(
    rb"(?=%s(.)\0{8,10}([%s%s])(.))" % tuple(re.escape(bytes([op])) for op in (_GLOBAL, _ATTRIBUTE, _METHOD)), re.DOTALL
)


def imported_names(code: CodeType, known: Iterable[str] | None = None) -> list[str]:
    """The global names that the module of `code` has imported, as far as they made a difference in `code`.

    Args:
        code: the running code.
        known: what the module is known to import.
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
    """A code object and all that are nested in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from nested_codes(const)


# -- comparing ----------------------------------------------------------------------------------------------

_compared_fields = operator.attrgetter(
    "co_name",
    "co_firstlineno",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_names",
    "co_code",  # as compiled, even while the interpreter specializes or instruments what it runs
)
# types.coroutine sets the one; the other follows from where a function stands, and changes nothing in it
_IGNORED_FLAGS = inspect.CO_ITERABLE_COROUTINE | inspect.CO_NESTED


def same_code(compiled: CodeType, path: str, running: CodeType) -> bool:
    """Whether two code objects do the same on the same lines, all that is nested in them included.

    Args:
        compiled: what `compile_alone` returned.
        path: the qualified name that it returned: those of all functions and classes inside begin with it.
        running: the live code.
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
    """All that `same_code` compares, and its file, as a text that is the same in each process."""

    def constant(value: Any) -> str:
        if isinstance(value, CodeType):
            return description(value)
        if isinstance(value, tuple):
            return f"({','.join(map(constant, value))})"
        if isinstance(value, frozenset):
            return f"{{{','.join(sorted(map(constant, value)))}}}"
        return hex(value) if type(value) is int else repr(value)    # the decimals of a large one are refused

    qualname = getattr(code, "co_qualname", "")
    parts = *_compared_fields(code), code.co_filename, qualname, code.co_flags, code.co_linetable
    return f"{parts!r} {constant(code.co_consts)}"


_CALLING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE


def same_interface(compiled: CodeType, path: str, running: CodeType) -> bool:
    """Whether two code objects agree in all that a rewriting of their bodies leaves as it is."""
    return _interface(compiled) == _interface(running)


def _interface(code: CodeType) -> tuple[object, ...]:
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    flags = code.co_flags & (_CALLING | inspect.CO_ASYNC_GENERATOR)
    return code.co_name, code.co_firstlineno, code.co_argcount, parameters, set(code.co_freevars), flags
