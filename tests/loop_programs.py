"""Runs drawn programs by a `LoopRunner`, which must do what plain Python does; and hides them in a `try`."""

from __future__ import annotations

import ast
import itertools
import linecache
from typing import Any

import numpy as np

import autograph.transforms.staging  # noqa: F401  (gives loops their tracer)
from autograph.transforms.loop_runner import LoopRunner
from tests import outcomes
from tests.drawing import indented
from tests.native_strategies import Zones

NUMBERS = itertools.count()
ZONES = Zones()


def sheltered(text: str) -> str:
    """A program whose `main` has a `try` around all of it; the handler returns all its variables as they are then."""
    lines = text.splitlines()
    main = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "main")
    first, last = main.body[0].lineno - 1, main.end_lineno
    handler = ["except Exception as problem_:", "    seen_ = [type(problem_).__name__]"]
    for name in _variables(main):
        handler += ["    try:", f"        seen_.append({name})", "    except NameError:", "        seen_.append(None)"]
    body = ["try:", *(line and f"    {line[4:]}" for line in lines[first:last]), *handler, "    return seen_"]
    return "\n".join([*lines[:first], *indented(body), *lines[last:]])


def compare(text: str, calls: list[str], engine: str, first: int) -> list[Any]:
    """Run a program plain and with its loops staged on their own; gives what became of the loops.

    Args:
        first: after how many iterations loops are staged.
    """
    filename = f"<drawn {next(NUMBERS)}>"
    plain, names = outcomes.execute(text, filename), outcomes.execute(text, filename)
    runner = LoopRunner(names["main"], {"engine": engine}, 0, first)
    for call in [call for call in calls for _ in range(2)]:
        wanted = _outcome(plain, plain["main"], call)
        actual = _outcome(names, runner.function, call)
        assert actual == wanted, f"main({call})"
        assert _places(actual[0]) == _places(wanted[0]), f"main({call})"
    del linecache.cache[filename]
    return runner.loops


def _places(done: outcomes.Outcome) -> list[tuple[str, int, str]]:
    """Where it raised; without entries of comprehensions, which converted code does not have."""
    return [place for place in done.places if place[2] != "warning" and not place[2].startswith("<")]


def _outcome(names: dict[str, Any], function: Any, call: str) -> tuple[outcomes.Outcome, Any]:
    """What a call does, and what it leaves in the module and in NumPy's random state."""
    np.random.seed(0)
    names["g"] = 0
    if "Tank" in names:
        names["Tank"].level = 60
    done = outcomes.run(function, call, {"np": np, **ZONES.names, **names})
    ZONES.check()
    done.warnings = list(dict.fromkeys(done.warnings))      # the same computation, made twice, warns once
    return done, (names["g"] if isinstance(names.get("g"), int) else None, np.random.rand())


def _variables(main: ast.FunctionDef) -> list[str]:
    nodes = list(ast.walk(main))
    declared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return sorted({*stored, *(parameter.arg for parameter in main.args.args)} - declared)
