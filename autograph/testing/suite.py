"""Runs the corpus against a backend, and compares with plain Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograph import api
from autograph.testing.corpus import Entry, arguments, entries
from autograph.testing.outcomes import Outcome, difference, outcome_of

Refusal = type[Exception] | tuple[type[Exception], str]
EQUAL, REFUSED, DIFFERENT, ACCEPTED = "equal", "refused", "different", "no longer refused"
_STATUSES = (EQUAL, REFUSED, DIFFERENT, ACCEPTED)


@dataclass(frozen=True)
class Call:
    """One call of a function.

    Attributes:
        arguments: their text.
        status: "equal", "refused" or "different".
        expected: the outcome of the plain function.
        actual: the outcome under the backend.
        reason: the difference, if there is one.
    """

    arguments: str
    status: str
    expected: Outcome
    actual: Outcome
    reason: str


@dataclass(frozen=True)
class Result:
    """A function's calls, plain and under the backend.

    Attributes:
        entry: the function.
        status: "equal" or "refused"; "different"; "no longer refused" if a refusal is declared, but all calls are
            equal.
        calls: its calls.
    """

    entry: Entry
    status: str
    calls: tuple[Call, ...]

    @property
    def passed(self) -> bool:
        """Whether the backend does what the plain function does, or refuses as declared."""
        return self.status in (EQUAL, REFUSED)

    def __str__(self) -> str:
        code = self.entry.function.__code__
        lines = [f"{self.entry.name}: {self.status} ({code.co_filename}:{code.co_firstlineno})"]
        for call in self.calls:
            lines.append(f"  ({call.arguments}) {call.status}")
            if call.status != EQUAL:
                lines += [f"    plain:   {call.expected}", f"    backend: {call.actual}"]
        return "\n".join(lines)


class BackendSuite:
    """A backend with the functions to try on it; see `backend_suite`.

    Attributes:
        entries: the functions, by name.
    """

    def __init__(
        self,
        run: Callable[..., Any],
        stage: Callable[[Any], Any],
        unstage: Callable[[Any], Any],
        differ: Callable[[Outcome, Outcome], str],
        refuses: Mapping[str, Refusal],
        only: Callable[[Entry], Any],
    ) -> None:
        self._run, self._stage, self._unstage, self._differ, self._refuses = run, stage, unstage, differ, dict(refuses)
        self.entries = {entry.name: entry for entry in entries() if only(entry)}
        if unknown := sorted(self._refuses.keys() - self.entries.keys()):
            raise ValueError(f"refuses= names {', '.join(unknown)}, which the suite does not run")

    def result(self, name: str) -> Result:
        """Run a function, plain and under the backend."""
        entry = self.entries[name]
        converted = api.convert(entry.function)
        calls = tuple(self._call(entry, converted, each) for each in entry.calls)
        statuses = {call.status for call in calls}
        if DIFFERENT in statuses:
            return Result(entry, DIFFERENT, calls)
        if name in self._refuses:
            return Result(entry, REFUSED if REFUSED in statuses else ACCEPTED, calls)
        return Result(entry, EQUAL, calls)

    def results(self) -> list[Result]:
        """Run all functions."""
        return list(map(self.result, self.entries))

    def check(self, name: str) -> None:
        """Run a function.

        Raises:
            AssertionError: the backend does something else than plain Python, or no longer refuses the function.
        """
        result = self.result(name)
        if not result.passed:
            raise AssertionError(str(result))

    @property
    def parametrize(self) -> Any:
        """A decorator for pytest: the test's parameter `name` is each function's name."""
        import pytest

        return pytest.mark.parametrize("name", list(self.entries))

    def _call(self, entry: Entry, converted: Callable[..., Any], text: str) -> Call:
        def under_backend() -> Any:
            result = self._run(converted, *map(self._stage, arguments(text)))
            return _map_leaves(self._unstage, result)

        expected, actual = outcome_of(entry.function, *arguments(text)), outcome_of(under_backend)
        if not (reason := self._differ(expected, actual)):
            return Call(text, EQUAL, expected, actual, "")
        is_refused = _matches(self._refuses.get(entry.name), actual.exception)
        return Call(text, REFUSED if is_refused else DIFFERENT, expected, actual, reason)


def _matches(refusal: Refusal | None, exception: Exception | None) -> bool:
    if refusal is None:
        return False
    kind, pattern = refusal if isinstance(refusal, tuple) else (refusal, "")
    return isinstance(exception, kind) and re.search(pattern, str(exception)) is not None


def _map_leaves(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply a function to what is in lists, tuples and dicts."""
    if type(value) in (list, tuple):
        return type(value)(_map_leaves(function, item) for item in value)
    if type(value) is dict:
        return {key: _map_leaves(function, item) for key, item in value.items()}
    return function(value)


def backend_suite(
    run: Callable[..., Any],
    *,
    stage: Callable[[Any], Any] = lambda value: value,
    unstage: Callable[[Any], Any] = lambda value: value,
    differ: Callable[[Outcome, Outcome], str] = difference,
    refuses: Mapping[str, Refusal] | None = None,
    only: Callable[[Entry], Any] = lambda entry: True,
) -> BackendSuite:
    """Return a suite of small functions to try on a backend.

    Args:
        run: `run(function, *arguments)` calls a function of `ag.convert` while the backend traces, with staged
            arguments.
        stage: makes a staged value of an argument, a number or NumPy array. By default, `run` gets the arguments as
            they are.
        unstage: undoes this for a result, or for each item of a list, tuple or dict that is one.
        differ: the difference between what the plain function and the backend did, or ""; `difference` by default.
        refuses: by function, the exception that the backend raises because it does not stage something, or a pair of
            the exception and a regular expression for its text.
        only: whether to try a function.

    Raises:
        ValueError: `refuses` names a function that is not tried.

    Example:
        >>> from autograph.testing import backend_suite
        >>> suite = backend_suite(lambda function, *arguments: ag.to_graph(function)(*arguments))
        >>> suite.result("jumps.first_above").status
        'equal'
    """
    return BackendSuite(run, stage, unstage, differ, refuses or {}, only)


def summary(results: list[Result]) -> str:
    """Return a table with the number of statuses for each construct, and below it the functions that did not pass."""
    counted = Counter((result.entry.construct, result.status) for result in results)
    total = Counter(result.status for result in results)
    lines = [f"{'construct':16}" + "".join(f"  {status}" for status in _STATUSES)]
    for construct in dict.fromkeys(result.entry.construct for result in results):
        lines.append(_row(construct, [counted[construct, status] for status in _STATUSES]))
    lines.append(_row("all", [total[status] for status in _STATUSES]))
    return "\n".join([*lines, *(f"\n{result}" for result in results if not result.passed)])


def _row(name: str, counts: list[int]) -> str:
    return f"{name:16}" + "".join(f"  {count:{len(status)}}" for count, status in zip(counts, _STATUSES))
