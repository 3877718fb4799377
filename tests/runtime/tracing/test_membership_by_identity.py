"""`in`, `index`, `count`, `remove` and `==` of containers ask first which object it is: of a NaN, say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag


class Unequal:
    """It equals nothing, not even itself."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False


class Refusing:
    def __eq__(self, other: object) -> bool:
        raise ValueError("not to be compared")

    def __hash__(self) -> int:
        return 1


NAN = float("nan")
ITEMS = [NAN, 1.0]


def is_in(x: Any, xs: Any) -> Any:
    return x in xs, x not in xs, x in ITEMS, NAN in xs, x in [x], x in (1.0, x)


def index(x: Any, xs: Any) -> Any:
    return list(xs).index(x)


def count(x: Any, xs: Any) -> Any:
    return list(xs).count(x), ITEMS.count(x), list(xs).count(NAN)


def removed(x: Any, xs: Any) -> Any:
    rest = list(xs)
    rest.remove(x)
    return len(rest)


def equal(x: Any, xs: Any) -> Any:
    return list(xs) == [x], [NAN] == [x], (x, 1) == (x, 1), [NAN] == list(xs)[:1]


def in_comprehensions(x: Any, xs: Any) -> Any:
    return [y is x for y in xs], any(y is NAN for y in xs), {i: y is x for i, y in enumerate(xs)}


def in_a_set(x: Any, xs: Any) -> Any:
    return len({x, NAN}), NAN in {x}, x in {x}


def in_a_dict(x: Any, xs: Any) -> Any:
    found = {0: x}
    return x in found.values(), found == {0: x}, found == {0: NAN}


FUNCTIONS = [is_in, index, count, removed, equal, in_comprehensions, in_a_set, in_a_dict]


def reported(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except (ValueError, TypeError) as error:
        return type(error), str(error)


@pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_python(function: Any, engine: Any) -> None:
    other, scalar = float("nan"), np.float64("nan")
    one, two, first, second = Unequal(), Unequal(), Refusing(), Refusing()
    staged = ag.function(function, engine=engine)
    pairs: list[tuple[Any, list[Any]]] = [(NAN, [NAN, 1.0]), (other, [NAN, 1.0]), (NAN, [other, 1.0])]
    pairs += [(1.0, [NAN, 1.0]), (NAN, [NAN, NAN]), (other, [NAN, other])]
    pairs += [(scalar, [scalar, 1.0]), (scalar, [np.float64("nan"), 1.0])]
    pairs += [(one, [one, two]), (two, [one]), (first, [first]), (second, [first])]
    for x, xs in pairs:
        assert reported(staged, x, xs) == reported(function, x, xs)
        assert reported(staged, x, tuple(xs)) == reported(function, x, tuple(xs))
