"""Which modules take part in staging: known by name alone, to those who convert and to those who run."""

from __future__ import annotations

import sys

# Of the standard library, what computes.
COMPUTING = frozenset(
    "math cmath random heapq bisect functools itertools operator copy statistics fractions decimal numbers".split()
)

# The rest of it, this library, and libraries that take staged values as they are or cannot take them at all.
PLAIN = (sys.stdlib_module_names - COMPUTING - {f"_{name}" for name in COMPUTING}) | {
    __name__.partition(".")[0],
    "builtins",
    "numpy",
    "jax",
    "jaxlib",
    "torch",
    "typing_extensions",
}


def is_plain(module: str) -> bool:
    """Whether a module, or the package it is in, takes no part in staging."""
    return module.partition(".")[0] in PLAIN


# Of the standard library, what gives the same for the same, whenever it is called, and changes but what it is given.
PURE = COMPUTING - {"random"} | frozenset(
    """abc array ast base64 binascii builtins calendar collections colorsys contextlib copyreg csv dataclasses datetime
    difflib enum graphlib hashlib html inspect ipaddress json keyword pickle pprint re reprlib shlex string struct
    textwrap token types typing unicodedata weakref zlib zoneinfo _bisect _collections _collections_abc _datetime
    _decimal _functools _heapq _json _operator _pickle _struct _sre _typing""".split()
)
# Methods of classes that tell the time, or where the program runs.
_TELLING = frozenset({"now", "today", "utcnow", "cwd", "home"})


def is_impure(module: str, name: str = "") -> bool:
    """Whether a function of the standard library looks at, or changes, the world outside the program.

    Args:
        module: that the function, or the class that it is a method of, belongs to.
        name: of the function.
    """
    root = module.partition(".")[0]
    return name in _TELLING if root in PURE else root in sys.stdlib_module_names


_CHANGING = frozenset({"array.array", "collections.UserDict", "collections.UserList", "collections.ChainMap"})


def is_made_late(dotted: str) -> bool:
    """Whether a call must be made when the program runs, by its name: of a class, or of what tells the time."""
    *_, name = dotted.split(".")
    return dotted in _CHANGING or name in _TELLING or (name[:1].isupper() and is_impure(dotted))
