"""Reads the source of a live function, or a text, into a gast tree.

A function is first searched in the block that begins on the first line of its code, which is nearly always right and
takes the same time in a long file as in a short one; then in the whole file, parsed once. In either case the candidate
is compiled again, and must give the running code. So an edited file, or one lambda taken for another, never goes
unnoticed.
"""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import io
import itertools
import linecache
import sys
import types
import zipimport
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import gast

from autograph.common import code_marks

from ..errors import SourceError
from . import codes, origin
from .bridge import to_gast


@dataclass
class Source:
    """A parsed text.

    Attributes:
        filename: the user's file.
        lines: its lines with their ends; `lines[0]` is line 1 of the file.
        tree: the parsed part, with the file's line numbers, and with origins and comments.
    """

    filename: str
    lines: list[str]
    tree: gast.Module


@dataclass
class FunctionSource:
    """The source of one function.

    Attributes:
        source: its tree contains only the function.
        node: the `gast.FunctionDef`, `AsyncFunctionDef` or `Lambda`.
        class_names: the classes around it, innermost last, by which private names are mangled.
        function: the live function.
        in_block: whether it was found in `block_of`.
    """

    source: Source
    node: Any
    class_names: tuple[str, ...]
    function: FunctionType
    in_block: bool


def parse(text: str, filename: str) -> Source:
    """Parse a whole file.

    Raises:
        SyntaxError: as Python does, for its own reasons.
    """
    if "\0" in text:
        raise SyntaxError("source code cannot contain null bytes", (filename, None, None, None))
    lines = _lines_of(text)
    return _recorded(filename, lines, codes.parse_text("".join(lines), filename))


def lines_of(function: FunctionType) -> list[str]:
    """Return the lines of a function's file, or the lines that `linecache` has for it.

    Raises:
        SourceError: there are none.
    """
    filename = _filename(function)
    lines = linecache.getlines(filename, _module_globals(function))
    if not lines:
        raise SourceError(_why_missing(function), filename, function.__code__.co_firstlineno)
    return lines


def block_of(function: FunctionType, lines: list[str]) -> str:
    """Return the block in which a function is searched first, delimited by indentation."""
    line = function.__code__.co_firstlineno
    return _block(lines, line - 1, function.__code__.co_name == "<lambda>")[1] if 0 < line <= len(lines) else ""


def of_function(function: FunctionType, lines: list[str] | None = None) -> FunctionSource:
    """Find the source of a function.

    Args:
        lines: those of the file when the function was read before.

    Raises:
        SourceError: there is no source, or it is not that of the running code.
    """
    code = function.__code__
    filename = _filename(function)
    lines = lines or lines_of(function)
    in_block = next(_in_block(lines, function), None)
    found = in_block or next(_in_file(lines, code, codes.same_code), None)
    if found is None:
        lines = _reread(function) or lines
        found = next(_in_file(lines, code, codes.same_code), None) or _in_rewritten_module(lines, function)
    if found is None:
        # All that is compiled from strings shares this name, and Python 3.13 keeps the text of `python -c` under it.
        why = _why_missing if filename == "<string>" else _why_stale
        raise SourceError(why(function), filename, code.co_firstlineno)
    node, class_names = found
    statement = ast.copy_location(ast.Expr(node), node) if isinstance(node, ast.Lambda) else node
    source = _recorded(filename, lines, ast.Module([statement], []))
    held = source.tree.body[0]
    made = held.value if isinstance(node, ast.Lambda) else held
    return FunctionSource(source, made, class_names, function, in_block is not None)


def _recorded(filename: str, lines: list[str], tree: ast.Module) -> Source:
    source = Source(filename, lines, to_gast(tree))
    origin.record(source.tree, lines)
    return source


# -- searching ----------------------------------------------------------------------------------------------

Candidate = tuple[Any, tuple[str, ...]]
Match = Callable[[CodeType, str, CodeType], bool]

_NOT_LAMBDA = ("def ", "async ", "def\t", "async\t", "def\\", "async\\")


def _in_block(lines: list[str], function: FunctionType) -> Iterator[Candidate]:
    """Search the block that begins on the function's first line."""
    code = function.__code__
    line = code.co_firstlineno
    if not 0 < line <= len(lines):
        return
    indent, block = _block(lines, line - 1, code.co_name == "<lambda>")
    # blank lines, and an `if` above an indented block, keep the positions right
    lead = "\n" * (line - 2) + "if 1:\n" if indent else "\n" * (line - 1)
    try:
        tree = codes.parse_text(lead + block, code.co_filename, codes.future_flags(code))
    except (SyntaxError, ValueError):       # ValueError: null bytes, before 3.12
        return
    names = _class_names(getattr(code, "co_qualname", function.__qualname__))
    candidates = [(node, names) for node in _candidates(tree, code, bool(indent))]
    yield from _matching(candidates, code, codes.same_code, codes.imported_names(code), codes.may_warn(block))


def _candidates(tree: Any, code: CodeType, indented: bool) -> list[Any]:
    if code.co_name == "<lambda>":
        functions = _index(tree).functions
        return [node for node, _ in functions.get((code.co_firstlineno, "<lambda>"), ())]
    statement = (tree.body[0] if indented else tree).body[0]
    is_function = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
    return [statement] if is_function and statement.name == code.co_name else []


def _block(lines: list[str], start: int, inline: bool) -> tuple[int, str]:
    """Return the indentation of a line, and the text from there to the end of its block.

    Args:
        lines: the file.
        start: the index of the line.
        inline: begin with any statement, not only with a `def` or its decorators.
    """
    indent = len(lines[start]) - len(lines[start].lstrip())
    header = inline
    end = start + 1
    for number in range(start, len(lines)):
        text = lines[number].lstrip()
        if not text or text[0] == "#":
            continue
        width = len(lines[number]) - len(text)
        if width < indent or (width == indent and number > start and header and text[0] not in ")]}"):
            break
        header = header or (width == indent and text.startswith(_NOT_LAMBDA))
        end = number + 1
    return indent, "".join(lines[start:end])


def _class_names(qualname: str) -> tuple[str, ...]:
    """Return the classes in a qualified name: A and B of `f.<locals>.A.B.method`."""
    parts = qualname.split(".")
    return tuple(
        name for name, after in itertools.pairwise(parts) if after != "<locals>" and not name.startswith("<")
    )


def _in_file(lines: list[str], code: CodeType, match: Match) -> Iterator[Candidate]:
    """Search the whole file."""
    text = "".join(lines)
    try:
        file = _file_index(text, code.co_filename, codes.future_flags(code))
    except (SyntaxError, ValueError):
        return
    candidates = file.functions.get((code.co_firstlineno, code.co_name), ())
    yield from _matching(candidates, code, match, codes.imported_names(code, file.imports), codes.may_warn(text))


def _matching(
    candidates: Iterable[Candidate], code: CodeType, match: Match, imports: Iterable[str], noisy: bool
) -> Iterator[Candidate]:
    """Yield the candidates that compile to `code`; any of several is right."""
    for node, class_names in candidates:
        try:
            compiled, path = codes.compile_alone(node, code, class_names, imports, noisy)
        except SyntaxError:                 # such as a `nonlocal` that is no longer free, in an edited file
            continue
        if match(compiled, path, code):
            yield node, class_names


@dataclass
class _FileIndex:
    """The functions of a file by first line and name, and the names that it imports at the top."""

    functions: dict[tuple[int, str], list[Candidate]]
    imports: list[str]


@functools.lru_cache(maxsize=4)
def _file_index(text: str, filename: str, flags: int) -> _FileIndex:
    return _index(codes.parse_text(text, filename, flags))


def _index(tree: ast.AST) -> _FileIndex:
    """Index all functions of a tree, in source order."""
    functions: dict[tuple[int, str], list[Candidate]] = {}
    imports: dict[str, None] = {}
    # nodes, the classes around them, and whether they are in a function or class
    todo: list[tuple[Any, tuple[str, ...], bool]] = [(tree, (), False)]
    while todo:
        node, classes, inside = todo.pop()
        inner = classes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = (*node.decorator_list, node)[0]
            functions.setdefault((first.lineno, node.name), []).append((node, classes))
            inside = True
        elif isinstance(node, ast.Lambda):
            functions.setdefault((node.lineno, "<lambda>"), []).append((node, classes))
        elif isinstance(node, ast.ClassDef):
            inner, inside = (*classes, node.name), True
        elif isinstance(node, ast.Import | ast.ImportFrom) and not inside:
            imports.update((alias.asname or alias.name.partition(".")[0], None) for alias in node.names)
        below = [
            (child, inner if isinstance(child, ast.stmt) else classes, inside) for child in ast.iter_child_nodes(node)
        ]
        todo.extend(reversed(below))
    imports.pop("*", None)
    return _FileIndex(functions, [*imports])


# -- code that differs from its file ------------------------------------------------------------------------

_PLAIN_LOADERS = (zipimport.zipimporter, importlib.machinery.BuiltinImporter)


def _filename(function: FunctionType) -> str:
    """Return the file of a function's text, also of a module frozen into the interpreter."""
    filename = function.__code__.co_filename
    if filename.startswith("<frozen "):
        return str(function.__globals__.get("__file__") or filename)
    return filename


def _module_globals(function: FunctionType) -> dict[str, Any] | None:
    """Return the function's globals, if they are those of the module whose file has its source."""
    module_globals = function.__globals__
    return module_globals if module_globals.get("__file__") == _filename(function) else None


def _reread(function: FunctionType) -> list[str]:
    """Return the lines of a file that was edited after `linecache` read it."""
    filename, module_globals = _filename(function), _module_globals(function)
    linecache.checkcache(filename)
    loader = _loader(module_globals)
    if isinstance(loader, zipimport.zipimporter) and module_globals is not None:
        # linecache also splits such text at form feeds
        return _lines_of(loader.get_source(module_globals["__name__"]) or "")
    return linecache.getlines(filename, module_globals)


def _loader(module_globals: dict[str, Any] | None) -> object:
    spec = module_globals.get("__spec__") if module_globals else None
    return getattr(spec, "loader", None) or (module_globals or {}).get("__loader__")


def _rewrites(loader: object) -> bool:
    """Whether an import hook compiles other code than that of the file, as pytest and this library do."""
    plain = importlib.machinery.SourceFileLoader
    if loader is None or isinstance(loader, _PLAIN_LOADERS) or loader is importlib.machinery.BuiltinImporter:
        return False
    return not isinstance(loader, plain) or any(
        getattr(type(loader), name) is not getattr(plain, name)
        for name in ("exec_module", "get_code", "source_to_code")
    )


def _in_rewritten_module(lines: list[str], function: FunctionType) -> Candidate | None:
    """Return a function of a module that was rewritten on import, if name, place and parameters agree."""
    if not _rewrites(_loader(_module_globals(function))):
        return None
    code = function.__code__
    found = [*_in_file(lines, code, codes.same_interface)]
    if len(found) > 1:
        about = f"there are several functions that may be '{function.__qualname__}', in a module rewritten on import"
        raise SourceError(f"{about}: put them on lines of their own", _filename(function), code.co_firstlineno)
    return found[0] if found else None


def _lines_of(text: str) -> list[str]:
    """Split a text into lines as Python does; `str.splitlines` also splits at form feeds."""
    return io.StringIO(text, newline=None).readlines()


def _why_missing(function: FunctionType) -> str:
    filename = function.__code__.co_filename
    about = f"the source of '{function.__qualname__}' is not available: "
    if filename in ("<stdin>", "<console>"):
        return about + (
            "it was typed at an interactive prompt that keeps no source. "
            "Put it in a file, or use IPython or the prompt of Python 3.13"
        )
    if filename == "<string>" and function.__globals__ is getattr(sys.modules.get("__main__"), "__dict__", None):
        return about + "it was given to `python -c`, or compiled from a string. Put it in a file"
    if filename.startswith("<") and filename.endswith(">"):
        return about + (
            "it was compiled from a string. Compile it under a name of its own, and register the text: "
            "linecache.cache[name] = (len(text), None, text.splitlines(True), name)"
        )
    if getattr(sys, "frozen", False):
        mending = "with PyInstaller, by module_collection_mode={'the_package': 'pyz+py'} in the .spec file"
        return about + f"the application was frozen without this file. Add the .py files to it: {mending}"
    return about + "this file, named in its code, cannot be read. Put it where it was when it was compiled"


def _why_stale(function: FunctionType) -> str:
    return (
        f"'{function.__qualname__}' is not what this file has here: the file was edited after it was imported, "
        "or something altered the function's code. Reload the module, or start again"
    )


# -- the function behind a callable -------------------------------------------------------------------------


def unwrap(callable_: Any) -> FunctionType:
    """Return the Python function that a call of `callable_` runs first.

    Follows methods, partials, `staticmethod`, `classmethod`, `property` and objects with a `__call__`; also
    `__wrapped__` if the wrapper has no Python source, as with `functools.lru_cache`.

    Raises:
        SourceError: there is no Python function in it.
    """
    inner = callable_
    for _ in range(100):                # a longer chain is a cycle
        if type(inner) is FunctionType:
            return inner
        inner = _wrapped(inner)
        if inner is None:
            break
    raise SourceError(f"{_description(callable_)} has no Python source to convert")


def _wrapped(wrapper: Any) -> Any:
    if code_marks.unstaged(wrapper) is not wrapper:
        return wrapper.__wrapped__
    if isinstance(wrapper, types.MethodType | classmethod | staticmethod):
        return wrapper.__func__
    if isinstance(wrapper, functools.partial | functools.partialmethod):
        return wrapper.func
    if isinstance(wrapper, property):
        return wrapper.fget
    if isinstance(wrapper, type):
        return None
    call: Any = getattr(type(wrapper), "__call__", None)  # noqa: B004
    if call is None or isinstance(call, types.WrapperDescriptorType | types.MethodWrapperType):
        return getattr(wrapper, "__wrapped__", None)
    return call


def _description(callable_: Any) -> str:
    if isinstance(callable_, type):
        return f"'{callable_.__qualname__}' is a class, which is not converted as a whole: it"
    name = getattr(callable_, "__qualname__", None) or getattr(callable_, "__name__", None)
    if not callable(callable_):
        return f"{callable_!r} is not callable: it"
    if name is None:
        return f"{callable_!r}"
    return f"'{name}' is implemented outside of Python: it"
