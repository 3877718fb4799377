"""The import hook: matching modules are converted as they are imported.

    with autograph.importing.install(["toolz", "json.*"]) as hook:
        import toolz                            # runs converted code
        print(hook.modules["toolz.itertoolz"])  # what was converted, and what stayed plain

A pattern is the name of a module, which also matches everything below it, or a glob over the full names of modules, in
which `*` also matches dots: `json` and `json*` match `json.decoder`, `json.*` does not match `json`.

The hook is the first finder on `sys.meta_path`. The finders behind it find the module. If it is an ordinary source
file, the hook gives it a loader that differs in one point: `get_code` returns the compiled conversion. Everything else
(`__file__`, `__cached__`, resources, `inspect.getsource`) is the module's own, and nothing is written to its
`__pycache__`. Other modules are not converted, for reasons in `left_alone`.

Modules that were imported before are imported again, with the whole package that they belong to, so that a package
never has two versions of one module. Code that imported them earlier keeps its version; so does this library, which can
therefore convert the modules that it uses itself.

Converted code needs more frames for each call of the user's, so the recursion limit is four times as high while a hook
is installed; `sys.getrecursionlimit` and `sys.setrecursionlimit` still use the program's own limit. `uninstall`
restores `sys.modules`, `sys.meta_path` and the recursion limit.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib
import itertools
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import machinery
from importlib.abc import MetaPathFinder
from importlib.util import decode_source, spec_from_file_location
from types import CodeType, ModuleType, TracebackType
from typing import Any, TypeVar
from zipimport import zipimporter

from autograph import operators
from autograph.common import forking
from autograph.common.line_tables import without_lines
from autograph.conversion import cache
from autograph.conversion.conversions import convert_source
from autograph.conversion.explain import Explanation
from autograph.syntax import hoist, inline, loader

F = TypeVar("F", bound=Any)
T = TypeVar("T")

FRAMES_PER_CALL = 4

_lock = forking.lock()
_installed: list[Hook] = []


def install(patterns: str | Iterable[str]) -> Hook:
    """Convert the modules that match a pattern when they are imported, also those imported already.

    Args:
        patterns: a pattern, or several; see the module's documentation.

    Returns:
        a `Hook`: its `uninstall` puts everything back, and so does the end of a `with` statement.

    Example:
        >>> with ag.importing.install("colorsys") as hook:
        ...     import colorsys
        >>> list(hook.modules)
        ['colorsys']
    """
    hook = Hook([patterns] if isinstance(patterns, str) else patterns)
    hook.install()
    return hook


def compile_converted(data: bytes, filename: str) -> tuple[CodeType, Explanation]:
    """Convert and compile the contents of a file. The module does not define `ag__`.

    Raises:
        SyntaxError: as Python does; its warnings are those of the user's file, too.
    """
    compile(data, filename, "exec", dont_inherit=True)
    key = cache.key_of_module(data, filename)
    cached = cache.load(key)
    if cached is not None:
        return cached[0], Explanation(cached[1])
    converted = convert_source(decode_source(data), filename)
    generated = converted.generated | hoist.hoist(converted.tree)
    inline.inline(converted.tree)
    code = loader.load_module(converted.tree, filename, generated, operators)
    cache.save(key, code, converted.decisions)
    return code, Explanation(converted.decisions)


# The hook's code that runs during an import has no lines, so that trace functions and debuggers do not show it; and the
# conversion itself is not traced.


@without_lines
def _untraced(function: Callable[..., T], *args: Any) -> T:
    trace = sys.gettrace()
    if trace is None:
        return function(*args)
    sys.settrace(None)
    try:
        return function(*args)
    finally:
        sys.settrace(trace)


class Hook(MetaPathFinder):
    """Converts modules as they are imported; as a context manager, it uninstalls itself at the end.

    Attributes:
        patterns: the patterns of module names.
        modules: the report on each converted module.
        left_alone: the reason why each other matching module was not converted.
        prepared: the code of modules that are being imported again.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        regexes = [(rf"{re.escape(name)}(\..*)?\Z", fnmatch.translate(name)) for name in self.patterns]
        self._regex = re.compile("|".join([*itertools.chain(*regexes), r"(?!)"]))
        self.modules: dict[str, Explanation] = {}
        self.left_alone: dict[str, str] = {}
        self.prepared: dict[str, CodeType] = {}
        self._replaced: dict[str, ModuleType] = {}

    def __repr__(self) -> str:
        return f"<Hook {' '.join(self.patterns)}: {len(self.modules)} modules converted>"

    def __enter__(self) -> Hook:
        return self

    def __exit__(self, kind: object, error: object, trace: TracebackType | None) -> None:
        self.uninstall()

    def matches(self, name: str) -> bool:
        """Whether one of the patterns matches the module `name`."""
        return self._regex.match(name) is not None

    def install(self) -> None:
        """Begin to convert; modules imported already are imported again."""
        with _lock:
            if self in _installed:
                return
            if not _installed:
                _raise_limit()
            _installed.append(self)
            try:
                self._prepare()
                sys.meta_path.insert(0, self)
                self._import_afresh()
            except BaseException:
                self.uninstall()
                raise

    def uninstall(self) -> None:
        """Stop converting, and restore the modules that were imported before."""
        with _lock:
            if self not in _installed:
                return
            _installed.remove(self)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self._put_back()
            if not _installed:
                _lower_limit()

    @without_lines
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> machinery.ModuleSpec | None:
        """Part of Python's import protocol."""
        return _untraced(self._find, fullname, path, target) if self._regex.match(fullname) else None

    def _find(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> machinery.ModuleSpec | None:
        if _conversions.running:
            _conversions.imported.append(fullname)
            return None
        finders = list(sys.meta_path)
        for finder in finders[finders.index(self) + 1 :] if self in finders else ():
            find = getattr(finder, "find_spec", None)
            if find is not None and (spec := find(fullname, path, target)) is not None:
                return self.adopt(spec)
        return None

    def adopt(self, spec: machinery.ModuleSpec) -> machinery.ModuleSpec:
        """Return a spec by which the module is imported in converted form; `spec` itself if that is impossible."""
        spec = _file_spec(spec)
        if (why := _why_not(spec)) is not None:
            self.left_alone[spec.name] = why
            return spec
        path = str(spec.origin)
        loader = ConvertingLoader(spec.name, path, self)
        inside = spec.submodule_search_locations
        return spec_from_file_location(spec.name, path, loader=loader, submodule_search_locations=inside) or spec

    def _prepare(self) -> None:
        """Convert the matching modules that are imported already, before any of them is removed."""
        for name, module in list(sys.modules.items()):
            spec = _spec(module)
            if spec is None or spec.name != name or not self.matches(name):
                continue
            if self._loads(adopted := self.adopt(spec)):
                self.prepared[name] = _loader(adopted).get_code(name)

    def _import_afresh(self) -> None:
        """Import the prepared modules again, with the packages that they belong to."""
        packages = {_package(name) for name in self.prepared}
        for name, module in list(sys.modules.items()):
            if _package(name) in packages and not _is_extension(module):
                self._replaced[name] = sys.modules.pop(name)
        # The last module to complete was the first to begin. In this order circular imports begin where they did.
        for name, module in reversed(list(self._replaced.items())):
            if _spec(module) is not None:
                importlib.import_module(name)
        for name in self.prepared:  # such as importlib._bootstrap
            del self.modules[name]
            self.left_alone[name] = "its package imports it from another place than its file"
        self.prepared.clear()

    def _loads(self, spec: machinery.ModuleSpec | None) -> bool:
        return isinstance(loader := _loader(spec), ConvertingLoader) and loader.hook is self

    def _put_back(self) -> None:
        packages = {_package(name) for name in self._replaced}
        for name, module in list(sys.modules.items()):
            if self._loads(_spec(module)) or (_package(name) in packages and not _is_extension(module)):
                _forget(name)
        sys.modules.update(self._replaced)
        self._replaced.clear()


class ConvertingLoader(machinery.SourceFileLoader):
    """Loads one module in converted form."""

    def __init__(self, fullname: str, path: str, hook: Hook) -> None:
        super().__init__(fullname, path)
        self.hook = hook
        self._code: CodeType | None = None

    def __eq__(self, other: object) -> bool:
        """A module's spec compares equal to its spec without the hook."""
        return isinstance(other, machinery.SourceFileLoader) and (self.name, self.path) == (other.name, other.path)

    __hash__ = machinery.SourceFileLoader.__hash__

    @without_lines
    def create_module(self, spec: machinery.ModuleSpec) -> None:
        # Not when the module is executed: then it is in sys.modules, still empty, and a converter may import it.
        self._code = self.hook.prepared.pop(spec.name, None) or _untraced(self._convert, spec.name)

    @without_lines
    def get_code(self, fullname: str) -> CodeType:
        """The code of the converted module."""
        code, self._code = self._code, None
        return code or _untraced(self._convert, fullname)

    def _convert(self, fullname: str) -> CodeType:
        with _plain_imports():
            import warnings  # noqa: F401  # Python looks it up in sys.modules, from which the hook may have removed it

            data = self.get_data(self.path)
            code, self.hook.modules[fullname] = compile_converted(data, self.path)
        return code


class _Conversions(threading.local):
    """The number of nested conversions that run in this thread, and the names that they import."""

    def __init__(self) -> None:
        self.running = 0
        self.imported: list[str] = []


_conversions = _Conversions()


@contextmanager
def _plain_imports() -> Iterator[None]:
    """While it lasts, modules are imported plain; afterwards they are forgotten."""
    _conversions.running += 1
    try:
        yield
    finally:
        _conversions.running -= 1
        if not _conversions.running:
            for name in _conversions.imported:
                _forget(name)
            _conversions.imported.clear()


# the recursion limit --------------------------------------------------------------------------------------------------

_get_limit, _set_limit = sys.getrecursionlimit, sys.setrecursionlimit
_program_limits = [0]  # the program's own limit


def _scaled(limit: int) -> int:
    # Before 3.11, each frame is also on the stack of the process, which must not overflow.
    room = 2**31 - 1 if sys.version_info >= (3, 11) else max(limit, 12_000)
    return min(limit * FRAMES_PER_CALL, room)


@without_lines
@functools.wraps(_get_limit)
def _program_limit() -> int:
    return _program_limits[0] if _installed else _get_limit()


@without_lines
@functools.wraps(_set_limit)
def _set_program_limit(limit: int, /) -> None:
    _set_limit(_scaled(limit) if _installed else limit)
    _program_limits[0] = limit


def _raise_limit() -> None:
    _program_limits[0] = _get_limit()
    _set_limit(_scaled(_program_limits[0]))
    sys.getrecursionlimit, sys.setrecursionlimit = _program_limit, _set_program_limit


def _lower_limit() -> None:
    sys.getrecursionlimit, sys.setrecursionlimit = _get_limit, _set_limit
    _set_limit(_program_limits[0])


# what can be converted ------------------------------------------------------------------------------------------------

def _file_spec(spec: machinery.ModuleSpec) -> machinery.ModuleSpec:
    """Return a spec for the file of a module frozen into the interpreter; `spec` itself for other modules."""
    if _loader(spec) is not machinery.FrozenImporter:
        return spec
    parent = sys.modules.get(spec.name.rpartition(".")[0])
    return machinery.PathFinder.find_spec(spec.name, getattr(parent, "__path__", None)) or spec


def _why_not(spec: machinery.ModuleSpec) -> str | None:
    """Return the reason why a module cannot be converted; None if it can."""
    if _package(spec.name) == __package__:
        return "it belongs to the library that converts"
    loader = _loader(spec)
    kind = type(loader)
    if kind is machinery.SourceFileLoader:
        return None
    return _WHY_NOT.get(kind) or _WHY_NOT.get(loader) or (
        f"its loader, {kind.__module__}.{kind.__qualname__}, may give it other code than its file holds"
    )


_WHY_NOT: dict[Any, str] = {
    ConvertingLoader: "it is converted by another hook",
    type(None): "it is a namespace package, which has no code of its own",
    machinery.BuiltinImporter: "it is built into the interpreter",
    machinery.FrozenImporter: "it is frozen into the interpreter, and its file is not there",
    machinery.ExtensionFileLoader: "it is an extension module, not written in Python",
    machinery.SourcelessFileLoader: "there is only its bytecode, no source file",
    zipimporter: "it is imported from a zip archive",
}


def _spec(module: object) -> machinery.ModuleSpec | None:
    """Return the spec of a module; None for an entry of `sys.modules` that was not imported."""
    spec = vars(module).get("__spec__") if isinstance(module, ModuleType) else None
    return spec if isinstance(spec, machinery.ModuleSpec) else None


def _loader(spec: machinery.ModuleSpec | None) -> Any:  # some are classes, which typeshed does not allow
    return getattr(spec, "loader", None)


def _is_extension(module: object) -> bool:
    """Whether a module may refuse to be imported again, or return the same object."""
    return isinstance(_loader(_spec(module)), machinery.ExtensionFileLoader)


def _package(name: str) -> str:
    return name.partition(".")[0]


def _forget(name: str) -> None:
    """Undo the import of a module."""
    module = sys.modules.pop(name, None)
    parent, _, child = name.rpartition(".")
    holder = sys.modules.get(parent)
    if module is not None and holder is not None and vars(holder).get(child) is module:
        delattr(holder, child)
