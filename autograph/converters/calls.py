"""`f(x)` → `ag__.call(f)(x)`, unless `f` is known to need no conversion.

Not wrapped: builtins, methods of literals, functions of modules that take no part in staging (most of the standard
library, NumPy, JAX, this library), and exceptions. Exceptions from this rule are wrapped:

- NumPy's creation and random functions, its scalars, and `math`: they have no staged argument that could show them
  that a backend traces.
- Methods called through their class, like `threading.Thread.__init__(self)`: they get an object of the user's.
- `", ".join(…)`, `"…".format(…)` and the like: they get texts that may be staged.
"""

from __future__ import annotations

import builtins
import re
from typing import Any

import gast

from autograph.common import trace_rules
from autograph.converters.context import movable
from autograph.converters.context.base import Context
from autograph.syntax import template, trees

# Functions and classes of NumPy that do not look for staged arguments.
_CREATION = frozenset(
    "zeros ones empty full arange linspace logspace geomspace eye identity tri array asarray asanyarray "
    "ascontiguousarray asfortranarray asarray_chkfinite asmatrix bmat matrix ndarray require fromfunction fromiter "
    "frombuffer fromstring from_dlpack indices diag_indices tril_indices triu_indices mask_indices broadcast_shapes "
    "bartlett blackman hamming hanning kaiser fftfreq rfftfreq as_strided poly1d vectorize nditer ndindex ndenumerate "
    "broadcast isscalar iterable isfortran base_repr binary_repr format_float_positional format_float_scientific "
    "bool bool_ byte ubyte short ushort intc uintc int_ uint long ulong longlong ulonglong intp uintp int8 int16 int32 "
    "int64 uint8 uint16 uint32 uint64 half single double longdouble float16 float32 float64 float96 float128 csingle "
    "cdouble clongdouble complex64 complex128 complex192 complex256 str_ bytes_ void object_ datetime64 timedelta64 "
    "dtype finfo iinfo recarray".split()
)
_EXCEPTION = re.compile(r"(Error|Exception|Warning|Exit|Interrupt)$")
_SETTERS = frozenset({"setattr", "delattr"})  # a backend must know the changes that they make
_BUILTINS = frozenset(name for name in dir(builtins) if not trace_rules.is_made_late(f"builtins.{name}")) - _SETTERS
_LITERALS = (gast.Constant, gast.JoinedStr)
# Methods of strings that may get staged arguments.
_METHODS_OF_TEXTS = frozenset(
    "format join center ljust rjust zfill expandtabs replace startswith endswith find count encode".split()
)


def rewrite(node: gast.Call, context: Context) -> Any:
    if template.operator_of(node) or template.operator_of(node.func) == "call":
        return None
    if context.decide(node, f"call of {_description(node.func)}", _reason(node, context)):
        node.func = gast.copy_location(template.call("call", node.func), node.func)
    elif (context.dotted(node.func) or "").partition(".")[0] == "jax":
        node.guarded = True  # a backend may hand functions over in another form
    return None


def decorator(function: Any, context: Context) -> Any:
    """Convert a decorator as the function of a call."""
    call = gast.copy_location(gast.Call(function, [], []), function)
    rewrite(call, context)
    return call.func


def _reason(node: gast.Call, context: Context) -> str | None:
    function = node.func
    if movable.frame_depth(node, context) >= 1:
        return "it looks at its caller's frame"
    if isinstance(function, gast.Name) and function.id in _BUILTINS and context.is_builtin(function.id):
        return "a builtin that needs no conversion"
    if isinstance(function, gast.Attribute) and isinstance(function.value, _LITERALS):
        if not (function.attr in _METHODS_OF_TEXTS and _is_text(function.value) and node.args):
            return "a method of a literal"
    dotted = context.dotted(function)
    if dotted is not None and trace_rules.is_plain(dotted) and not (_takes_part(dotted) or _is_limited(node, dotted)):
        return f"`{dotted.partition('.')[0]}` takes no part in staging"
    if _EXCEPTION.search(function.id if isinstance(function, gast.Name) else getattr(function, "attr", "")):
        return "an exception"
    return None


def _is_text(node: Any) -> bool:
    return isinstance(getattr(node, "value", ""), str)


def _takes_part(dotted: str) -> bool:
    """Whether a call is wrapped although the module of the function takes no part in staging."""
    owner = dotted.rpartition(".")[0]
    is_of_class = owner.rpartition(".")[2].lstrip("_")[:1].isupper() and owner not in _MODULES  # by how it is written
    return is_of_class or _creates(dotted) or trace_rules.is_made_late(dotted)


def _is_limited(node: gast.Call, dotted: str) -> bool:
    """Whether a call is `deque(xs, n)`, whose `n` may be staged."""
    limits = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
    return dotted == "collections.deque" and any(not isinstance(each, gast.Constant) for each in limits)


_MODULES = frozenset({"xml.etree.ElementTree", "xml.etree.cElementTree", "PIL.Image"})  # modules named like classes


def _creates(dotted: str) -> bool:
    """Whether a function of NumPy creates, draws or tests arrays or scalars; or a builtin sets attributes."""
    parts = dotted.split(".")
    if parts[0] == "builtins":
        return parts[-1] in _SETTERS
    return parts[0] == "numpy" and (parts[-1] in _CREATION or not {"random", "testing"}.isdisjoint(parts))


def _description(function: Any) -> str:
    root, names = trees.dotted(function)
    return ".".join([root.id if isinstance(root, gast.Name) else "…", *names])


REWRITERS = {gast.Call: rewrite}
