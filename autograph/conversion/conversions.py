"""Conversions of functions and of files, from source to code; this gives `ag__` its meaning."""

from __future__ import annotations

import builtins
import itertools
import linecache
import operator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import gast

from autograph import operators
from autograph.common import forking
from autograph.common.code_flags import OfCode, codes_in, names_in
from autograph.conversion import cache
from autograph.conversion.lifted_functions import source_of
from autograph.converters import pipeline
from autograph.converters.context import known
from autograph.converters.context.base import Decision
from autograph.syntax import hoist, inline, loader, source, template, trees
from autograph.syntax.origin import NO_COMMENTS


@dataclass
class Conversion:
    """The conversion of one function. Closures over one piece of code share it.

    Attributes:
        code: the converted code.
        decisions: on each construct.
        lines: those of the file; `text_of` makes the text from them on demand.
        key: the name on disk of all that it was made of; None if it is not kept.
        builtins: the names that it takes for those of builtins.
        unkept: why it is not on disk; "" if it is.
    """

    code: CodeType
    decisions: list[Decision]
    lines: list[str]
    key: str | None
    builtins: frozenset[str]
    unkept: str = ""


_lock = forking.lock()
conversions: OfCode[Conversion] = OfCode()
_texts: OfCode[str] = OfCode()
_whole: OfCode[CodeType] = OfCode()


def conversion_of(function: FunctionType) -> Conversion:
    """The conversion of a function; made once for each code object, and forgotten with it.

    It is made anew if the module has meanwhile defined a name that was a builtin.
    """
    found = conversions.get(function.__code__)
    if found is None or _is_outdated(found, function):
        with forking.undivided(), _lock:
            found = conversions.get(function.__code__)
            if found is None or _is_outdated(found, function):
                found = conversions.put(function.__code__, _convert(function))
    return found


def _is_outdated(conversion: Conversion, function: FunctionType) -> bool:
    return any(name in function.__globals__ for name in conversion.builtins)


def converted_with(function: FunctionType, own: Any) -> FunctionType:
    """The converted function, with operators of its own: `ag__` is `own`."""
    code = loader.without_operators(conversion_of(function).code, operators)
    return loader.instantiate(loader.with_operators(code, own), function)


def text_of(function: FunctionType) -> str:
    """The converted function as text."""
    found = _texts.get(function.__code__)
    if found is None:
        known_already = conversions.get(function.__code__)
        read = source_of(function) or source.of_function(function, known_already.lines if known_already else None)
        with trees.room_for(read.node):
            _converted(read)
            found = _texts.put(function.__code__, printed(read.node, read.source))
    return found


def printed(node: gast.AST, read: source.Source) -> str:
    """The text of a tree, after its conversion."""
    with forking.undivided():
        from autograph.syntax.printing import reprint  # only now: it takes its time
    return reprint.to_text(node, read)


def _converted(read: source.FunctionSource, whole: bool = False) -> tuple[pipeline.Converted, list[Any]]:
    """Convert the tree of a function in place; gives that, and the decorators that were taken from it."""
    node, function = read.node, read.function
    decorators, node.decorator_list = getattr(node, "decorator_list", []), []
    context = known.function_context(node, read.source.filename, function.__globals__, function.__code__.co_freevars)
    context.classes.extend(read.class_names)
    context.whole = whole
    return pipeline.convert(node, context), decorators


def whole_code_of(function: FunctionType) -> CodeType:
    """The same code, but asking for all that is compared: see `inline`."""
    with forking.undivided(), _lock:
        return _whole.get(function.__code__) or _whole.put(function.__code__, _convert(function, whole=True).code)


def whole_pieces(function: FunctionType, converted: CodeType) -> dict[int, CodeType]:
    """For each piece of converted code, by identity, the same with `whole_code_of`."""
    pieces, whole = codes_in(converted), codes_in(whole_code_of(function))
    agree = list(map(_interface, pieces)) == list(map(_interface, whole))
    return {id(one): other for one, other in zip(pieces, whole)} if agree else {}


_interface = operator.attrgetter("co_name", "co_firstlineno", "co_freevars", "co_argcount")


def _convert(function: FunctionType, whole: bool = False) -> Conversion:
    lifted = source_of(function)
    lines = source.lines_of(function) if lifted is None else lifted.source.lines
    assumed = vars(builtins).keys() & names_in(function.__code__) - function.__globals__.keys()
    key = None if whole or lifted else cache.key_of_function(function, source.block_of(function, lines))
    cached = cache.load(key)
    if cached is not None:
        return Conversion(*cached, lines, key, frozenset(assumed))
    read = lifted or source.of_function(function, lines)
    node = read.node
    with trees.room_for(node):
        converted, decorators = _converted(read, whole)
        generated = converted.generated | hoist.hoist(node)
        inline.inline(node, whole)
        node.decorator_list = decorators  # not run, but the code begins on the line of the first
        code = loader.compile_function(
            node, function, class_names=read.class_names, generated=generated, operators=operators
        )
    if not read.in_block:
        key = None
    unkept = cache.save(key, code, converted.decisions)
    if key is None and not whole:
        why = "it is a nested function" if lifted else "a line of it is not indented"
        unkept = cache.why_not_kept(read.source.filename) or why
    return Conversion(code, converted.decisions, read.source.lines, key, frozenset(assumed), unkept)


def convert_for_debugging(function: FunctionType) -> FunctionType:
    """The converted function compiled from its own text, which `linecache` then knows under a name of its own."""
    text = text_of(function)
    name = f"<autograph {function.__module__}.{function.__qualname__}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    place = function.__code__.replace(co_filename=name, co_firstlineno=1)
    there = FunctionType(place, function.__globals__, function.__name__, None, function.__closure__)
    node = gast.parse(text).body[0]
    code = loader.compile_function(
        getattr(node, "value", node),
        there,
        class_names=source.of_function(function).class_names,
        generated=frozenset(),
        operators=operators,
    )
    return loader.instantiate(code, function)


@dataclass
class ConvertedSource:
    """The conversion of a whole file: a tree to compile, the same as text, and the decisions.

    Ask for the text before the tree is prepared for compiling.
    """

    source: source.Source
    decisions: list[Decision]
    generated: frozenset[str]

    @property
    def tree(self) -> gast.Module:
        return self.source.tree

    @forking.cached_property
    def text(self) -> str:
        with trees.room_for(self.tree):
            return printed(self.tree, self.source)


def convert_source(text: str, filename: str) -> ConvertedSource:
    """Convert a whole file. The module it makes begins by importing the operators as `ag__`.

    Raises:
        SyntaxError: as Python does.
    """
    read = source.parse(text, filename)
    with trees.room_for(read.tree):
        converted = pipeline.convert(read.tree, known.module_context(read.tree, filename))
    names = (node for node in trees.walk(read.tree) if isinstance(node, gast.Name))
    if any(node.id == "ag__" and not hasattr(node, "origin") for node in names):
        _import_operators(read.tree)
    return ConvertedSource(read, converted.decisions, converted.generated)


def _import_operators(tree: gast.Module) -> None:
    """Put `import autograph.operators as ag__` behind the docstring and the `__future__` imports."""
    at = 0
    for statement in tree.body:
        docstring = at == 0 and trees.is_docstring(statement)
        if not docstring and not (isinstance(statement, gast.ImportFrom) and statement.module == "__future__"):
            break
        at += 1
    new: Any = template.statements("import autograph.operators as ag__")[0]
    following: Any = tree.body[at]
    before = following.comments.before
    top = tuple(itertools.takewhile(bool, before)) if at == 0 else ()  # the file's first lines: `#!`, coding, license
    rest = before[len(top) :] or (("", "") if hasattr(following, "body") else ("",))
    new.comments = NO_COMMENTS._replace(before=top or (("",) if at else ()))
    following.comments = following.comments._replace(before=rest)
    tree.body.insert(at, new)
