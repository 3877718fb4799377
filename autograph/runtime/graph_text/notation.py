"""The notation of graphs: the names, symbols and literals that the printer and the parser share.

    graph  ::=  "graph" name "(" params ")" ":" block
    block  ::=  node*  "->" args  |  node*  "->" "never"  |  node+  |  "pass"
    node   ::=  [outputs "="] what [":" (label ["(" params ")"] ":" block)+]
    what   ::=  op "(" args ")"  |  x "+" y  |  "-" x  |  x "+=" y  |  x "[" index "]"  |  x "." name  |  …

`-> never` ends a block whose end is not reached, because it raises; a block without results ends with nothing, or
`pass` if it is empty. An output or param is written `name: type`. Values bear the names that the user gave them, and
a version if several have the same (`n`, `n.1`, `n.2`); those without a name are numbered (`%0`). `@name` is an object
without a literal; a table besides the text holds it. `#` begins a comment.

Python's own operators are written as in Python, if they have the usual number of arguments; all others as the name of
the op, and its arguments in parentheses. `y: f64[3] = x += 1` changes `x` in place; `y` is its name from then on.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.common.statics import own_attribute
from autograph.runtime.graph.graph import UNBOUND
from autograph.runtime.graph.types import SHORT_NAMES, MaybeUnbound, TensorType, Type

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "in": "in", "is": "is",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ifloordiv": "//=", "imod": "%=", "ipow": "**=",
    "imatmul": "@=", "ilshift": "<<=", "irshift": ">>=", "iand": "&=", "ior": "|=", "ixor": "^=",
}  # fmt: skip
UNARY = {"neg": "-", "pos": "+", "invert": "~", "not": "not "}

# The names of the blocks of a node; those of other ops are all `block`.
LABELS = {"if": ("then", "else"), "while": ("test", "body"), "for": ("body",)}

IDENTIFIER = re.compile(r"[^\W\d]\w*")
DOTTED = re.compile(r"\.?[^\W\d]\w*(\.[^\W\d]\w*)*")
# Words with another meaning; a value of such a name is always written with a version.
WORDS = frozenset("None True False inf nan infj nanj unbound never pass not in del".split())

# `f32(0.5)` is a NumPy scalar; `bool` alone would be the op.
SCALARS: dict[str, type[np.generic]] = {
    "bool_" if name == "bool" else name: dtype.type for dtype, name in SHORT_NAMES.items()
}
_SCALAR_NAMES = {kind: name for name, kind in SCALARS.items()}
CONSTRUCTORS = frozenset([*SCALARS, "dtype"])

_ROOTS = {"np": np, "math": math}
_MODULES = {"numpy": "np", "builtins": "", "math": "math"}
_MISSING = object()
_LARGE = 10**1000  # Python does not write the decimal digits of just any integer


def label(op: str, index: int) -> str:
    """The name of the block of a node."""
    labels = LABELS.get(op, ())
    return labels[index] if index < len(labels) else "block"


def is_name(text: str) -> bool:
    """Whether a text can be a name without quotes."""
    return IDENTIFIER.fullmatch(text) is not None


def literal(value: Any) -> str | None:
    """The literal of a constant; None for a structure, or if there is none."""
    write = _WRITERS.get(type(value))
    if write is not None:
        return write(value)
    if isinstance(value, np.generic):
        return _scalar(value)
    if isinstance(value, np.dtype):
        written = dtype(value)
        return written and f"dtype({written if written in SCALARS or written == 'bool' else repr(written)})"
    return well_known(value)


def _integer(value: int) -> str:
    return repr(value) if -_LARGE < value < _LARGE else hex(value)


_WRITERS: dict[type, Callable[[Any], str]] = {
    type(None): repr,
    bool: repr,
    int: _integer,
    float: repr,
    complex: repr,
    str: repr,
    bytes: repr,
    range: repr,
    type(...): lambda value: "...",
    type(UNBOUND): lambda value: "unbound",
}


def _scalar(value: np.generic) -> str | None:
    name = _SCALAR_NAMES.get(type(value))
    if name is None:
        return None
    if isinstance(value, np.complexfloating):
        written = repr(complex(float(_shortest(value.real)), float(_shortest(value.imag))))
    else:
        written = _shortest(value) if isinstance(value, np.floating) else repr(value.item())
    return f"{name}({written})"


def _shortest(value: np.floating[Any]) -> str:
    """The fewest digits that give this number again."""
    if isinstance(value, np.float64) or not np.isfinite(value):
        return repr(float(value))
    if value.itemsize > 8:
        return str(value)
    short = (repr(float(f"{float(value):.{digits}g}")) for digits in range(1, 18))
    with np.errstate(over="ignore"):
        return next(text for text in short if type(value)(text) == value)


def dtype(value: np.dtype[Any]) -> str | None:
    """The name of a dtype; None if no name determines it, such as that of records."""
    if value in SHORT_NAMES:
        return SHORT_NAMES[value]
    return value.str if value.metadata is None and np.dtype(value.str) == value else None


def type_text(type: Type, refer: Callable[[Any], str] = str) -> str:
    """A type as `str` writes it; names that are no identifiers are quoted, and `refer` writes dtypes without a name."""
    if isinstance(type, MaybeUnbound):
        return f"{type_text(type.inner, refer)}?"
    if isinstance(type, TensorType):
        return str(type) if dtype(type.dtype) else str(type).replace(type.dtype.str, refer(type.dtype))
    items = ",".join(type_text(item, refer) for item in type.items)
    name = type.name if _is_class_name(type.name) else repr(type.name)
    return f"{name}<{items}>" if items else name


def _is_class_name(name: str) -> bool:
    parts = name.split(".")
    return all(map(is_name, parts)) and parts[0] != "py" and name not in SHORT_NAMES.values()


def well_known(value: Any) -> str | None:
    """The name of a function or class of the builtins, `math` or NumPy, as users write it; None for others."""
    name = own_attribute(value, "__name__")
    if not callable(value) or not isinstance(name, str):
        return None
    root, _, rest = _module(value).partition(".")
    if root not in _MODULES:
        return None
    written = ".".join(filter(None, [_MODULES[root], rest, name]))
    try:
        return written if resolve(written) is value else None
    except LookupError:
        return None


def _module(value: Any) -> str:
    if isinstance(value, np.ufunc):
        return "numpy"
    if isinstance(getattr(value, "__self__", None), np.random.RandomState):
        return "numpy.random"
    return str(getattr(value, "__module__", None))


def resolve(name: str) -> Any:
    """The object with this name by `well_known`; raises LookupError."""
    first, *rest = name.split(".")
    found = _ROOTS.get(first, _MISSING) if rest else getattr(builtins, first, _MISSING)
    for part in rest:
        found = getattr(found, part, _MISSING)
    if not callable(found):
        raise LookupError(name)
    return found
