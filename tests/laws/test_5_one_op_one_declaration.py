"""Law 5: all that is known of an op stands in one place, its declaration in `runtime/ops`."""

from __future__ import annotations

import ast
import builtins
import math
import operator
import sys
from collections.abc import Iterator
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
HELPERS = {"native", "inference"}   # folders in which no ops are declared
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


def test_every_family_of_ops_is_imported() -> None:
    families = [path for path in (PACKAGE / "runtime" / "ops").glob("*/*.py") if path.parent.name not in HELPERS]
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in families}
    assert {name for name in modules if not name.endswith("__init__")} <= set(sys.modules)


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


# Who names ops elsewhere ----------------------------------------------------------------------------------------------

# The constructs and structures of Python: whoever walks through a graph must know each, and may compare with it.
CONSTRUCTS = frozenset(
    """if while for call getitem setitem delitem getattr setattr delattr build unpack bound enter exit raise
    fstring""".split()
)
# Modules that write ops down, or read them.
WRITERS = frozenset("notation.py parser.py parsing.py printer.py graph_def.py".split())
# Tables of other things that are named as ops are, by the room.
OTHER_TABLES = {
    "backends": {"_OPERATIONS", "_ARITHMETIC", "_COMPARISONS"},     # primitives of JAX, and Python's special methods
    "runtime/dispatch": {"_BUILTINS"},      # functions of Python that a trace may hold
    "runtime/tracing": {"LAZY", "_INSPECTING", "_CALL_ITER", "_CALL_LEN", "_CALL_STR"},  # of users' objects
    "runtime/engines": {"_INTEGER", "_HOISTED", "_BITS", "_EXACT", "_RULES", "_HOW"},     # instructions of the emitter
    "compat": {"_BUILTINS", "_BINARY"},     # functions and special methods of Python, as TensorFlow has them
}
# The files that know graphs, but for those that declare ops.
FILES = [path for top in ("backends", "compat", "runtime", "transforms") for path in (PACKAGE / top).rglob("*.py")
         if PACKAGE / "runtime" / "ops" not in path.parents and path.name not in WRITERS]  # fmt: skip


def computing(names: list[str]) -> list[str]:
    """Those that are names of ops other than constructs."""
    return [name for name in names if name in OPS and name not in CONSTRUCTS]


def texts(node: ast.AST) -> list[str]:
    """The words in all strings of an expression."""
    constants = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return [word for value in constants if isinstance(value, str) for word in value.split()]


def compared(node: ast.Compare) -> list[str]:
    """The strings with which something is compared, or in which it is looked for."""
    sides = [part for side in (node.left, *node.comparators) for part in getattr(side, "elts", [side])]
    return [side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)]


def looked_up(node: ast.Subscript | ast.Call) -> list[str]:
    """The strings of a table in which an op is looked up: `{"add": "+"}[node.op]`, `{"add": "+"}.get(node.op)`."""
    table = node.value if isinstance(node, ast.Subscript) else getattr(node.func, "value", None)
    keys = [node.slice] if isinstance(node, ast.Subscript) else node.args
    return texts(table) if isinstance(table, ast.Dict) and any(map(is_op, keys)) else []


def is_op(node: ast.AST) -> bool:
    """`node.op`, `op`, `op.name`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "op" or (node.attr == "name" and is_op(node.value))
    return isinstance(node, ast.Name) and node.id == "op"


def is_table(value: ast.expr) -> bool:
    """Whether most of the strings in an expression name ops, and some of these compute."""
    words = texts(value)
    known = [word for word in words if word in OPS]
    if not computing(known) or all(isinstance(getattr(builtins, word, None), type) for word in known):
        return False
    return len(known) > 1 and len(known) >= 0.6 * len(words) or any(word.startswith(("np.", "math.")) for word in known)


def naming(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The lines of a module that compare with names of ops, or have a table of them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and any(map(is_op, (node.left, *node.comparators))):
            if computing(compared(node)):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Subscript | ast.Call) and computing(looked_up(node)):
            yield node.lineno, ast.unparse(node)
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value and is_table(statement.value):
            target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
            yield statement.lineno, ast.unparse(target)


def room_of(path: Path) -> str:
    """The part of the package that a file belongs to: `runtime/passes`, `backends`."""
    folders = path.relative_to(PACKAGE).parts[:-1]
    return "/".join(folders[: 2 if folders[0] == "runtime" else 1])


@pytest.mark.parametrize("room", sorted({room_of(path) for path in FILES}))
def test_no_other_room_names_ops(room: str) -> None:
    """What somebody wants to know of an op is a trait or relation, declared with it, and asked for."""
    found = []
    for path in FILES:
        if room_of(path) == room:
            named = naming(ast.parse(path.read_text(encoding="utf-8")))
            found += [f"{path}:{line} {text}" for line, text in named if text not in OTHER_TABLES.get(room, ())]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("if node.op == 'add': pass", True),
        ("if made.node.op not in ('np.split', 'getitem'): pass", True),
        ("if op.name in {'sum', *others}: pass", True),
        ("sign = {'add': '+', 'sub': '-'}.get(node.op, '?')", True),
        ("sign = {'add': '+', 'sub': '-'}[node.op]", True),
        ("_TABLE = frozenset({'add', 'sub'})", True),
        ("_TABLE = 'np.zeros np.ones'.split()", True),
        ("_RULES: dict = {'np.sum': rule}", True),
        ("if node.op == 'if' or node.op in ('getitem', 'unpack'): pass", False),        # constructs
        ("_CLASSES = ('list', 'tuple', 'dict')", False),
        ("_WORDS = ['add', 'the', 'things', 'up']", False),
        ("if node.op in COMMUTATIVE: pass", False),
        ("if node.args[1] == 'abs': pass", False),
    ],
)  # fmt: skip
def test_what_names_ops_is_seen(line: str, seen: bool) -> None:
    assert bool([*naming(ast.parse(line))]) == seen
