"""After `trim`, a traceback holds the user's frames only, however deep, and at linear cost.

The functions here are written as the library compiles them, guard included.
"""

import sys
import threading
import traceback

import pytest

import autograph.operators as ag__
from autograph.operators import tracebacks


def frames(error):
    """What a traceback shows: the functions, and the lines they were at."""
    return [(entry.name, entry.line) for entry in traceback.extract_tb(error.__traceback__)]


def caught(function, *args):
    try:
        function(*args)
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next  # not this frame
        return error
    raise AssertionError("nothing was raised")


def three_deep(rows, fail):
    try:

        def loop_body(row):
            def loop_test():
                return True

            def loop_body():
                def if_body():
                    fail(row)  # here

                ag__.if_stmt(row > 1, if_body, None)

            ag__.while_stmt(loop_test, loop_body)

        ag__.for_stmt(rows, loop_body)
    except:
        ag__.trim()
        raise


THREE_DEEP = [
    ("three_deep", "ag__.for_stmt(rows, loop_body)"),
    ("loop_body", "ag__.while_stmt(loop_test, loop_body)"),
    ("loop_body", "ag__.if_stmt(row > 1, if_body, None)"),
    ("if_body", "fail(row)  # here"),
]


def fail(value):
    raise KeyError(value)


def test_only_the_users_frames_are_left():
    error = caught(three_deep, [5], fail)
    assert frames(error) == [*THREE_DEEP, ("fail", "raise KeyError(value)")]
    assert error.__context__ is None


def test_other_functions_behind_are_left_alone():
    def outer(value):
        three_deep([value], fail)

    error = caught(three_deep, [5], outer)
    assert frames(error) == [
        *THREE_DEEP,
        ("outer", "three_deep([value], fail)"),
        *THREE_DEEP,
        ("fail", "raise KeyError(value)"),
    ]


def test_errors_of_operators_appear_at_the_users_line():
    def counts(n):
        try:
            ag__.for_stmt(n, print)
        except:
            ag__.trim()
            raise

    assert frames(caught(counts, 5)) == [("counts", "ag__.for_stmt(n, print)")]


@pytest.mark.parametrize(
    "operate",
    [
        lambda body: ag__.and_(lambda: 1, body),
        lambda body: ag__.compare(0, "<", lambda: 1, "<", lambda: 2, "<", body),
        lambda body: ag__.list_comp([1], body),
        lambda body: list(ag__.gen_exp([1], body, lambda x: x)),
        lambda body: ag__.sorted_([1], key=body),
        lambda body: ag__.assert_stmt(body),
        lambda body: ag__.if_exp(1, body, body),
    ],
)
def test_every_operator(operate):
    def guarded():
        def body(*_):
            1 / 0

        try:
            operate(body)
        except:
            ag__.trim()
            raise

    names = [name for name, _ in frames(caught(guarded))]
    assert [name for name in names if name != "<lambda>"] == ["guarded", "body"]


def test_raising_again_what_was_caught():
    def again():
        try:

            def if_body():
                try:
                    three_deep([5], fail)
                except KeyError as error:
                    raise error

            ag__.if_stmt(True, if_body, None)
        except:
            ag__.trim()
            raise

    names = [name for name, _ in frames(caught(again))]
    assert names == ["again", "if_body", "if_body", "three_deep", "loop_body", "loop_body", "if_body", "fail"]


def test_generators():
    def numbers(n):
        try:

            def if_body():
                1 / 0

            yield 1
            ag__.if_stmt(n, if_body, None)
        except:
            ag__.trim()
            raise

    def sums():
        try:
            ag__.for_stmt(numbers(5), int)
        except:
            ag__.trim()
            raise

    assert [name for name, _ in frames(caught(sums))] == ["sums", "numbers", "if_body"]
    generator = numbers(0)
    next(generator)
    generator.close()  # GeneratorExit passes the guard, too


def test_frames_without_a_guard_do_not_stop_it():
    """Lambdas, for instance, have none; nor has what is not converted."""

    def unconverted(n):
        if n:
            return unconverted(n - 1)
        return (lambda: ag__.if_exp(True, lambda: three_deep([5], fail), None))()

    def guarded():
        try:
            return unconverted(3)
        except:
            ag__.trim()
            raise

    names = [name for name, _ in frames(caught(guarded))]
    deep = [name for name, _ in THREE_DEEP]
    assert names == ["guarded", *["unconverted"] * 4, "<lambda>", "<lambda>", *deep, "fail"]


def test_full_tracebacks_on_demand(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_FULL_TRACEBACK", "1")
    names = [name for name, _ in frames(caught(three_deep, [5], fail))]
    assert names == [
        "three_deep", "for_stmt", "loop_body", "while_stmt", "loop_body", "if_stmt", "if_body", "fail",
    ]  # fmt: skip
    monkeypatch.setenv("AUTOGRAPH_FULL_TRACEBACK", "0")
    assert frames(caught(three_deep, [5], fail))[:4] == THREE_DEEP


def descend(n):
    try:

        def if_body():
            descend(n - 1)

        def else_body():
            raise KeyError("bottom")

        ag__.if_stmt(n > 0, if_body, else_body)
    except:
        ag__.trim()
        raise


def with_room(function, *args):
    """Call with a deep stack."""
    results = []
    limit, size = sys.getrecursionlimit(), threading.stack_size(512 * 1024 * 1024)
    thread = threading.Thread(target=lambda: results.append(function(*args)))
    try:
        sys.setrecursionlimit(100_000)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    return results[0]


def test_deep_recursion():
    depth = 5000
    names = [entry.name for entry in with_room(lambda: traceback.extract_tb(caught(descend, depth).__traceback__))]
    assert names == ["descend", "if_body"] * depth + ["descend", "else_body"]


def test_the_cost_is_linear(monkeypatch):
    def looked_at(depth):
        count = 0

        def counting(code):
            nonlocal count
            count += 1
            return is_library(code)

        is_library = tracebacks.is_library
        with monkeypatch.context() as patch:
            patch.setattr(tracebacks, "is_library", counting)
            with_room(caught, descend, depth)
        return count

    assert looked_at(2000) <= 2.1 * looked_at(1000)


@pytest.mark.parametrize("offset", range(6))
def test_running_out_of_stack(offset):
    """At its edge there is no room to trim; the frames there are unlinked by the guards further out."""

    def forever(n):
        try:

            def if_body():
                forever(n + 1)

            ag__.if_stmt(n >= 0, if_body, None)
        except:
            ag__.trim()
            raise

    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(300 + offset)
        error = caught(forever, 0)
    finally:
        sys.setrecursionlimit(limit)
    assert type(error) is RecursionError
    assert not tracebacks._is_trim_pending
    names = {name for name, _ in frames(error)}
    assert names == {"forever", "if_body"}


def test_no_exception_no_matter():
    ag__.trim()
