"""Running the ops of calls written as Python, and comparing what comes out with what their rules say."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograph.runtime.graph import types
from autograph.runtime.graph.opdef import FUNCTIONS, OPS, PURE, VIEW, lookup
from autograph.runtime.graph.traits import COPIES_ARRAYS
from autograph.runtime.graph.types import NAMED_TUPLES, ObjectType, TensorType, Type
from autograph.runtime.ops.inference.declare import ROOTS as MODULES


@dataclass
class Call:
    """A call of an op, with concrete arguments."""

    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def run(self) -> Any:
        if self.op in ("getitem", "getattr"):
            return self.args[0][self.args[1]] if self.op == "getitem" else getattr(*self.args)
        if self.op.startswith("."):
            return getattr(self.args[0], self.op[1:])(*self.args[1:], **self.kwargs)
        return OPS[self.op].target(*self.args, **self.kwargs)

    def infer(self, abstract: Callable[[Any], Any]) -> Any:
        args = tuple(map(abstract, self.args))
        return lookup(self.op).infer(*args, **{name: abstract(arg) for name, arg in self.kwargs.items()})


def parse(line: str, values: dict[str, Any]) -> Call:
    """The call that a line of Python is, with the values of variables; each line gets copies."""
    tree = ast.parse(line, mode="eval").body
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    scope = {**MODULES, **{name: copy.deepcopy(value) for name, value in values.items() if name in names}}

    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), line, "eval"), scope)

    if isinstance(tree, ast.Subscript):
        return Call("getitem", (value(tree.value), value(tree.slice)), {})
    if isinstance(tree, ast.Attribute):
        return Call("getattr", (value(tree.value), tree.attr), {})
    assert isinstance(tree, ast.Call)
    args = tuple(map(value, tree.args))
    kwargs = {str(keyword.arg): value(keyword.value) for keyword in tree.keywords}
    root = tree.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(tree.func, ast.Attribute) and not (isinstance(root, ast.Name) and root.id in MODULES):
        return Call(f".{tree.func.attr}", (value(tree.func.value), *args), kwargs)
    return Call(FUNCTIONS[value(tree.func)], args, kwargs)


def exists(line: str) -> bool:
    """Whether this version has the function that a line calls."""
    tree = ast.parse(line, mode="eval").body
    if not isinstance(tree, ast.Call):
        return True
    path = ast.unparse(tree.func).split(".")
    found = MODULES.get(path[0])
    for name in path[1:]:
        if found is not None and not hasattr(found, name):
            return False
        found = getattr(found, name, None)
    return True


# ------------------------------------------------------------------------------------------------ types of values


def holds(type: Type, value: Any) -> bool:
    """Whether a value is of a type."""
    if isinstance(type, TensorType):
        found = types.type_of(value)
        return isinstance(found, TensorType) and types.covers(type, found)
    assert isinstance(type, ObjectType)
    if type.name == "object":
        return True
    if type.name != value.__class__.__name__:
        return False
    if not type.items:
        return True
    if isinstance(value, tuple) and (type.name == "tuple" or type.name in NAMED_TUPLES):
        return len(value) == len(type.items) and all(map(holds, type.items, value))
    if isinstance(value, dict):
        return all(holds(type.items[0], key) and holds(type.items[1], value[key]) for key in value)
    (item,) = type.items
    return all(holds(item, each) for each in itertools.islice(value, 100))


def describe(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(describe, value))})"
    return str(types.type_of(value))


def precisely(type: Type, value: Any, dimensions: bool) -> bool:
    """Whether a type says all there is to say of a value, or all but some dimension."""
    if isinstance(value, tuple):
        items = type.items if isinstance(type, ObjectType) else ()
        return len(items) == len(value) and all(precisely(*pair, dimensions) for pair in zip(items, value))
    if isinstance(type, ObjectType):
        return type != types.ANY
    assert isinstance(type, TensorType)
    return type.exact and not (dimensions and None in type.shape)


# ------------------------------------------------------------------------------------------------------ abstraction


def abstraction(staged: bool = False, unknown: bool = False, inexact: bool = False) -> Callable[[Any], Any]:
    """What makes types of the arrays among arguments.

    Args:
        staged: numbers are types, too; otherwise they are constants.
        unknown: no dimension is known.
        inexact: nothing is exact: all might be of narrower types.
    """

    def abstract(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)) or (staged and isinstance(value, (int, float, complex))):
            found = types.type_of(value)
            assert isinstance(found, TensorType)
            if unknown:
                found = replace(found, shape=(None,) * found.ndim)
            return widened(found) if inexact else found
        if type(value) is tuple:
            return tuple(map(abstract, value))
        if type(value) is list:
            return list(map(abstract, value))
        if type(value) is slice:
            return slice(abstract(value.start), abstract(value.stop), abstract(value.step))
        if value is None or isinstance(value, (str, bool, int, float, complex, type, np.dtype)) or callable(value):
            return value
        if value is Ellipsis:
            return value
        return types.type_of(value)

    return abstract


def widened(type: TensorType) -> TensorType:
    """An inexact type that covers `type`."""
    if type.dtype.kind not in "biufc":
        return type
    dtype = np.result_type(type.dtype, {"b": np.int8, "c": np.complex64}.get(type.dtype.kind, np.float32))
    return TensorType(dtype, type.shape, type.kind if type.weak else "array", exact=False)


MODES: dict[str, Callable[[Any], Any]] = {
    "known": abstraction(),
    "staged": abstraction(staged=True),
    "unknown": abstraction(unknown=True),
    "staged and unknown": abstraction(staged=True, unknown=True),
    "inexact": abstraction(staged=True, inexact=True),
}


# ------------------------------------------------------------------------------------------------------- comparison


def arrays_in(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays in a structure."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list, set)):
        for part in value:
            yield from arrays_in(part)
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))


def check_effect(call: Call) -> Any:
    """Run a call, and hold its op to what it says it does to its arguments; gives the result."""
    before = repr((call.args, call.kwargs))
    result = call.run()
    op = lookup(call.op)
    if op.effect in (PURE, VIEW):
        assert repr((call.args, call.kwargs)) == before, f"{call.op} has changed an argument"
    if op.effect == PURE or (op.name in COPIES_ARRAYS and isinstance(call.args[0], np.ndarray)):
        for old, new in itertools.product(arrays_in([call.args, call.kwargs]), arrays_in(result)):
            assert not np.shares_memory(old, new), f"what {call.op} gives shares memory with an argument"
    return result


def check(line: str, values: dict[str, Any], precise: str = "") -> None:
    """Hold the op that a line of Python calls to what its declaration says."""
    inferred = {mode: parse(line, values).infer(abstract) for mode, abstract in MODES.items()}
    result = check_effect(parse(line, values))
    for mode, found in inferred.items():
        # each time anew, since to look at the items of an iterator takes them away
        assert holds(found, result), f"{line} gives {describe(result)}; its rule says {found}, if {mode}"
        if isinstance(result, Iterator):
            result = parse(line, values).run()
    if precise:
        precision = precisely(inferred["known"], result, dimensions=precise == "all")
        assert precision, f"{line} is {describe(result)}, not just {inferred['known']}"
