"""Constants in generated code: literals, or names among the globals of the generated function."""

from __future__ import annotations

import ast
import builtins
import cmath
import keyword
import math
import random
import re
import time
from types import CellType, ModuleType
from typing import Any

import numpy as np

from autograph.common.code_marks import UNBOUND
from autograph.common.statics import module_name, own_attribute
from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.opdef import FUNCTIONS

ROOTS: dict[str, ModuleType] = {"np": np, "math": math, "cmath": cmath, "random": random, "time": time}
_LITERALS = (bool, int, float, complex, str, bytes, type(None), type(...))
_LONG = 200     # characters of a literal
_NO_WORD = re.compile(r"\W")


class Globals:
    """The globals that a generated function reads. Its variables take precedence over them in the choice of names.

    Functions of modules are globals, too, under their dotted names, such as `math.sqrt`. Only a tree can name a global
    so, but the text looks as users write it. This saves the time of looking up an attribute.

    Attributes:
        values: the globals, by name.
    """

    def __init__(self, variables: set[str]) -> None:
        self._variables = variables
        self._names: dict[int, str] = {}
        self._versions: dict[str, int] = {}     # how many names have been tried by now, for each hint
        self._bound: list[Any] = []      # whose ids `_names` relies on
        self.values: dict[str, Any] = {}

    def path(self, constant: Any) -> str:
        """The dotted name by which generated code reads a constant that is not a literal."""
        value = constant.value if isinstance(constant, Constant) else constant
        path = self._names.get(id(value))
        if path is None:
            public = public_name(value)
            path = self._public(public, value) if public else self._bind(_hint(value), value)
            self._names[id(value)] = path
            self._bound.append(value)
        return path

    def function(self, name: str, target: Any) -> str:
        """The dotted name of the function that an op is."""
        found = find(name)
        if target is not None and found != target:
            return self.path(target)
        return self._public(name, found)

    def _public(self, name: str, value: Any) -> str:
        root, _, rest = name.partition(".")
        if not rest:
            return name if root not in self._variables else self._bind(root, value)
        module = ROOTS[root]
        path = f"{root if self.values.get(root) is module else self._bind(root, module)}.{rest}"
        self.values[path] = value
        return path

    def _bind(self, hint: str, value: Any) -> str:
        version = self._versions.get(hint, 0)
        name = f"{hint}_{version}" if version else hint
        while name in self._variables or self.values.get(name, value) is not value:
            version += 1
            name = f"{hint}_{version}"
        self._versions[hint] = version
        self.values[name] = value
        return name


class StandIn(ast.Name):
    """The name of a faster object in place of an expression.

    Attributes:
        shown: the expression, which the text shows.
    """

    shown: ast.expr


def is_literal(value: Any) -> bool:
    """Whether a constant is a literal in generated code."""
    kind = type(value)
    if kind in (str, bytes):
        return len(value) <= _LONG
    return kind in _LITERALS and (kind is not int or value.bit_length() < 3 * _LONG)


_PRINT = print


def find(name: str) -> Any:
    """The object of a dotted name that starts with a module of `ROOTS`, or of the name of a builtin."""
    root, *rest = name.split(".")
    found: Any = ROOTS.get(root) if rest else getattr(builtins, root, None)
    for part in rest:
        found = getattr(found, part, None)
    return found


def public_name(value: Any) -> str | None:
    """The public dotted name of a function or class; None if it has none."""
    if isinstance(value, ModuleType):
        return None
    if value is _PRINT:
        return "print"      # looked up when the graph runs, even if it is replaced while this is compiled
    if not callable(value):
        return None
    try:
        op_name = FUNCTIONS.get(value)
    except TypeError:   # it cannot be hashed
        return None
    own = own_attribute(value, "__name__")
    module = own_attribute(value, "__module__")
    names = [op_name] if op_name else []
    if isinstance(own, str):
        names += {"builtins": [own], "numpy": [f"np.{own}"], "math": [f"math.{own}"]}.get(str(module), [])
    return next((name for name in names if find(name) is value), None)


def _hint(value: Any) -> str:
    """A readable name for an object."""
    name: Any
    if value is UNBOUND:
        return "unbound"
    if isinstance(value, ModuleType):
        roots = [root for root, module in ROOTS.items() if module is value]
        if roots:
            return roots[0]
        name = module_name(value).rpartition(".")[2]
    elif isinstance(value, dict) and isinstance(value.get("__name__"), str) and "__builtins__" in value:
        name = "module_globals"
    elif isinstance(value, CellType):
        name = "cell"
    elif isinstance(value, np.ndarray):
        name = "array"
    elif isinstance(value, np.dtype):
        name = value.name
    elif isinstance(value, np.generic):
        name = f"{value.dtype.name}_{value}".replace("-", "minus_")[:30]
    elif isinstance(value, (type, type(len), type(public_name))):
        name = value.__name__
    else:
        name = own_attribute(value, "__name__") or type(value).__name__.lower()
    name = _NO_WORD.sub("_", str(name)).strip("_")
    if not name.isidentifier():
        return "constant"
    return f"{name}_" if hasattr(builtins, name) or keyword.iskeyword(name) or name in ROOTS else name
