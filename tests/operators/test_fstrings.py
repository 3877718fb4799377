"""f-strings, and texts formatted by `%`."""

import pytest

import autograph as ag
import autograph.operators as ag__
from tests.recording import Recorder, Staged, recorded


class Formatting(Recorder):
    """Stages f-strings: while they are formatted, staged values leave their own text."""

    def fstring(self, text):
        self.log.append(("fstring",))
        return Staged(text())


def describe(n, width=4):
    text = f"n = {n!r:>{width}}"
    while width > 0:
        text += f"{width}" f"{n}"
        width -= 1
    return text


def test_plain_values():
    assert ag__.fstring(lambda: f"{1 + 1:03d}") == "002"
    with pytest.raises(ZeroDivisionError):
        ag__.fstring(lambda: f"{1 / 0}")
    for form in (ag.convert(describe), ag.to_graph(describe)):
        assert form(7, 2) == describe(7, 2)


def test_only_who_traces_is_asked():
    with recorded() as backend:
        assert ag__.fstring(lambda: f"{Staged('x')}") == "Staged(x)"
        assert backend.log == []
    with recorded(tracing=True):
        assert ag__.fstring(lambda: "a" f"{1}") == "a1"  # declined


def test_a_tracing_backend_gets_the_text():
    with recorded(tracing=True) as backend:
        backend.fstring = Formatting.fstring.__get__(backend)
        result = ag__.fstring(lambda: f"{Staged('x')}!")
        assert isinstance(result, Staged) and result.text == "Staged(x)!"
        text = ag.to_graph(lambda n: f"{n}: {f'{n}'!s}")(Staged("x"))
    assert text.text == "Staged(x): Staged(Staged(x))"
    assert backend.log == [("fstring",)] * 3


class Inner:
    def f(self):
        return f"{super().__repr__}"


def test_what_belongs_to_the_function_stays():
    def f(x):
        return f"{(y := x)}", y

    def g(x):
        yield f"{(yield x)}"

    def h():
        return f"{locals()}"

    for function in (f, g, h, Inner.f):
        assert "fstring" not in ag.to_code(function)
        assert "f-string" in str(ag.explain(function))


def test_unbound_variables():
    def f(x):
        if x:
            y = 1
        return f"{y}"

    for form in (f, ag.to_graph(f), ag.convert(f, debug_source=True)):
        with pytest.raises(UnboundLocalError, match="'y'"):
            form(0)


def test_percent():
    assert ag__.percent("%s %d", ("a", 2)) == "a 2"
    with pytest.raises(TypeError, match="not enough arguments"):
        ag__.percent("%d %d", 1)
    with recorded(tracing=True) as backend:
        assert ag__.percent("%d", 1) == "1"
        backend.percent = lambda template, value: Staged(f"{template} % {value.text}")
        assert ag.to_graph(lambda n: "%d" % n)(Staged("n")).text == "%d % n"
