"""`call` and `ref` stand aside until a backend traces; then callees are converted, with exclusions."""

import functools
import math
import statistics
import textwrap

import numpy as np
import pytest

import autograph.operators as ag__
from autograph.operators.calls import set_converter
from tests.outcomes import no_addresses
from tests.recording import recorded


@pytest.fixture
def converter():
    """A converter whose conversions say so."""

    def convert(function):
        @functools.wraps(function)
        def converted(*args, **kwargs):
            return "converted", function(*args, **kwargs)

        return converted

    before = set_converter(convert)
    yield
    set_converter(before)


@pytest.fixture
def tracing(converter):
    with recorded(tracing=True) as backend:
        yield backend


def double(x):
    return 2 * x


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x

    def method(self, x):
        return self.factor * x

    @classmethod
    def make(cls, x):
        return cls, x

    @staticmethod
    def plain(x):
        return x


class Plain:
    """Has no constructor of its own."""


class Made(Scale):
    """Makes its objects in another way."""

    def __new__(cls, factor):
        return super().__new__(cls)


def test_nothing_happens_unless_a_backend_traces(converter):
    for registered in range(2):
        for value in (double, Scale(2), Scale, print, None, [1]):
            assert ag__.call(value) is value
            assert ag__.ref(value) is value


def test_functions_are_converted(tracing):
    assert ag__.call(double)(3) == ("converted", 6)
    assert ag__.call(lambda: 1)() == ("converted", 1)
    assert ag__.call(statistics.mean)([1, 3]) == ("converted", 2)  # of the standard library, what computes
    assert ag__.call(textwrap.dedent)(" a") == "a"


def test_methods_keep_their_object(tracing):
    scale = Scale(2)
    assert ag__.call(scale.method)(3) == ("converted", 6)
    assert ag__.call(scale.method).__self__ is scale
    assert ag__.call(Scale.make)(3) == ("converted", (Scale, 3))
    assert ag__.call(Scale.plain)(3) == ("converted", 3)


def test_callable_objects_and_partials(tracing):
    assert ag__.call(Scale(2))(3) == ("converted", 6)
    assert ag__.call(functools.partial(double, x=3))() == ("converted", 6)


def marked(x):
    return x


marked.__ag_do_not_convert__ = True


@pytest.mark.parametrize(
    "function",
    [
        print,
        len,
        math.sin,
        np.sin,
        np.zeros,
        np.vectorize(double),
        np.linalg.norm,
        np.arange(3).sum,
        Plain,
        Made,
        dict,
        [].append,
        "".join,
        functools.partial(print, 1),
        functools.lru_cache(double),
        marked,
        functools.partial(marked, 1),
        ag__.if_stmt,
        None,
        5,
    ],
    ids=lambda function: no_addresses(repr(function)),
)
def test_what_is_called_as_it_is(tracing, function):
    assert ag__.call(function) is function


def test_constructors_are_converted(tracing):
    class Converted(Exception):
        def __init__(self, factor):
            super().__init__(factor + 1)
            self.factor = factor

    for cls in (Scale, Converted):
        construct = ag__.call(cls)
        assert construct is not cls
        made = construct(factor=2) if cls is Scale else construct(2)
        assert type(made) is cls
        assert made.factor == 2
    assert made.args == (3,)


def test_objects_that_have_every_attribute_are_not_marked(tracing):
    class Anything(Scale):
        def __getattr__(self, name):
            return self

    assert ag__.call(Anything(2))(3) == ("converted", 6)


def test_the_backend_is_asked_first(tracing):
    tracing.call = lambda function: sum if function is math.fsum else NotImplemented
    assert ag__.call(math.fsum) is sum
    assert ag__.call(math.sin) is math.sin
    assert ag__.call(double)(1) == ("converted", 2)


def test_ref_asks_the_backend(tracing):
    numbers = [1]
    assert ag__.ref(numbers) is numbers
    assert tracing.log == [("ref", list)]
    tracing.ref = lambda value: (value,)
    assert ag__.ref(numbers) == ([1],)
