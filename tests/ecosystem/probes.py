"""Probes: programs as users of well-known packages write them, which must do the same plain and staged.

A probe is a plain function with the texts of its arguments. If its first parameter is `stage`, it decorates by that
what it hands to the package, and runs plainly itself; otherwise it is staged as a whole:

    PROBES = Probes()

    @PROBES("pd.DataFrame({'a': [1.0, 2.0]})")
    def total(stage, frame):
        return frame.apply(stage(lambda row: row["a"] + 1), axis=1)

    test_probe = PROBES.test()

`make ecosystem` installs the packages, and runs this folder in an environment of its own. Elsewhere, the tests of
packages that are not installed are skipped.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import autograph as ag
from autograph.errors import RetraceWarning
from tests.outcomes import _Description, no_addresses

ENGINES = ["numpy", "native", "auto"]
REQUIRED = os.environ.get("AUTOGRAPH_ECOSYSTEM") == "1"     # by `make ecosystem`: the packages must be there


def package(name: str) -> Any:
    """A package that the tests of a module need; without it they are skipped, or fail if it must be there."""
    return importlib.import_module(name) if REQUIRED else pytest.importorskip(name)


class Probes(list[tuple[Callable[..., Any], str]]):
    """The probes of one package."""

    def __call__(self, *arguments: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            self.extend((function, each) for each in arguments)
            return function

        return add

    def test(self, engines: list[str] = ENGINES) -> Callable[..., None]:
        """The test of them all."""

        names = [f"{function.__name__}-{number}" for number, (function, _) in enumerate(self)]

        @pytest.mark.parametrize("engine", engines)
        @pytest.mark.parametrize("function, arguments", self, ids=names)
        def test_probe(function: Callable[..., Any], arguments: str, engine: str) -> None:
            check(function, arguments, engine)

        return test_probe


def check(function: Callable[..., Any], arguments: str, engine: str) -> None:
    """Run a probe plain, staged, staged once more, and plain again; all must do the same."""
    stage = ag.function(engine=engine)
    if next(iter(inspect.signature(function).parameters), "") == "stage":
        plain, staged = (lambda *args: function(lambda f, **options: f, *args)), (lambda *args: function(stage, *args))
    else:
        plain, staged = function, stage(function)
    expected = outcome(plain, arguments, function)
    for again in "", "again, ":
        assert outcome(staged, arguments, function) == expected, f"{again}staged"
    assert outcome(plain, arguments, function) == expected, "plain, after what was staged"


def outcome(call: Callable[..., Any], arguments: str, function: Callable[..., Any]) -> dict[str, Any]:
    """What came of a call: what it returned or raised, printed and warned of, and what its arguments are now."""
    args = eval(f"({arguments},)" if arguments else "()", function.__globals__)
    describe, out, found = Describe(), io.StringIO(), {}
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", RetraceWarning)
        try:
            found["value"] = describe.of(call(*args))
        except Exception as error:
            found["raised"] = type(error).__name__, no_addresses(str(error))
    found["arguments"] = describe.of(args)
    found["printed"] = no_addresses(out.getvalue())
    found["warnings"] = [(each.category.__name__, str(each.message)) for each in caught]
    return found


class Describe(_Description):
    """Describes objects of these packages by what they hold."""

    def inside(self, value: Any) -> Iterator[Any]:
        module, name = type(value).__module__.partition(".")[0], type(value).__name__
        parts = _PARTS.get((module, name))
        if parts is None:
            yield from super().inside(value)
        else:
            yield [self.of(part) for part in parts(value)]


_PARTS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("pandas", "DataFrame"): lambda x: (x.to_dict("list"), x.index.tolist(), list(map(str, x.dtypes))),
    ("pandas", "Series"): lambda x: (x.tolist(), x.index.tolist(), str(x.dtype), x.name),
    ("pandas", "Index"): lambda x: (x.tolist(), str(x.dtype), x.name),
    ("pandas", "Timestamp"): lambda x: (x.isoformat(),),
    ("pandas", "Timedelta"): lambda x: (x.isoformat(),),
    ("polars", "DataFrame"): lambda x: (x.to_dict(as_series=False), str(x.schema)),
    ("polars", "Series"): lambda x: (x.to_list(), str(x.dtype), x.name),
    ("xarray", "DataArray"): lambda x: (x.to_dict(), str(x.dtype)),
    ("xarray", "Dataset"): lambda x: (x.to_dict(),),
    ("torch", "Tensor"): lambda x: (x.tolist(), str(x.dtype), x.requires_grad),
    ("torch", "Parameter"): lambda x: (x.tolist(), str(x.dtype), x.requires_grad),
}


def becomes_machine_code(function: Callable[..., Any], *args: Any) -> bool:
    """Whether calls of a function with the default options come to run loops in machine code, and do the same."""
    staged, wanted = ag.function(function), function(*args)
    for _ in range(500):
        assert staged(*args) == wanted
        report = staged.explain(*args)
        if report.summary.tier == 2:
            assert all(loop.tier or loop.reason for loop in report.loops)
            return True
    return False
