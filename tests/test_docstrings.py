"""What is public says what it takes and gives, and shows it: every example runs, and gives what it says."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import re
from types import ModuleType
from typing import Any

import click
import numpy as np
import pytest

import autograph as ag
from autograph import nn, optim, summary
from autograph.cli import COMMANDS, commands
from autograph.runtime.dispatch.function import Function

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("default_engine")]

MISSING = set() if importlib.util.find_spec("jax") else {"jax_jit"}
NAMES = {"np": np, "ag": ag, "nn": nn, "optim": optim}


def parameters(entity: Any) -> list[str]:
    """The names of what is passed."""
    return [name for name in inspect.signature(entity).parameters if name not in ("self", "cls")]


def public(module: ModuleType, prefix: str) -> dict[str, Any]:
    """The functions and classes that a module exports."""
    found = {f"{prefix}.{name}": getattr(module, name) for name in module.__all__ if name not in MISSING}
    return {name: each for name, each in found.items() if not isinstance(each, (ModuleType, str))}


ENTITIES = public(ag, "ag") | public(nn, "nn") | public(optim, "optim") | {"ag.importing.install": ag.importing.install}
if importlib.util.find_spec("tensorboard"):
    ENTITIES |= public(summary, "ag.summary")
CLASSES = ag.Module, ag.Variable, ag.TensorSpec, optim.Optimizer, Function, summary.Writer
METHODS = {
    f"{owner.__name__}.{name}": getattr(owner, name)
    for owner in CLASSES
    for name in vars(owner)
    if not name.startswith("_") and inspect.isroutine(getattr(owner, name))
}


@pytest.mark.parametrize("name", ENTITIES | METHODS)
def test_it_names_its_parameters(name: str) -> None:
    entity = (ENTITIES | METHODS)[name]
    text = inspect.getdoc(entity) or ""
    described = re.findall(r"^    ((?:`?[*]*\w+`?, )*`?[*]*\w+`?): ", text, re.MULTILINE)
    named = {each.strip("`*") for names in described for each in names.split(", ")}
    assert {*parameters(entity)} <= named


@pytest.mark.parametrize("name", ENTITIES)
def test_its_example_runs(name: str) -> None:
    entity = ENTITIES[name]
    text = inspect.getdoc(entity) or ""
    test = doctest.DocTestParser().get_doctest(text, dict(NAMES), name, None, 0)
    assert test.examples
    printed: list[str] = []
    doctest.DocTestRunner().run(test, out=printed.append)
    assert not printed, "".join(printed)


@pytest.mark.parametrize("name", [name for name, each in ENTITIES.items() if inspect.isroutine(each)])
def test_it_says_what_it_gives(name: str) -> None:
    text = inspect.getdoc(ENTITIES[name]) or ""
    assert "\nReturns:\n" in text or inspect.signature(ENTITIES[name]).return_annotation == "None"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_shows_examples(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)   # type: ignore[attr-defined]
    assert re.search(rf"Examples:\n  (?:.*\| )?(?:AUTOGRAPH_CACHE=0 )?autograph {name}", inspect.cleandoc(command.help))
