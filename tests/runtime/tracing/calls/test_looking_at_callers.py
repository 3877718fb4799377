"""Functions that look at the frame of their caller, under any name: the same answer, by running as plain Python."""

import builtins
import functools
import inspect
import io
import logging
import sys
import traceback
import warnings

import numpy as np
import pytest

import autograph as ag
from autograph.errors import StrictError


def by_another_name(x):
    look = locals
    y = x + 1
    return look()


def of_any_name(x):
    look = getattr(builtins, "vars")
    y = x + 1
    return look()


def names(x):
    look = dir
    y = x + 1
    return look()


def evaluated(x):
    compute = eval
    y = x + 1
    return compute("y + x")


def executed(x):
    run, found = exec, []
    y = x + 1
    run("found.append(y)")
    return found


def in_a_loop(x):
    compute, total = eval, 0
    for i in range(3):
        total += compute("x")
    return total


def by_a_default(x, look=locals):
    y = x + 1
    return {**look(), "look": None}


def by_a_partial(x):
    y = x + 1
    return functools.partial(locals)()


def out_of_a_dict(x, table={"look": locals}):
    y = x + 1
    return {**table["look"](), "table": None}


def in_a_helper(x):
    return by_another_name(x), evaluated(x + 1)


def mapped(x):
    return list(map(eval, ["1 + 1", "2"]))


def the_frame(x):
    frame = sys._getframe
    return sorted(frame().f_locals), frame().f_code.co_name


def the_current_frame(x):
    frame = inspect.currentframe
    return frame().f_code.co_name, frame().f_locals["x"]


def the_stack(x):
    stack = inspect.stack
    return stack()[0].function


def of_an_object(x):
    look, box = vars, Box()
    box.content = x
    return look(box)


def with_names_given(x):
    compute = eval
    return compute("x + y", {"x": x}, {"y": 2})


class Box:
    pass


FUNCTIONS = [
    by_another_name,
    of_any_name,
    names,
    evaluated,
    executed,
    in_a_loop,
    by_a_default,
    by_a_partial,
    out_of_a_dict,
    in_a_helper,
    mapped,
    the_frame,
    the_current_frame,
    the_stack,
    of_an_object,
    with_names_given,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", [3, np.float64(2.5)])
def test_within_a_staged_function(function, x):
    staged = ag.function(function)
    assert [staged(x), staged(x)] == [function(x)] * 2


def test_as_an_argument():
    def called(look, x):
        y = x + 1
        return {**look(), "look": None}

    staged = ag.function(called)
    assert [staged(locals, 1), staged(locals, 2)] == [called(locals, 1), called(locals, 2)]


def test_staged_themselves():
    width, height = 5, 7
    assert ag.function(locals)()["width"] == width
    assert {"width", "height"} <= {*ag.function(dir)()} & ag.function(vars)().keys()
    assert ag.function(eval)("width + height") == 12
    assert ag.function(globals)() is globals()
    assert ag.function(sys._getframe)() is sys._getframe()
    assert ag.function(inspect.currentframe)() is sys._getframe()
    assert ag.function(vars)(np) is vars(np)
    assert ag.function(dir)(np) == dir(np)
    with pytest.raises(TypeError, match=r"eval.* at least 1"):
        ag.function(eval)()
    for engine in ("numpy", "native"):
        assert ag.function(np.add.reduce, engine=engine)([1, 2, 3]) == 6


def test_the_reason_is_reported():
    staged = ag.function(by_another_name)
    (event,) = staged.explain(1).where(kind="plain")
    assert "locals inspects its caller" in event.message


def level(x):
    warnings.warn("old", DeprecationWarning, stacklevel=2)
    return x


def level_by_position(x):
    warnings.warn("old", DeprecationWarning, 2)
    return x


def frame(x):
    return sys._getframe(1).f_code.co_name, sys._getframe(1).f_lineno, x


def current_frame(x):
    return inspect.currentframe().f_back.f_code.co_name, x


def stack(x):
    return inspect.stack()[1].function, traceback.extract_stack()[-2].lineno, x


def logged(x):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(filename)s %(funcName)s %(lineno)d"))
    logger = logging.Logger("looking")
    logger.addHandler(handler)
    logger.warning("old", stacklevel=2)
    return stream.getvalue(), x


@pytest.mark.parametrize("function", [level, level_by_position, frame, current_frame, stack, logged])
def test_caller_is_the_callers_frame(function):
    """From the first call on, nothing of this library stands between."""

    class Holder:
        staged = staticmethod(ag.function(function))

    def call(each):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = [each(1) for _ in range(2)]
        return found, [(warning.filename, warning.lineno) for warning in caught]

    assert call(ag.function(function)) == call(function)
    assert call(Holder().staged) == call(function)
    assert "runs as plain Python" in str(ag.function(function).explain(1))


def test_function_that_looks_at_its_caller_is_refused_if_strict():
    with pytest.raises(StrictError, match="runs as plain Python"):
        ag.function(frame, strict=True)(1)
