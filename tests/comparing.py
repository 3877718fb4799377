"""Plain and staged runs of one function compared, for tests of what is written in staged Python."""

from __future__ import annotations

import copy
import linecache
import traceback
from collections.abc import Callable, Collection, Mapping
from typing import Any

import autograph as ag
from tests import outcomes


def compare(
    function: Callable[..., Any], *calls: str, names: Mapping[str, Any] | None = None, plain: bool = False
) -> ag.function:
    """Compare a staged function with the plain one, at two runs of each call (a text of arguments).

    Args:
        plain: whether the function may run as plain Python instead.

    Returns:
        the staged function.
    """
    staged = ag.function(function)
    for arguments in (each for call in calls for each in (call, call)):
        wanted = outcomes.run(function, arguments, names)
        actual = outcomes.run(staged, arguments, names)
        assert actual == wanted, arguments
        assert actual.raised_at == wanted.raised_at, arguments
    if not plain:
        assert [trace.plain for trace in staged.traces if trace.plain] == []
    return staged


def result_or_error(function: Callable[..., Any], *args: Any, names: Collection[str]) -> Any:
    """What a function returns, or its error with the user's lines in the traceback: those of functions of `names`."""
    try:
        return function(*args)
    except Exception as error:
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.name in names]
        return type(error), str(error), [each.line for each in frames if not str(each.line).startswith("def")]


def of_expression(parameters: str, expression: str, names: dict[str, Any]) -> Callable[..., Any]:
    """A function that gives an expression, with source that can be found."""
    text = f"def f({parameters}):\n    return {expression}\n"
    filename = f"<expression {expression}>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    defined = dict(names)
    exec(compile(text, filename, "exec", dont_inherit=True), defined)
    return defined["f"]


def assert_same(staged: Any, *args: Any, names: Collection[str] = ()) -> None:
    """Assert that a staged function does what its plain form does, each with copies of the arguments.

    Args:
        names: of the functions that it calls, see `result_or_error`.
    """
    plain = staged.__wrapped__
    given, others = copy.deepcopy(args), copy.deepcopy(args)
    names = plain.__name__, *names
    wanted, found = result_or_error(plain, *given, names=names), result_or_error(staged, *others, names=names)
    assert repr((found, others)) == repr((wanted, given))
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple):
        assert list(map(type, found)) == list(map(type, wanted))
