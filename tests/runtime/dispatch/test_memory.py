"""What calls and traces leave behind: nothing, beyond the traces that are kept."""

import collections
import gc
import tracemalloc
import weakref

import numpy as np
import pytest

from autograph.runtime.dispatch.decorator import function

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("few_objects")]


def growth(work, times):
    """By how many bytes memory grows while `work(number)` runs so often, once it has run a while."""
    for number in range(times // 4):
        work(number)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(times // 4, times):
            work(number)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def test_calls_leave_nothing(tracer):
    f = function(lambda x, y=1: x)
    x = np.ones(3)

    def work(number):
        f(number), f(0.5, y=number), f(x)

    assert growth(work, 4000) < 5000


@pytest.mark.slow
def test_a_million_calls_leave_nothing(tracer):
    f = function(lambda x: x)
    assert growth(f, 1_000_000) < 5000


def test_a_thousand_signatures_leave_the_traces_that_are_kept(tracer):
    f = function(lambda x, n: x, static_argnames="n", max_traces=8)
    f._specializer._warned = True
    tracer.signatures = tracer.examples = collections.deque(maxlen=1)
    assert growth(lambda number: f(1, number), 1000) < 150_000  # what the traces that are kept take
    assert len(f.traces) == 8


def test_a_thousand_shapes_leave_nothing(tracer):
    f = function(lambda x: x)
    assert growth(lambda number: f(np.ones(number)), 1000) < 5000
    assert len(f.traces) == 1


def test_functions_that_are_gone_are_gone(tracer):
    f = function(lambda x: x)
    f(1), f(np.ones(2)), f(np.ones(3))
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_a_trace_keeps_neither_arguments_nor_results(tracer):
    class Box:
        pass

    f = function(lambda box, xs: xs)
    box, x = Box(), np.ones(3)
    seen = [weakref.ref(box), weakref.ref(x)]
    f(box, [x])
    tracer.examples.clear()
    del box, x
    gc.collect()
    assert [ref() for ref in seen] == [None, None]


def test_an_error_keeps_no_frames_of_the_library(tracer):
    class Box:
        pass

    @function
    def f(box):
        raise ValueError

    box = Box()
    seen = weakref.ref(box)
    with pytest.raises(ValueError):
        f(box)
    tracer.examples.clear()
    del box
    gc.collect()
    assert seen() is None
