"""`State` reads and writes the user's variables through cells and globals, and can put everything back."""

import pytest

from autograph.operators.state import UNBOUND, State

counter = 0


def shop():
    apples, pears = 1, 2
    plums: int

    def body():
        nonlocal apples, plums
        apples = plums = 0
        return pears

    return body, lambda: (apples, pears, plums)


def test_carried_variables_by_name():
    body, look = shop()
    state = State(("plums", "apples"), body)
    assert state.names == ("plums", "apples")
    assert state.get() == (UNBOUND, 1)
    state.set((7, 8))
    assert look() == (8, 2, 7)


def test_an_empty_cell_is_an_unbound_variable():
    body, look = shop()
    state = State(("apples", "plums"), body)
    state.set((UNBOUND, UNBOUND))
    assert state.get() == (UNBOUND, UNBOUND)
    with pytest.raises(NameError, match="apples"):
        look()


def test_restoring_reaches_variables_that_are_not_carried():
    body, look = shop()
    state = State(("apples",), body)
    before = state.snapshot()
    body()
    assert look() == (0, 2, 0)
    assert [variable.name for variable in state.changed(before)] == ["apples", "plums"]
    state.restore(before)
    assert state.get() == (1,)
    assert [variable.name for variable in state.passing] == ["pears", "plums"]
    assert state.changed(before) == ()


def test_several_bodies_share_their_variables():
    x, y = 1, 2

    def body():
        return x, y

    def orelse():
        return y

    state = State((), body, None, orelse)
    assert [variable.name for variable in state.passing] == ["x", "y"]


def test_globals():
    def body():
        global counter
        counter += 1

    state = State(("counter",), body)
    before = state.snapshot()
    body()
    assert state.get() == (1,)
    state.set((UNBOUND,))
    assert "counter" not in globals()
    state.set((UNBOUND,))
    state.restore(before)
    assert counter == 0


def test_variables_beyond_inner_functions():
    count = 0

    def increment():
        nonlocal count
        count += 1

    def twice():
        increment()
        increment()

    def body():
        twice()

    state = State((), body)
    assert [variable.name for variable in state.beyond] == ["increment", "count"]
    before = state.snapshot()
    body()
    assert [repr(variable) for variable in state.changed(before)] == ["<variable count: 2>"]
    state.restore(before)
    assert count == 0


def test_equal_cells_are_told_apart():
    def variable(value):
        return lambda: value

    one, other = variable(1), variable(1)

    def body():
        one(), other()

    assert len(State((), body).beyond) == 2


def test_bodies_that_are_not_functions():
    state = State((), print, None)
    assert state.names == state.get() == state.passing == ()
