"""Guards of saved graphs: conditions on arguments and on saved objects, as texts of a small language.

A guard of a trace is a Python expression. Most look at functions, classes and modules of the program, which are not
there after loading: they held when the function was saved, and cannot change any more. Those that look at arguments or
at saved objects are kept, with the objects that they name. A text from a file is accepted only if it consists of
comparisons, `and`, `or`, `not`, items, attributes and calls of a few functions: it can do nothing but compare.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from autograph.common.statics import is_a
from autograph.errors import LoadError
from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.signature import Guard
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.tracing.environment.nested_containers import are_outside
from autograph.runtime.tracing.state.undo_log import attributes
from autograph.saving import vocabulary
from autograph.saving.encode import Encoder, Record

HELPERS: dict[str, Callable[..., Any]] = {"are_outside": are_outside, "attributes": attributes, "key": static_key}
_CALLED = frozenset({"type", "len", "id", "repr", *HELPERS})
_METHODS = frozenset({"keys", "isdisjoint"})
_ARGUMENT = re.compile(r"[ap]\d+")
_LONGEST = 20_000   # characters of a guard
_NODES = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.Is, ast.IsNot, ast.Eq,
    ast.NotEq, ast.In, ast.NotIn, ast.Lt, ast.Call, ast.Attribute, ast.Subscript, ast.Name, ast.Load, ast.Constant,
    ast.Tuple, ast.List, ast.Set, ast.Starred,
)  # fmt: skip


def guard_records(
    encoder: Encoder, guards: Iterable[Guard], renamed: Mapping[str, str], owners: Mapping[str, Any]
) -> list[Record]:
    """The records of the guards that matter after loading.

    Args:
        renamed: the names of arguments in a guard, and those that they have in the file.
        owners: objects that are no arguments in the file, by the names that they have in a guard.
    """
    records = [_record(encoder, guard, renamed, owners) for guard in guards]
    return [*{json.dumps(record): record for record in records if record}.values()]


def _record(
    encoder: Encoder, guard: Guard, renamed: Mapping[str, str], owners: Mapping[str, Any]
) -> Record | None:
    """The record of a guard; None if it looks at nothing that is there after loading."""
    tree = ast.parse(guard.expression, mode="eval")
    used = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    names = {**guard.names, **{name: owner for name, owner in owners.items() if name in used}}
    renamed_owner = {name: f"owner_{name}" for name in owners}      # as an argument in the file may have its name
    is_of_arguments = any(name in renamed for name in used - owners.keys())
    if not (is_of_arguments or any(encoder.has(value) for name, value in names.items() if name in used)):
        return None
    if guard.expression.endswith(".keys() == names"):   # which attributes an object has: further ones do no harm
        return None
    records: Record = {}
    for name, value in names.items():
        if name not in used:
            continue
        found = _named(encoder, name, value, guard.names)
        if found is None and not is_of_arguments:
            return None
        if found is None:
            raise encoder.refused(f"the graph is for calls only where {guard.expression} ({guard.reason} else)", None)
        records[renamed_owner.get(name, name)] = found
    if owners or any(encoder.has(value) for value in names.values()):
        for chain in _reads_of(tree.body, names):
            encoder.need(*chain)
    return {"test": _Renamed({**renamed, **renamed_owner}).text(tree), "names": records, "reason": guard.reason}


class _Renamed(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def text(self, tree: ast.AST) -> str:
        return ast.unparse(self.visit(tree))


def _named(encoder: Encoder, name: str, value: Any, names: Mapping[str, Any]) -> Any:
    """The record of an object that a guard names; None if it is not there after loading."""
    if encoder.has(value):
        return {"itself": encoder.number(value)}
    if name in HELPERS and HELPERS[name] is value:
        return {"helper": name}
    if name == "known" and "key" in names:
        return {"key": encoder.arg(names["value"], None)} if _is_data(names.get("value")) else None
    if is_a(value, frozenset) and all(type(each) is str for each in value):
        return {"names": sorted(value)}
    if type(value) is list and _is_data(tuple(value)):
        return {"list": [encoder.arg(each, None) for each in value]}
    if is_a(value, np.dtype) or _is_data(value) or vocabulary.name_of(value) is not None:
        return encoder.arg(value, None)
    return None


def _is_data(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_data, value))
    return type(value) in (int, float, complex, bool, str, bytes, type(None), range) or is_a(value, np.generic)


def _reads_of(tree: ast.AST, names: Mapping[str, Any]) -> list[tuple[Any, Any, None]]:
    """The attributes and items that a guard reads of objects."""
    found: list[tuple[Any, Any, None]] = []

    def value_of(node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = value_of(node.value)
            return _read(found, base, node.attr, lambda: getattr(base, node.attr))
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            base, key = value_of(node.value), node.slice.value
            return _read(found, base, key, lambda: base[key])
        for child in ast.iter_child_nodes(node):
            value_of(child)
        return None

    value_of(tree)
    return found


def _read(found: list[tuple[Any, Any, None]], base: Any, name: Any, get: Callable[[], Any]) -> Any:
    if base is None or type(base) is np.ndarray:
        return None
    found.append((base, name, None))
    try:
        return get()
    except (AttributeError, LookupError, TypeError):
        return None


# After loading --------------------------------------------------------------------------------------------------------


def guard_of(record: Record, arg: Callable[[Any], Any]) -> Guard:
    """The guard of a record.

    Args:
        arg: gives the object of a record.

    Raises:
        LoadError: it is not in the language of guards.
    """
    names = {name: _value(each, arg) for name, each in record["names"].items()}
    _check(record["test"], names)
    return Guard(record["test"], names, record["reason"])


def _value(record: Any, arg: Callable[[Any], Any]) -> Any:
    if isinstance(record, dict):
        if "helper" in record:
            return HELPERS[record["helper"]]
        if "key" in record:
            return static_key(arg(record["key"]))
        if "names" in record:
            return frozenset(record["names"])
        if "list" in record:
            return [arg(each) for each in record["list"]]
    value = arg(record)
    return value.value if isinstance(value, Constant) else value


def _check(text: str, names: Mapping[str, Any]) -> None:
    if len(text) > _LONGEST:
        raise LoadError(f"a guard has {len(text)} characters")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LoadError(f"the guard {vocabulary.shown(text)} cannot be read") from error
    for node in ast.walk(tree):
        if not isinstance(node, _NODES) or not _is_allowed(node, names):
            raise LoadError(f"the guard {vocabulary.shown(text)} does more than compare")


def _is_allowed(node: ast.AST, names: Mapping[str, Any]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names or node.id in _CALLED or _ARGUMENT.fullmatch(node.id) is not None
    if isinstance(node, ast.Attribute):
        return vocabulary.is_attribute(node.attr) or node.attr == "__dict__"
    if isinstance(node, ast.Call):
        function = node.func
        is_method = isinstance(function, ast.Attribute) and function.attr in _METHODS
        name = function.id if isinstance(function, ast.Name) else ""
        is_known = name in _CALLED and (name not in names or names[name] is HELPERS.get(name))
        return not node.keywords and (is_method or is_known)
    return True
