"""Law 5: all that is known of an op stands in one place, its declaration in `runtime/ops`."""

from __future__ import annotations

import ast
import builtins
import math
import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph
from autograph.runtime import ops as _ops  # noqa: F401  (declares)
from autograph.runtime.graph import opdef
from autograph.runtime.graph.opdef import FUNCTIONS, OPS, ORDERED, PURE, VIEW, WRITE, OpDef, declare
from autograph.runtime.graph.types import ANY

pytestmark = pytest.mark.once

PACKAGE = Path(str(autograph.__file__)).parent
EACH_OP = pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)


def test_an_op_cannot_be_declared_twice() -> None:
    with pytest.raises(ValueError, match="np.sin is declared twice"):
        declare("np.sin")


def test_ops_are_declared_nowhere_else() -> None:
    """`declare` is called below runtime/ops only."""
    for path in (PACKAGE / "runtime").rglob("*.py"):
        if "ops" not in path.parts and path.name != "opdef.py":
            called = {node.func.id for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                      if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}  # fmt: skip
            assert "declare" not in called, path


@EACH_OP
def test_a_declaration_is_whole(op: OpDef) -> None:
    assert OPS[op.name] is op
    assert op.effect in (PURE, VIEW, WRITE, ORDERED)
    assert callable(op.infer)
    assert not (op.template and op.target)
    if op.target is not None:
        assert callable(op.target)


@EACH_OP
def test_a_rule_does_not_judge(op: OpDef) -> None:
    """It gives a type for whatever it is given; that a call is wrong shows when it runs."""
    if op.target is not None or op.name.startswith("."):
        for args in [(), (ANY,), (ANY, ANY), (ANY,) * 5, (None, "text"), (ANY, slice(None), {"a": ANY})]:
            assert op.infer(*args) is not None


def resolve(name: str) -> Any:
    """What an op's name names in Python."""
    root, _, path = name.partition(".")
    value: Any = {"np": np, "math": math, "operator": operator}.get(root)
    if value is None:
        return getattr(builtins, root, None)
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


@EACH_OP
def test_functions_are_named_as_users_call_them(op: OpDef) -> None:
    if op.target is not None and op.name.startswith(("np.", "math.")):
        assert resolve(op.name) == op.target


def test_each_function_has_one_op() -> None:
    for function, name in FUNCTIONS.items():
        assert OPS[name].target == function


UFUNCS = sorted({value.__name__ for value in vars(np).values() if isinstance(value, np.ufunc)})


@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_is_declared(name: str) -> None:
    ufunc = getattr(np, name)
    assert ufunc in FUNCTIONS
    assert FUNCTIONS[ufunc].startswith("np.")


@pytest.mark.parametrize("name", ["no such op", "np.no_such_function"])
def test_unknown_ops_are_refused_but_unknown_methods_may_do_anything(name: str) -> None:
    with pytest.raises(KeyError, match="there is no op"):
        opdef.lookup(name)
    assert opdef.lookup(".no_such_method").effect == ORDERED
