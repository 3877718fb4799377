"""Rules by name: which modules take part in staging, for converters and the runtime."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any, TypeVar

from autograph.common.code_flags import codes_in
from autograph.common.statics import module_of

# Modules of the standard library that only compute.
COMPUTING = frozenset(
    "math cmath random heapq bisect functools itertools operator copy statistics fractions decimal numbers".split()
)

# Libraries that draw, show and save, or make random numbers: each call has effects outside of the program.
ACTING = frozenset(
    "IPython PIL bokeh h5py imageio ipywidgets matplotlib mpl_toolkits plotly seaborn torch wandb".split()
)

# The rest of it, this library, and libraries that take staged values as they are or cannot take them at all.
PLAIN = (sys.stdlib_module_names - COMPUTING - {f"_{name}" for name in COMPUTING}) | ACTING | {
    __name__.partition(".")[0],
    "builtins",
    "numpy",
    "jax",
    "jaxlib",
    "typing_extensions",
}


ROOT = os.path.dirname(os.path.dirname((lambda: None).__code__.co_filename)) + os.sep


def files_of(*modules: str) -> tuple[str, ...]:
    """The beginnings of the paths of modules and packages of this library, by their names below `autograph`.

    Raises:
        ModuleNotFoundError: there is no such module.
    """
    found = []
    for name in modules:
        path = ROOT + name.replace(".", os.sep)
        endings = [ending for ending in (".py", ".pyc", os.sep) if os.path.exists(path + ending)]
        if not endings and os.path.isdir(ROOT):     # not in an archive
            raise ModuleNotFoundError(f"{__name__} names the module {name!r}, which this library does not have")
        found += [path + ending for ending in endings or (".py", os.sep)]
    return tuple(found)


# Modules of this library that are staged like code of its users.
_STAGED = ("variables", "modules", "transforms.jacobians", "nn", "optim", "testing.corpus")
_STAGED_FILES = files_of(*_STAGED)
_FOR_USERS = files_of("operators", "runtime.tracing.calls.python_versions")
# Functions of `ag.summary`: graphs call them when they run.
SUMMARY = tuple("Writer audio create_file_writer default_writer flush graph histogram image scalar text trace".split())
_PREFIX = f"{__name__.partition('.')[0]}."
_STAGED_NAMES = tuple(
    f"{_PREFIX}{name}"
    for name in (
        *(*_STAGED, "runtime.tracing.calls.python_versions", "Variable", "Module", "vjp", "jvp", "stop_gradient"),
        *(f"summary.{name}" for name in SUMMARY),
    )
)


def is_plain(module: Any) -> bool:
    """Whether a module, or the package it is in, takes no part in staging.

    Args:
        module: its name. A program may have replaced it by anything else, which is the name of no module.
    """
    module = str(module)
    if module.startswith(_STAGED_NAMES):
        return not any(module == name or module.startswith(name + ".") for name in _STAGED_NAMES)
    return module.partition(".")[0] in PLAIN


def is_known_library(module: Any) -> bool:
    """Whether a module is one of Python's, or takes no part in staging: it sets nothing of the user's by itself."""
    return (str(module).partition(".")[0] in sys.stdlib_module_names and module != "__main__") or is_plain(module)


def is_own_class(kind: type) -> bool:
    """Whether a class is this library's."""
    return str(module_of(kind)).startswith(_PREFIX)


def is_standard(module: ModuleType | None) -> bool:
    """Whether a module is of the standard library, and written in Python, or is `sys`, in which things are set, too."""
    name, file = getattr(module, "__name__", ""), getattr(module, "__file__", None) or ""
    is_written = file.endswith(".py") or name == "sys"
    return name.partition(".")[0] in sys.stdlib_module_names and name != "__main__" and is_written


def wants_full_tracebacks() -> bool:
    """Whether the user wants to see the code of this library in tracebacks."""
    return os.environ.get("AUTOGRAPH_FULL_TRACEBACK") == "1"


@lru_cache(4096)
def is_own(filename: str) -> bool:
    """Whether a file is this library's, and none of those that are staged like the user's."""
    return filename.startswith(ROOT) and not filename.startswith(_STAGED_FILES)


_RUNTIME = files_of("runtime")


def callers() -> int:
    """The `stacklevel` for `warnings.warn` in the caller, so that a warning is on the user's line, at run time."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith(_RUNTIME):
        depth, frame = depth + 1, frame.f_back
    return depth


_ON_BEHALF: set[CodeType] = set()
_F = TypeVar("_F", bound=Callable[..., Any])


def on_behalf(function: _F) -> _F:
    """Mark a function of this library that acts for the user's code: its errors are the user's."""
    if function.__code__ not in _ON_BEHALF:
        _ON_BEHALF.update(codes_in(function.__code__))
    return function


def is_at_fault(code: CodeType) -> bool:
    """Whether an error raised by code is this library's, rather than of the program that it works for."""
    return is_own(code.co_filename) and not (code in _ON_BEHALF or code.co_filename.startswith(_FOR_USERS))


# Modules of pure functions: results depend on the arguments only, and only arguments are changed. They read no settings
# of the process (contexts of decimals, locales, time zones, registries of pickle or csv).
PURE = COMPUTING - {"random", "decimal"} | frozenset(
    """abc array base64 binascii builtins collections colorsys contextlib dataclasses datetime difflib enum graphlib
    hashlib html ipaddress keyword re shlex string struct textwrap token types typing unicodedata weakref zlib _bisect
    _collections _collections_abc _datetime _functools _heapq _operator _struct _sre _typing""".split()
)
# Methods of classes that read the clock, or the folder of the program.
_TELLING = frozenset({"now", "today", "utcnow", "cwd", "home"})
# Exceptions in these modules: functions and methods that read the time zone, the locale or a registry, or that print.
_OF_DATES = _TELLING | {"astimezone", "timestamp", "fromtimestamp", "strftime", "strptime"}
_IMPURE_FUNCTIONS = {
    "abc": frozenset({"get_cache_token"}),
    "base64": frozenset({"encode", "decode", "main", "test"}),
    "datetime": _OF_DATES,
    "_datetime": _OF_DATES,
    "typing": frozenset({"get_type_hints", "get_overloads", "clear_overloads", "reveal_type"}),
    "weakref": frozenset({"getweakrefcount", "getweakrefs"}),
}
# Pure functions of other modules.
_PURE_FUNCTIONS = {
    "calendar": frozenset("isleap leapdays weekday monthrange timegm".split()),
    "json": frozenset({"loads"}),
    "inspect": frozenset(
        """isabstract isasyncgen isasyncgenfunction isawaitable isbuiltin isclass iscode iscoroutine iscoroutinefunction
        isdatadescriptor isfunction isgenerator isgeneratorfunction isgetsetdescriptor ismemberdescriptor ismethod
        ismethoddescriptor ismodule isroutine""".split()
    ),
}
# Classes of which the objects, although they never change, compute by settings of the process.
_BY_SETTINGS = frozenset("decimal _decimal _pydecimal zoneinfo".split())


def is_impure(module: str, name: str = "") -> bool:
    """Whether a function of a known library looks at, or changes, the world outside the program.

    Args:
        module: that the function, or the class that it is a method of, belongs to.
        name: of the function.
    """
    root = module.partition(".")[0]
    if root in PURE:
        return name in _IMPURE_FUNCTIONS.get(root, ())
    is_pure = name in _PURE_FUNCTIONS.get(root, ())
    return not is_pure and (root in sys.stdlib_module_names or root in ACTING)


def depends_on_settings(module: str) -> bool:
    """Whether objects of the classes of a known module compute by settings of the process."""
    return module.partition(".")[0] in _BY_SETTINGS


# Modules of containers, iterators and classes, which the tracer knows or replaces,
_CONTAINING = frozenset("builtins collections itertools functools types contextlib abc typing enum dataclasses".split())
# with these exceptions; and classes of other modules that begin with a small letter, and modules full of such classes.
_CHANGING = frozenset(
    """builtins.object builtins.module builtins.cell types.ModuleType types.CellType
    collections.UserDict collections.UserList collections.ChainMap types.SimpleNamespace
    calendar.different_locale csv.excel csv.excel_tab csv.unix_dialect hashlib.blake2b hashlib.blake2s
    inspect.make_weakref numpy.poly1d os.sched_param pkgutil.zipimporter shlex.shlex socket.socket ssl.socket
    threading.local typing.NewType typing.ParamSpec typing.TypeVar unittest.main weakref.finalize
    weakref.ref""".split()
)
_SMALL = frozenset(
    "array ast asynchat asyncore ctypes curses filecmp mailbox mmap netrc optparse sched select zipimport".split()
)
# Functions that make classes; each call gives another one.
_CLASSES = frozenset(
    """builtins.type abc.ABCMeta enum.EnumMeta enum.Enum enum.IntEnum enum.StrEnum enum.Flag enum.IntFlag
    collections.namedtuple types.new_class dataclasses.make_dataclass typing.NamedTuple typing.TypedDict""".split()
)
_VIEW = "builtins.memoryview"  # through which a program changes a bytearray
_OF_NUMPY = ("numpy.random", "numpy.polynomial")


def makes_anew(module: str, name: str) -> bool:
    """Whether each call of a class gives another object, one that can change or that one may ask for.

    Args:
        module: of a known library, that the class belongs to.
        name: of the class.
    """
    root = module.partition(".")[0]
    is_known = root in ACTING or (root in sys.stdlib_module_names and root not in _CONTAINING)
    return is_known or module.startswith(_OF_NUMPY) or f"{module}.{name}" in _CHANGING


def makes_classes(module: str, name: str) -> bool:
    """Whether a function of the standard library makes classes."""
    return f"{module}.{name}" in _CLASSES


def is_made_late(dotted: str) -> bool:
    """Whether a call must be made when the program runs, by its name: of such a class, a view or a clock."""
    module, _, name = dotted.rpartition(".")
    is_impure_there = name in _TELLING or name in _IMPURE_FUNCTIONS.get(module.partition(".")[0], ())
    may_be_class = name[:1].isupper() or module in _SMALL or dotted in _CHANGING
    is_class = dotted in _CLASSES or dotted == _VIEW
    return is_impure_there or is_class or (may_be_class and makes_anew(module, name))
