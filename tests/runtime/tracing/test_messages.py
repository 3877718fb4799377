"""Messages about code that cannot be staged: the user's expression, variable, line, and a remedy."""

from __future__ import annotations

import functools
import gc
import linecache
import re
import threading
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import AutographError, StagingError
from autograph.runtime.graph.graph import Graph, Node
from autograph.runtime.graph.types import FLOAT
from autograph.runtime.tracing import trace_function
from autograph.runtime.tracing.proxies.graph_break import leaked
from tests import outcomes


def error_of(function: Callable[..., Any], *args: Any, **options: Any) -> str:
    """The message of an error of this library, without the name of this file and the number of the line."""
    with pytest.raises(AutographError) as caught:
        ag.function(function, **options)(*args)
    assert caught.value.filename == __file__
    first = function.__code__.co_firstlineno
    lines = caught.value.lineno - first if caught.value.lineno else None
    return f"+{lines}: {caught.value.message}"


def plain_because(function: Callable[..., Any], *args: Any) -> str:
    """Why a function runs as plain Python; that it gives the same then is checked, too."""
    staged = ag.function(function)
    wanted, found = function(*args), staged(*args)
    assert repr(found) == repr(wanted)
    return staged.traces[-1].plain.replace(f", {__file__}:", ", :")


ENDING = (
    ". Use operators, NumPy's functions, or statements of code that is converted; or put what needs the value into a "
    "function of its own, decorated with @ag.do_not_convert, which is called when the graph runs"
)


def zeroes(x):
    return bytes(x[0] + 1)


def test_a_value_that_python_needs_is_named_as_the_user_wrote_it() -> None:
    line = zeroes.__code__.co_firstlineno + 1
    reason = f"the value of `x[0] + 1` is needed as an index, a length or a count, :{line}"
    assert plain_because(zeroes, np.ones(2, int)) == reason
    with pytest.raises(AutographError, match=r"strict about 'plain'.*the value of `x\[0\] \+ 1` is needed"):
        ag.function(zeroes, strict="plain")(np.ones(2, int))


def unrolled(x):
    while x[0] < 3:
        ag.set_loop_options(unroll=True)
        x[0] += 1


def test_a_value_that_is_needed_to_do_what_the_user_asks_for() -> None:
    assert error_of(unrolled, np.ones(2, int)) == (
        "+1: the value of `x[0] < 3` is needed to unroll this loop, but it is known only when the graph runs, being "
        "computed from `x`" + ENDING
    )


def zeroes_beside_a_list(x, xs):
    if x[0] > 0:
        xs.append(x[0])
    return bytes(x[0] + 1), xs


def test_the_line_at_which_a_list_could_be_neither_flattened_nor_one_object_is_reported() -> None:
    line = zeroes_beside_a_list.__code__.co_firstlineno + 3
    reported = plain_because(zeroes_beside_a_list, np.ones(2, int), [1])
    assert reported == f"the value of `x[0] + 1` is needed as an index, a length or a count, :{line}"


def keyed(x):
    return {x[0]: "first", x[1] + 1: "second"}


def test_keys_and_elements_of_sets_are_pythons() -> None:
    line = keyed.__code__.co_firstlineno + 1
    assert plain_because(keyed, np.ones(2)) == f"the value of `x[0]` is needed as a key or an element of a set, :{line}"


def test_the_way_out_is_one() -> None:
    @ag.do_not_convert
    def look(v):
        return hash(v)

    @ag.function
    def f(x):
        return look(x[0] + 1)

    assert f(np.ones(2)) == hash(2.0)


class Account:
    def __init__(self, owner):
        self.owner = owner

    def __setattr__(self, name, value):
        super().__setattr__(name, value)


class SharedAccount(Account):
    pass


def objects_on_two_paths(x):
    if x[0] > 0:
        account = Account("one")
    else:
        account = SharedAccount("two")
    return account.owner


def test_objects_on_two_paths_run_as_plain_python() -> None:
    line = objects_on_two_paths.__code__.co_firstlineno
    assert plain_because(objects_on_two_paths, np.ones(2)) == (
        f"`account` is an object of class Account on one path (line {line + 2}) and an object of class SharedAccount "
        f"on the other (line {line + 4}), and the path is known only when the graph runs, :{line + 1}"
    )
    with pytest.raises(AutographError, match="strict about 'plain'.*`account` is an object of class Account"):
        ag.function(objects_on_two_paths, strict="plain")(np.ones(2))


@pytest.mark.parametrize("choose", [lambda x: np.sin if x > 0 else np.cos, lambda x: abs if x > 0 else round])
def test_functions_on_two_paths_are_staged(choose: Callable[..., Any]) -> None:
    def f(x):
        g = choose(x)
        return g(x)

    staged = ag.function(f, strict="plain")
    assert [staged(v) for v in (0.75, -0.75)] == [f(v) for v in (0.75, -0.75)]
    assert len(staged.traces) == 1


def test_an_interruption_is_none_of_the_users_errors() -> None:
    """C code replaces every exception by a ValueError."""

    def f(x):
        return np.fromiter((v * 2 for v in x), float)

    assert ag.function(f)(np.ones(2)).tolist() == [2, 2]


def test_iterators_that_are_returned_are_made_at_each_call() -> None:
    @ag.function
    def f(x, kind):
        if kind == "map":
            return map(lambda i: i * x, [1, 2])
        if kind == "partial":
            return functools.partial(np.add, x)
        return iter([x, x + 1])

    for x in (np.arange(2), np.arange(2) + 5, np.arange(2)):
        assert repr(list(f(x, "iter"))) == repr([x, x + 1])
        assert repr(list(f(x, "map"))) == repr([x, 2 * x])
        assert repr(f(x, "partial")(1)) == repr(x + 1)
    assert [trace.plain for trace in f.traces] == ["", "", ""]


def test_a_generator_that_is_returned_is_made_at_each_call() -> None:
    @ag.function
    def f(x):
        return (i * x for i in [1, 2])

    for x in (np.arange(2), np.arange(2) + 5):
        assert repr(list(f(x))) == repr([x, 2 * x])
    rest = "that is made here is returned, kept or handed to code that is not staged: make a list of it"
    assert f.traces[0].plain.partition(", /")[0] == f"an iterator (of class generator) {rest}"


def test_a_value_of_a_call_that_is_over() -> None:
    """Users have no known way to such a value; if they find one, the error says so."""
    code = test_a_value_of_a_call_that_is_over.__code__
    graph = Graph("f")
    graph.block.nodes.append(node := Node("neg", (graph.block.add_param(FLOAT, "x"),), None, (), ((code, 0),)))
    error = leaked(node.add_output(FLOAT), ((code, 0),))
    assert (error.filename, error.lineno) == (__file__, next(code.co_lines())[2])
    assert error.message == (
        f"`-x`, a staged value of a call that is over, computed at {__file__}:{error.lineno}, is used here. It was "
        "kept by code that is not converted, such as a thread. Return it from the staged function instead, write it "
        "into an ag.Variable, or mark what keeps it with @ag.do_not_convert"
    )


def test_a_value_that_another_thread_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shared:
        x = 0.0

    def f(shared, x):
        shared.x = x * 2
        return shared.x

    def use() -> None:
        try:
            shared.x + 1
        except StagingError as error:
            met.append(error)

    def restore(tracer: trace_function.Tracer) -> None:
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        before(tracer)

    shared, met, before = Shared(), list[StagingError](), trace_function.Tracer._restore
    monkeypatch.setattr(trace_function.Tracer, "_restore", restore)
    ag.function(f)(shared, 1.5)
    assert shared.x + 1 == 4.0
    assert [error.lineno for error in met] == [use.__code__.co_firstlineno + 2]
    assert met[0].message == (
        f"`x * 2`, a staged value of f, computed at {__file__}:{f.__code__.co_firstlineno + 1}, which another thread "
        "is tracing, is used here: f changes an object that this thread uses as well. Call f once before the threads "
        "start, which traces it, or let both hold a lock while they use the object"
    )


def test_what_c_code_makes_of_an_interruption() -> None:
    def f(x):
        return zlib.compress(memoryview(b"abc")[x[0] :])

    line = f.__code__.co_firstlineno + 1
    reported = plain_because(f, np.array([7, 8]))
    assert reported == f"the value of `x[0]` is needed as an index, a length or a count, :{line}"


# Why code runs as plain Python ----------------------------------------------------------------------------------------


class Place:
    def __init__(self, number):
        self.number = number

    def __setattr__(self, name, value):
        super().__setattr__(name, value)

    def __index__(self):
        return int(self.number)


def index_of_its_own(x):
    return ["a", "b"][Place(x[0])]


def changed_after_it_was_stored(x):
    place, rows = Place(x[0]), []
    if x[0] > 0:
        rows.append(place)
    place.number = x[1]
    return rows[0].number


def takes_apart(x):
    positive = [each for each in x if each > 0]
    match positive:
        case [first, *_]:
            return first


many = "".join(f"    row{n} = []\n" for n in range(101)), "".join(f"        row{n}.append(x)\n" for n in range(101))
TEXT = f"def many_lists(x):\n{many[0]}    if x[0] > 0:\n{many[1]}    return row0, row100\n"


def many_lists() -> Callable[..., Any]:
    names: dict[str, Any] = {"__name__": "many"}
    exec(compile(TEXT, "<many>", "exec"), names)
    return names["many_lists"]


REASONS = [
    (index_of_its_own, "the value of `int(x[0])` is needed as the result of __index__, :+1"),
    (
        changed_after_it_was_stored,
        "an object of class Place is changed after it was stored in a list or handed to code that is not staged, :+4",
    ),
    (takes_apart, "the value of `positive` is needed to know what it is, by code that is not staged, :+2"),
]


@pytest.mark.parametrize("function, reason", REASONS, ids=lambda each: getattr(each, "__name__", ""))
def test_reasons(function: Callable[..., Any], reason: str) -> None:
    first = function.__code__.co_firstlineno
    wanted = re.sub(r":\+(\d+)", lambda found: f":{first + int(found[1])}", reason)
    assert plain_because(function, np.ones(2)) == wanted


def test_many_lists_may_change_in_a_branch() -> None:
    linecache.cache["<many>"] = len(TEXT), None, TEXT.splitlines(True), "<many>"
    assert plain_because(many_lists(), np.ones(2)) == ""


COUNT = 0


def counts(x):
    global COUNT
    COUNT += 1
    return x * COUNT


def test_what_changes_again_and_again(monkeypatch: Any) -> None:
    monkeypatch.setattr(trace_function, "_RESTARTS", 1)
    line = counts.__code__.co_firstlineno
    reason = f"too much of what it reads from its module, from variables around it or from objects changes, {__file__}"
    staged = ag.function(counts)
    assert [staged(2), staged(2), COUNT] == [2, 4, 2]
    assert [trace.plain for trace in staged.traces] == [f"{reason}:{line}"]


class Sought:
    """An object to look for among all objects."""


def returned(things):
    item = things[0]
    return item


def left_plain(things):
    item = things[0]
    ring = [item]
    ring.append(ring)
    return id(ring) > 0


def needs_the_item(things):
    item = things[0]
    ring = [item]
    ring.append(ring)
    return hash(item)


def raises_the_item(things):
    item = things[0]
    if len(things) > 3:
        raise ValueError(item)


@pytest.mark.parametrize("function", [returned, left_plain, needs_the_item, raises_the_item])
def test_a_proxy_of_a_trace_that_is_over_may_be_met_among_all_objects(function):
    gc.disable()
    try:
        outcomes.run(ag.function(function), "[1.5, 'a'] * 20", {})
        assert [each for each in gc.get_objects() if isinstance(each, Sought)] == []
    finally:
        gc.enable()
