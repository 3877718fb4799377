"""`ag.save` and `ag.load` of staged functions: what they return, print, raise and change, and what is refused."""

from __future__ import annotations

import inspect
import traceback
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import LoadError, SaveError, SignatureError

WEIGHTS = np.array([1.0, 2.0])
COUNT = 0
RATES = {"slow": 0.5, "fast": 2.0}
Point = namedtuple("Point", "x y")


def saved(function: Any, folder: Path, **options: Any) -> Any:
    ag.save(function, folder / "saved", **options)
    return ag.load(folder / "saved")


@ag.function
def weighted(x: Any, scale: Any = 2.0, *, sign: int = 1) -> Any:
    """Weighted values."""
    y = x * WEIGHTS * scale * sign
    while y.sum() > 100:
        y = y / 2
    return {"y": y, "more": (y[0], Point(y.sum(), "text"))}


def test_results_keep_their_structure_and_types(tmp_path: Path) -> None:
    x = np.array([3.0, 400.0])
    loaded = saved(weighted, tmp_path, signatures=[(x,), (x, 3.0)])
    for args in ((x,), (x, 3.0)):
        wanted, found = weighted(*args), loaded(*args)
        np.testing.assert_array_equal(found["y"], wanted["y"])
        assert found["more"] == wanted["more"] and type(found["more"][1]) is Point
    assert (loaded.__name__, loaded.__doc__) == ("weighted", "Weighted values.")
    assert str(inspect.signature(loaded)) == "(x, scale=2.0, *, sign=1)"


def test_one_signature_serves_all_lengths_that_it_allows(tmp_path: Path) -> None:
    function = ag.function(lambda x: x.sum() + x[0])
    loaded = saved(function, tmp_path, signatures=[(ag.TensorSpec((None,), "f8"),)])
    assert [loaded(np.ones(n)) for n in (1, 2, 5)] == [2.0, 3.0, 6.0]
    assert len(loaded.traces) == 1


def test_a_call_that_none_fits_says_which_there_are(tmp_path: Path) -> None:
    loaded = saved(ag.function(lambda x, n: x * n), tmp_path, signatures=[(np.ones(2), 3), (np.ones(2), 1.5)])
    with pytest.raises(SignatureError, match=r"none takes this one: \(x: f32\[3\], n: py.int\)") as error:
        loaded(np.ones(3, "f4"), 2)
    assert "(x: f64[2], n: py.int): `x` is f32[3], and not f64[2]" in str(error.value)
    assert "(x: f64[2], n: py.float)" in str(error.value)


def test_it_prints_and_raises_at_the_line_of_the_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @ag.function
    def checked(x: Any) -> Any:
        print("checking", x)
        if x < 0:
            raise ValueError(f"negative: {x}")
        return x

    line = checked.__code__.co_firstlineno + 4
    loaded = saved(checked, tmp_path, signatures=[(1.0,)])
    assert loaded(2.0) == 2.0 and capsys.readouterr().out == "checking 2.0\n"
    with pytest.raises(ValueError, match="negative: -1") as error:
        loaded(-1.0)
    last = traceback.extract_tb(error.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == (__file__, line, "checked")


def test_state_around_it_is_saved_as_it_is_and_goes_on(tmp_path: Path) -> None:
    @ag.function
    def counted(x: Any) -> Any:
        global COUNT
        COUNT += 1
        return x * RATES["fast"] + COUNT

    counted.compile(1.0)
    loaded = saved(counted, tmp_path)
    before = COUNT
    assert [loaded(0.0), loaded(0.0)] == [before + 1.0, before + 2.0]
    assert before == COUNT


def test_arguments_are_changed_in_place(tmp_path: Path) -> None:
    @ag.function
    def fill(x: Any, xs: Any) -> None:
        for i in range(len(x)):
            x[i] = i * 2
        xs.append(x.sum())

    x, xs = np.zeros(3), [1.0]
    loaded = saved(fill, tmp_path, signatures=[(x, xs)])
    loaded(x, xs)
    assert x.tolist() == [0.0, 2.0, 4.0] and xs == [1.0, 6.0]


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_every_engine_runs_it(tmp_path: Path, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")

    @ag.function
    def collatz(n: Any) -> Any:
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    collatz.compile(27)
    ag.save(collatz, tmp_path / "saved")
    loaded = ag.load(tmp_path / "saved", engine=engine)
    assert loaded(27) == 111 and loaded.traces[0].engine == engine


def test_it_can_be_a_part_of_other_functions_and_differentiated(tmp_path: Path) -> None:
    @ag.function
    def power(x: Any, n: Any) -> Any:
        y = x * WEIGHTS
        for _ in range(n):
            y = y * x
        return y.sum()

    x = np.array([1.5, -2.0])
    loaded = saved(power, tmp_path, signatures=[(x, 3)])
    np.testing.assert_array_equal(ag.grad(loaded)(x, 3), ag.grad(power)(x, 3))
    np.testing.assert_array_equal(ag.grad(lambda x: loaded(x, 2) ** 2)(x), ag.grad(lambda x: power(x, 2) ** 2)(x))
    assert ag.function(lambda x: loaded(x, 3) + 1)(x) == power(x, 3) + 1


def test_a_loaded_function_can_be_saved_again(tmp_path: Path) -> None:
    x = np.array([1.0, 2.0])
    once = saved(weighted, tmp_path / "first", signatures=[(x,)])
    once(x)
    again = saved(once, tmp_path / "second")
    np.testing.assert_array_equal(again(x)["y"], weighted(x)["y"])


def test_it_runs_staged_even_if_staged_functions_run_eagerly(tmp_path: Path) -> None:
    loaded = saved(ag.function(lambda x: x + 1), tmp_path, signatures=[(1,)])
    ag.run_eagerly(True)
    try:
        assert loaded(2) == 3
    finally:
        ag.run_eagerly(False)


# What is refused ------------------------------------------------------------------------------------------------------


def helper(x: Any) -> Any:
    return x + 1


def test_a_function_without_traces_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SaveError, match=r"give the signatures to save, such as\s+signatures="):
        ag.save(ag.function(lambda x: x), tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_callbacks_are_refused_with_the_line_or_allowed_by_name(tmp_path: Path) -> None:
    @ag.function
    def calls(x: Any) -> Any:
        return ag.do_not_convert(helper)(x) * 2

    line, name = calls.__code__.co_firstlineno + 2, f"{__name__}:helper"
    with pytest.raises(SaveError, match="the function helper is Python code") as error:
        ag.save(calls, tmp_path / "saved", signatures=[(1,)])
    assert (error.value.filename, error.value.lineno) == (__file__, line)
    with pytest.raises(SaveError, match="allow_callbacks"):
        ag.save(calls, tmp_path / "saved", signatures=[(1,)], allow_callbacks=["other:helper"])


def test_library_functions_are_called_if_both_sides_allow_them(tmp_path: Path) -> None:
    import json

    names = ["json:dumps"]

    @ag.function
    def text(x: Any) -> Any:
        return json.dumps([x, 1])

    ag.save(text, tmp_path / "saved", signatures=[(2.5,)], allow_callbacks=names)
    with pytest.raises(LoadError, match=r"calls 'json:dumps'.*allow_callbacks=\['json:dumps'\]"):
        ag.load(tmp_path / "saved")
    assert ag.load(tmp_path / "saved", allow_callbacks=names)(2.5) == "[2.5, 1]"


def test_code_that_runs_as_plain_python_is_refused_with_the_reason(tmp_path: Path) -> None:
    @ag.function
    def guarded(x: Any) -> Any:
        try:
            return 1 / x
        except ZeroDivisionError:
            return 0.0

    with pytest.raises(SaveError, match="guarded has no graph to save, since it runs as plain Python: `except` is"):
        ag.save(guarded, tmp_path / "saved", signatures=[(1,)])


def test_a_function_that_calls_itself(tmp_path: Path) -> None:
    @ag.function
    def depth(n: Any) -> Any:
        if n <= 1:
            return 0
        return 1 + depth(n // 2)

    loaded = saved(depth, tmp_path, signatures=[(1,), (100,)])     # each number is a signature, as it is unrolled
    assert [loaded(1), loaded(100)] == [0, 6]


def test_concrete_functions_derivatives_and_input_signatures(tmp_path: Path) -> None:
    @ag.function(input_signature=[ag.TensorSpec((None,), "f8")])
    def wide(x: Any) -> Any:
        return x.sum()

    assert saved(wide, tmp_path / "wide")(np.ones(4)) == 4.0

    many = ag.function(lambda x: x * 2)
    many.compile(1), many.compile(1.5)
    one = saved(many.get_concrete_function(2), tmp_path / "one")
    assert one(4) == 8 and len(one.python_function.signatures) == 1

    gradient = saved(ag.grad(lambda x: x**3), tmp_path / "gradient", signatures=[(2.0,)])
    assert gradient(3.0) == 27.0


def test_plain_functions_classes_and_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SaveError, match="helper is a plain function: decorate it with ag.function"):
        ag.save(helper, tmp_path / "saved")
    with pytest.raises(SaveError, match="Point is a class: save an object of it"):
        ag.save(Point, tmp_path / "saved")
    function = ag.function(helper)
    with pytest.raises(SaveError, match="names 'other', which is no staged function of the object; there are helper"):
        ag.save(function, tmp_path / "saved", signatures={"other": [(1,)], "helper": [(1,)]})


def test_refused_arguments_name_the_function(tmp_path: Path) -> None:
    @ag.function
    def applied(f: Any, x: Any) -> Any:
        return f(x)

    with pytest.raises(SaveError, match="the argument `f`: the function helper is Python code") as error:
        ag.save(applied, tmp_path / "saved", signatures=[(helper, 1)])
    assert (error.value.filename, error.value.lineno) == (__file__, applied.__code__.co_firstlineno)


def test_recursion_is_saved_to_the_depth_that_static_arguments_say(tmp_path: Path) -> None:
    def power(x: float, n: int) -> float:
        return 1.0 if n == 0 else x * power(x, n - 1)

    staged = ag.function(power, engine="native")
    with pytest.raises(SaveError, match="power calls itself as deep as its arguments say"):
        saved(staged, tmp_path, signatures=[(2.0, 5)])
    static = ag.function(power, engine="native", static_argnames="n")
    assert saved(static, tmp_path, signatures=[(2.0, 5)])(3.0, 5) == 243.0
