"""The functions, classes, operations and attributes that a saved graph may name.

A saved directory comes from anywhere, so the names in it are data: each is looked up here, and nothing is imported.
None of these functions opens a file, imports a module, starts a process or evaluates a text; none of the attributes
leads to frames, code, classes' internals or raw memory.
"""

from __future__ import annotations

import builtins
import collections
import datetime
import decimal
import fractions
import functools
import heapq
import importlib
import itertools
import keyword
import operator
import re
from bisect import bisect_left, bisect_right, insort_left, insort_right
from collections.abc import Collection, Iterable, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.common.pytree import (
    rebuild_dataclass,
    rebuild_default_dict,
    rebuild_named_tuple,
    rebuild_ordered_dict,
)
from autograph.common.statics import is_a
from autograph.errors import LoadError
from autograph.runtime.graph.object_model import set_attribute
from autograph.runtime.graph.opdef import OPS, op_of
from autograph.runtime.graph_text import notation
from autograph.runtime.tracing.calls.user_operators import _checked, compared
from autograph.runtime.tracing.state.exceptions import remake

_BUILTINS = frozenset(
    """abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format
    frozenset hasattr hash hex int isinstance issubclass iter len list map max min next object oct ord pow print range
    repr reversed round set slice sorted str sum tuple zip""".split()
)
_NUMPY = frozenset(
    """apply_along_axis apply_over_axes broadcast busday_count common_type datetime64 dtype errstate finfo frompyfunc
    geterr iinfo isdtype may_share_memory min_scalar_type nan_to_num ndarray ndenumerate ndindex poly1d printoptions
    promote_types shares_memory timedelta64 vectorize linalg.LinAlgError random.Generator random.RandomState
    random.PCG64 lib.stride_tricks.sliding_window_view""".split()
)
_OPERATOR = frozenset(
    """abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv ilshift
    imatmul imod imul index indexOf invert ior ipow irshift is_ is_not isub itemgetter itruediv ixor le length_hint
    lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor""".split()
)
_ITERTOOLS = frozenset(name for name in dir(itertools) if not name.startswith("_"))


def _further() -> dict[str, Any]:
    """Functions and classes that are no ops, by name."""
    found = {f"operator.{name}": getattr(operator, name) for name in _OPERATOR}
    found |= {f"itertools.{name}": getattr(itertools, name) for name in _ITERTOOLS}
    found |= {f"np.{name}": functools.reduce(getattr, name.split("."), np) for name in _NUMPY if _has(np, name)}
    named: list[Any] = [collections.ChainMap, collections.Counter, collections.OrderedDict, collections.defaultdict]
    named += [collections.deque, datetime.date, datetime.datetime, datetime.timedelta, decimal.Decimal]
    named += [fractions.Fraction, functools.partial, functools.reduce, heapq.heapify, heapq.heappop, heapq.heappush]
    named += [heapq.heappushpop, heapq.heapreplace, bisect_left, bisect_right, insort_left, insort_right]
    found |= {f"{each.__module__.lstrip('_')}.{each.__qualname__}": each for each in named}
    # What nodes of this library's own call.
    helpers = remake, set_attribute, _checked, compared, rebuild_dataclass, rebuild_default_dict, rebuild_named_tuple
    found |= {f"autograph.{each.__name__.lstrip('_')}": each for each in (*helpers, rebuild_ordered_dict)}
    return found


def _has(module: ModuleType, name: str) -> bool:
    try:
        functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        return False
    return True


_FURTHER = _further()
_NAMES = {id(thing): name for name, thing in _FURTHER.items()}
_NO_OPS = frozenset({"delattr", "custom_gradient", "run_rule", "type"})     # that a saved graph must not have
_CODE = (type, FunctionType, BuiltinFunctionType, ModuleType)
_METHODS = frozenset({"dump", "dumps", "resize", "setfield", "setflags", "tofile", "to_device"})
_ATTRIBUTES = _METHODS | {"capsule", "cast", "cffi", "ctypes", "data", "format_map", "interface", "mro"}
_INTERNALS = re.compile("__|(gi|cr|ag|co|tb|func)_|f_(back|builtins|code|generator|globals|lasti|lineno|locals|trace)")
_SPECIAL = frozenset({"__name__", "__qualname__", "__doc__", "__getitem__", "__len__"})
_MOST = 200     # characters of a name


def name_of(thing: Any) -> str | None:
    """The name under which saved graphs refer to a function or class; None if they must not."""
    known = _NAMES.get(id(thing))
    if known is not None:
        return known
    op = op_of(thing) if callable(thing) else None
    if op is not None and OPS[op].target is thing and op not in _NO_OPS and not op.startswith("."):
        return op
    name = notation.well_known(thing)
    return name if name is not None and _is_known(name) else None


def lookup(name: str) -> Any:
    """The function or class of a name.

    Raises:
        LoadError: saved graphs must not name it.
    """
    found = _FURTHER.get(name)
    if found is None and name in OPS and name not in _NO_OPS:
        found = OPS[name].target
    if found is None and _is_known(name):
        found = notation.resolve(name)
    if found is None:
        raise LoadError(f"{shown(name)} is no function or class that a saved graph may name")
    return found


def _is_known(name: str) -> bool:
    """Whether a name is that of a harmless builtin, an exception, or a class of NumPy's scalars."""
    if name in _BUILTINS:
        return True
    root, _, rest = name.rpartition(".")
    found: Any = vars(builtins).get(name) if not root else vars(np).get(rest) if root == "np" else None
    if not is_a(found, type):
        return False
    kinds = (BaseException,) if not root else (np.generic, Warning, Exception)
    return issubclass(found, kinds)


def check_op(name: str) -> None:
    """Check that a saved graph may have nodes of an op.

    Raises:
        LoadError: it must not, or there is no such op.
    """
    is_allowed = is_method(name[1:]) if name.startswith(".") else name in OPS and name not in _NO_OPS
    if not is_allowed:
        raise LoadError(f"{shown(name)} is no operation that a saved graph may have")


def check_attribute(op: str, args: Sequence[Any], methods: Collection[str] = ()) -> None:
    """Check that a saved graph may have a node with these arguments, if it reads or sets an attribute.

    Args:
        methods: names of loaded functions, whose attributes lead to this library.

    Raises:
        LoadError: the name of the attribute is not constant, or none of those that it may.
    """
    is_named = op in ("getattr", "setattr") or (op == "call" and args and args[0] is set_attribute)
    place = 1 if op != "call" else 2
    name = args[place] if len(args) > place else None
    is_reached = (op == "getattr" and name in methods) or (op[:1] == "." and op[1:] in methods)
    if op == "setattr" and args and is_a(getattr(args[0], "value", args[0]), _CODE):
        raise LoadError("a saved graph must not set attributes of functions and classes")
    if is_reached or (is_named and not is_attribute(name)):
        raise LoadError(f"a saved graph must not read or set the attribute {shown(args[place : place + 1])}")


def check_arguments(op: str, leaves: Iterable[Any]) -> None:
    """Check that a node may have arguments which are no values.

    Raises:
        LoadError: it must not have NumPy's class of arrays, which makes arrays of any memory, but to compare classes.
    """
    if op not in ("is", "isinstance", "issubclass") and any(each is np.ndarray for each in leaves):
        raise LoadError(f"a saved graph must not use the class of arrays in `{op}`")


def is_method(name: str) -> bool:
    """Whether a saved graph may call a method of this name."""
    return is_identifier(name) and name not in _METHODS and (_INTERNALS.match(name) is None or f".{name}" in OPS)


def is_attribute(name: Any) -> bool:
    """Whether a saved graph may read or set an attribute of this name."""
    if type(name) is not str or not is_identifier(name):
        return False
    return name in _SPECIAL or (name not in _ATTRIBUTES and _INTERNALS.match(name) is None)


def is_identifier(name: str) -> bool:
    """Whether a name may be that of a variable or keyword in generated code."""
    return len(name) <= _MOST and name.isidentifier() and not keyword.iskeyword(name)


def shown(name: Any) -> str:
    """A name from a file, short and printable."""
    return ascii(name)[:_MOST]


def callbacks(named: Iterable[str], allowed: Collection[str]) -> dict[str, Any]:
    """The Python functions and classes that a file names, as far as the user allows them; they are imported.

    Raises:
        LoadError: one cannot be found.
        TypeError: `allowed` is no list of names.
    """
    if isinstance(allowed, str) or not all(isinstance(each, str) for each in allowed):
        raise TypeError(f"allow_callbacks is a list of names, such as ['package.module:function'], not {allowed!r}")
    return {name: imported(name) for name in named if name in allowed}


def imported(name: str) -> Any:
    """The function or class `module:qualname` that the user allows; its module is imported.

    Raises:
        LoadError: there is none.
    """
    module, _, qualname = name.partition(":")
    try:
        return functools.reduce(getattr, qualname.split("."), importlib.import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise LoadError(f"the allowed callback {shown(name)} cannot be imported: {error}") from error
