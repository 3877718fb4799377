"""Conversions on disk, so that a function or module is converted once, and not once per process.

The name of a file is a hash of all that a conversion depends on: the text, and the file's name; of a live function
also its code, since the text is believed only if it is that of the code, and what converters know of its globals;
Python, and the files of this library. Only code from files is cached, not code typed at a prompt.
"""

from __future__ import annotations

import builtins
import marshal
import os
import re
import sys
import unicodedata
from types import CodeType, FunctionType

import gast

from autograph import operators
from autograph.common import disk_cache, trace_rules
from autograph.converters.context import known
from autograph.converters.context.base import Decision
from autograph.syntax import codes, loader

_WORD = re.compile(r"[^\W\d]\w*")


def version_of(*rooms: str) -> str:
    """A hash of this library's files: when each was changed, and its size.

    Args:
        rooms: the folders, with all below them; the files of the package itself are always among them.

    Returns:
        "" if the library is not in files.

    Raises:
        ModuleNotFoundError: there is no such folder.
    """
    if not os.path.isdir(trace_rules.ROOT):
        return ""
    folders = [room for room in trace_rules.files_of(*rooms) if room.endswith(os.sep)]
    own = [entry.path for entry in os.scandir(trace_rules.ROOT) if entry.name.endswith(".py")]
    while folders:
        for entry in os.scandir(folders.pop()):
            if entry.name.endswith(".py"):
                own.append(entry.path)
            elif entry.is_dir():
                folders.append(entry.path)
    if not own:
        return ""
    files = [(path, os.stat(path)) for path in (gast.__file__, *sorted(own))]
    return disk_cache.key_of(repr([(path, found.st_mtime_ns, found.st_size) for path, found in files]))


# Computed now, as these files have been imported.
_VERSION = version_of("common", "conversion", "converters", "operators", "syntax")


def key_of_function(function: FunctionType, block: str) -> str | None:
    """The name for the conversion of a function; None if it is not to be kept.

    Args:
        block: the text around it.
    """
    code = function.__code__
    if not _is_cached(code.co_filename):
        return None
    words = {*_WORD.findall(block if block.isascii() else unicodedata.normalize("NFKC", block))}
    names = sorted(known.global_names(words, function.__globals__).items())
    parts = block, codes.description(code), function.__qualname__, repr(names)
    return disk_cache.key_of("function", *_setting(), *parts)


def key_of_module(data: bytes, filename: str) -> str | None:
    """The name for the conversion of a file with these contents; None if it is not to be kept."""
    return disk_cache.key_of("module", *_setting(), data, filename) if _is_cached(filename) else None


def _is_cached(filename: str) -> bool:
    return not why_not_kept(filename)


def why_not_kept(filename: str) -> str:
    """Why conversions of functions of a file are not kept; "" if they are."""
    if not _VERSION:
        return "autograph itself is not in files"
    if disk_cache.folder() is None:
        return disk_cache.save("", b"") or "AUTOGRAPH_CACHE is 0"
    return "" if os.path.exists(filename) else f"its source {filename!r} is not a file"


def _setting() -> tuple[str, ...]:
    """The settings that all conversions depend on."""
    columns = sys._xoptions.get("no_debug_ranges"), os.environ.get("PYTHONNODEBUGRANGES")
    flags = repr((sys.flags.optimize, columns, trace_rules.wants_full_tracebacks()))
    return _VERSION, sys.version, flags, " ".join(sorted(vars(builtins)))


def load(key: str | None) -> tuple[CodeType, list[Decision]] | None:
    """The code of a key, and the decisions of its conversion, if it is there."""
    data = disk_cache.load(key, disk_cache.CONVERSION) if key is not None else None
    if data is None:
        return None
    code, decisions = marshal.loads(data)
    return loader.with_operators(code, operators), [Decision(*decision) for decision in decisions]


def save(key: str | None, code: CodeType, decisions: list[Decision]) -> str:
    """Save code, and the decisions of its conversion; gives the reason if that is impossible."""
    if key is None:
        return ""
    rows = [(each.filename, each.lineno, each.function, each.construct, each.reason) for each in decisions]
    return disk_cache.save(key, marshal.dumps((loader.without_operators(code, operators), rows)), disk_cache.CONVERSION)
