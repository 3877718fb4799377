"""The parts of a trace find each other in its `TraceContext`: no code assigns to them after they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import autograph

PACKAGE = Path(autograph.__file__).parent
ROOMS = ["runtime/tracing", "runtime/autodiff", "backends", "transforms", "compat"]
# what a trace consists of, by the names that it goes by
PARTS = {"context", "trace", "current", "_trace", "_ag_trace"}
MAKERS = {"runtime/tracing/state/trace.py": "Trace", "runtime/tracing/trace_function.py": "FunctionContext"}


def parts() -> set[str]:
    """The names by which a trace and its context have objects, rather than numbers and containers."""
    found = set(PARTS)
    for path, name in MAKERS.items():
        for each in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
            if isinstance(each, ast.ClassDef) and each.name == name:
                found |= {target.attr for target, value in assignments(each) if isinstance(value, ast.Call)}
    return found


def assignments(tree: ast.AST) -> Iterator[tuple[ast.Attribute, ast.expr | None]]:
    """The attributes that are assigned or deleted in some code, and what they become."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets, value):
                pass
            case ast.AugAssign(target, _, value) | ast.AnnAssign(target, _, value):
                targets = [target]
            case ast.Delete(targets) | ast.For(ast.Tuple(targets)):
                value = None
            case ast.With(items):
                targets, value = [item.optional_vars for item in items], None
            case _:
                continue
        for target in targets:
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(each, ast.Attribute):
                    yield each, value


def from_outside(text: str, names: set[str]) -> list[str]:
    """The assignments to attributes of a trace's parts that are not in the methods of these parts."""
    targets = [target for target, _ in assignments(ast.parse(text))]
    owners = [(ast.unparse(each), ast.unparse(each.value).rpartition(".")[2]) for each in targets]
    return [written for written, owner in owners if owner in names]


def test_nothing_is_assigned_to_the_parts_of_a_trace_after_they_are_made():
    names = parts()
    assert {"undo_log", "environment", "materializer", "tuples"} <= names
    paths = [path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")]
    found = {path: from_outside(path.read_text(encoding="utf-8"), names) for path in paths}
    assert {path: written for path, written in found.items() if written} == {}


@pytest.mark.parametrize(
    "text",
    [
        "trace.call = caller.replacement",
        "self.trace.undo_log.refuse = self._refuse",
        "before, trace.loosened = trace.loosened, False",
        "self.trace.recorded += 1",
        "for trace.block, node in pairs: pass",
        "with opened() as context.late: pass",
        "del trace.context",
    ],
)
def test_such_an_assignment_is_found(text):
    assert from_outside(text, parts())


@pytest.mark.parametrize("text", ["self.late = late", "node.place = trace.place()", "trace.tests.append(test)"])
def test_others_are_not(text):
    assert from_outside(text, parts()) == []
