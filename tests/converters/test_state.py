"""The names handed to an operator are all that a backend must carry: what it forgets beyond them is never missed."""

from __future__ import annotations

import dis
import functools
import re
import types
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings

from autograph import operators
from autograph.operators.state import UNBOUND, State
from autograph.syntax import loader
from tests.converters import conversion
from tests.converters.test_goldens import convert, outcome, program
from tests.goldens import Golden
from tests.strategies import PRELUDE, programs


def assigned(code: types.CodeType) -> set[str]:
    """The variables from outside that a function, or one inside it, binds or deletes."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
    inner = (assigned(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return names.union(*inner) & set(code.co_freevars)


def forget(names: tuple[str, ...], *bodies: Any) -> None:
    """Unbind every variable that the bodies assign and that `names` does not carry."""
    functions = [body for body in bodies if isinstance(body, types.FunctionType)]
    changed = set().union(*(assigned(function.__code__) for function in functions))
    for variable in State(names, *functions).passing:
        if variable.name in changed:
            variable.set(UNBOUND)


def if_stmt(
    test: Any, body: Any, orelse: Any = None, names: tuple[str, ...] = (), drops: bool = False
) -> Any:
    result = operators.if_stmt(test, body, orelse, names, drops)
    forget(names, body, orelse)
    return result


def while_stmt(test: Any, body: Any, names: tuple[str, ...] = (), until: Any = None, options: Any = None) -> None:
    operators.while_stmt(test, forgetting(names, body, test, until), names, until, options)
    forget(names, test, body, until)


def for_stmt(iterable: Any, body: Any, names: tuple[str, ...] = (), until: Any = None, options: Any = None) -> None:
    operators.for_stmt(iterable, forgetting(names, body, until), names, until, options)
    forget(names, body, until)


def forgetting(names: tuple[str, ...], body: Any, *others: Any) -> Callable[..., Any]:
    """`body`, after each iteration of which everything is forgotten that no other iteration needs."""

    @functools.wraps(body)
    def iteration(*item: Any) -> None:
        body(*item)
        forget(names, body, *others)

    return iteration


FORGETFUL = types.SimpleNamespace(**vars(operators))
FORGETFUL.if_stmt, FORGETFUL.while_stmt, FORGETFUL.for_stmt = if_stmt, while_stmt, for_stmt


def loaded(text: str) -> types.CodeType:
    """A program as it is loaded: with the functions of a loop made once (see syntax/hoist.py)."""
    converted = conversion.convert(text)
    return loader.load_module(converted.tree, "golden.py", converted.generated, FORGETFUL)


def told(text: str) -> str:
    """An outcome, whatever kind of NameError it is: bodies that are wrapped raise the one for free variables."""
    return re.sub(r"(NameError|UnboundLocalError): [^'\n]*('\w+')[^'\n]*", r"NameError: \2", text)


@pytest.mark.parametrize("form", [convert, loaded])
def test_goldens(golden: Golden, form: Any) -> None:
    text = program(golden)
    for example in re.findall(r"^# >>> (.*)$", golden.source, re.MULTILINE):
        assert told(outcome(form(text), example, FORGETFUL)) == told(outcome(text, example)), example


@pytest.mark.once
@given(programs())
@settings(max_examples=60, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_drawn_programs(text: str) -> None:
    note(text.removeprefix(PRELUDE))
    wanted = told(outcome(text, EXAMPLE))
    assert told(outcome(convert(text), EXAMPLE, FORGETFUL)) == wanted
    assert told(outcome(loaded(text), EXAMPLE, FORGETFUL)) == wanted


EXAMPLE = "main(2, 0, [3, 1], {1: 2}), main(1, 3, [0, 2, 5], {}), g"
