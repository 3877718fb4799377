# ruff: noqa: F821 (here names are meant to be unbound)
"""Unbound locals raise what they raise in the function that the user wrote.

Each pair is a function and what it becomes, as written by the converters: both must fail alike.
"""

import gc
import sys

import pytest

import autograph.operators as ag__
from tests.recording import Staged, recorded


def in_a_branch():
    if True:
        print(x)
    x = 1


def in_a_branch_converted():
    def if_body():
        print(x)

    ag__.if_stmt(True, if_body, None)
    x = 1


def deleted_in_a_loop():
    for i in [1, 2]:
        if i:
            del x
    x = 1


def deleted_in_a_loop_converted():
    def loop_body(i):
        def if_body():
            nonlocal x
            del x

        ag__.if_stmt(i, if_body, None, ("x",))

    ag__.for_stmt([1, 2], loop_body, ("x",))
    x = 1


def in_a_test():
    while x < 1:
        x = 1


def in_a_test_converted():
    x: ag__.unbound

    def loop_test():
        return x < 1

    def loop_body():
        nonlocal x
        x = 1

    ag__.while_stmt(loop_test, loop_body, ("x",))


def in_a_loops_own_variable():
    for i in [1]:
        for j in [1]:
            y = y + i


def in_a_loops_own_variable_converted():
    def loop_body(i):
        y: ag__.unbound

        def loop_body(j):
            nonlocal y
            y = y + i

        ag__.for_stmt([1], loop_body, ("y",))

    ag__.for_stmt([1], loop_body)


def in_an_operand():
    return 1 < 2 < x and x
    x = 1


def in_an_operand_converted():
    return ag__.and_(lambda: ag__.compare(1, "<", lambda: 2, "<", lambda: x), lambda: x)
    x = 1


def in_a_longer_chain():
    return 1 < 2 < 3 < x
    x = 1


def in_a_longer_chain_converted():
    return ag__.compare(1, "<", lambda: 2, "<", lambda: 3, "<", lambda: x)
    x = 1


def in_an_assertion():
    assert x, "message"
    x = 1


def in_an_assertion_converted():
    ag__.assert_stmt(lambda: x, lambda: "message")
    x = 1


def in_a_message():
    assert 0, x
    x = 1


def in_a_message_converted():
    ag__.assert_stmt(lambda: 0, lambda: x)
    x = 1


def in_a_list():
    return [x + i for i in [1] if i]
    x = 1


def in_a_list_converted():
    return ag__.list_comp([1], lambda i: x + i, lambda i: i)
    x = 1


def in_a_dict():
    return {i: (i and x) for i in [1]}
    x = 1


def in_a_dict_converted():
    return ag__.dict_comp([1], lambda i: i, lambda i: ag__.and_(lambda: i, lambda: x))
    x = 1


def in_a_generator():
    return list(x + i for i in [1])
    x = 1


def in_a_generator_converted():
    return list(ag__.gen_exp([1], lambda i: x + i))
    x = 1


def inside_a_generator():
    return list(i and x for i in [1])
    x = 1


def inside_a_generator_converted():
    return list(ag__.gen_exp([1], lambda i: ag__.and_(lambda: i, lambda: x)))
    x = 1


def of_an_outer_function():
    def inner():
        if True:
            print(x)

    inner()
    x = 1


def of_an_outer_function_converted():
    def inner():
        def if_body():
            print(x)

        ag__.if_stmt(True, if_body, None)

    inner()
    x = 1


def of_an_outer_function_from_a_loop():
    def inner(i):
        if True:
            print(x)

    for i in [1]:
        inner(i)
    x = 1


def of_an_outer_function_from_a_loop_converted():
    def inner(i):
        def if_body():
            print(x)

        ag__.if_stmt(True, if_body, None)

    def loop_body(i):
        ag__.call(inner)(i)

    ag__.for_stmt([1], loop_body)
    x = 1


class Numbers:
    def __init__(self, following):
        self.following = following

    def __iter__(self):
        return self

    def __next__(self):
        return self.following()


def of_an_outer_function_from_an_iterator():
    def following():
        return x or 1

    for i in Numbers(following):
        pass
    x = 1


def of_an_outer_function_from_an_iterator_converted():
    def following():
        return ag__.or_(lambda: x, lambda: 1)

    def loop_body(i):
        pass

    ag__.for_stmt(Numbers(following), loop_body)
    x = 1


def of_nobody():
    if True:
        print(undefined)


def of_nobody_converted():
    def if_body():
        print(undefined)

    ag__.if_stmt(True, if_body, None)


def raised_by_hand():
    if True:
        raise NameError("free variable 'x'", name="x")
    x = 1


def raised_by_hand_converted():
    def if_body():
        if False:
            x
        raise NameError("free variable 'x'", name="x")

    ag__.if_stmt(True, if_body, None)
    x = 1


def while_handling_another():
    try:
        raise KeyError("first")
    except KeyError:
        if True:
            print(x)
    x = 1


def while_handling_another_converted():
    try:
        raise KeyError("first")
    except KeyError:

        def if_body():
            print(x)

        ag__.if_stmt(True, if_body, None)
    x = 1


def told(function):
    with pytest.raises(NameError) as caught:
        function()
    error = caught.value
    return type(error), error.args, error.name, repr(error.__context__), error.__cause__, error.__suppress_context__


PAIRS = [name for name in list(globals()) if name + "_converted" in globals()]


@pytest.mark.parametrize("name", PAIRS)
def test_both_fail_alike(name):
    assert told(globals()[name + "_converted"]) == told(globals()[name])


@pytest.mark.parametrize("name", PAIRS)
def test_also_with_a_backend_around(name):
    with recorded():
        assert told(globals()[name + "_converted"]) == told(globals()[name])


def test_the_pairs_cover_both_errors():
    kinds = [told(globals()[name])[0] for name in PAIRS]
    assert kinds.count(UnboundLocalError) >= 9
    assert kinds.count(NameError) >= 5


def test_while_a_backend_runs_the_bodies():
    def if_body():
        return x

    with recorded(), pytest.raises(UnboundLocalError, match="'x'"):
        ag__.if_stmt(Staged("c"), if_body, None)
    x = 1


def test_the_line_is_that_of_the_variable():
    with pytest.raises(UnboundLocalError) as caught:
        in_a_branch_converted()
    entry = caught.value.__traceback__
    while entry.tb_next:
        entry = entry.tb_next
    assert entry.tb_frame.f_code.co_name == "if_body"
    assert entry.tb_lineno == in_a_branch_converted.__code__.co_firstlineno + 2


def test_handlers_for_unbound_locals_catch_it():
    def if_body():
        print(x)

    try:
        ag__.if_stmt(True, if_body, None)
    except UnboundLocalError:
        x = "caught"
    assert x == "caught"


@pytest.mark.parametrize("name", ["in_a_branch_converted", "in_an_operand_converted", "inside_a_generator_converted"])
def test_nothing_is_left_in_a_cycle(name):
    gc.collect()
    gc.disable()
    try:
        try:
            globals()[name]()
        except NameError:
            pass
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert [garbage for garbage in gc.garbage if isinstance(garbage, NameError)] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="comprehensions were functions")
def test_comprehensions_are_no_scopes_since_3_12():
    assert told(in_a_list)[0] is UnboundLocalError
