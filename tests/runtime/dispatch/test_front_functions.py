"""`ag.function` gives a Python function that changes its code with the tiers, and is a function in every other way."""

from __future__ import annotations

import copy
import functools
import gc
import importlib
import inspect
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback
import types
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.dispatch.function import staged_function
from tests import outcomes

pytestmark = [
    pytest.mark.usefixtures("default_engine"),
    pytest.mark.versions,
    pytest.mark.skipif(not (3, 11) <= sys.version_info[:2] <= (3, 13), reason="other bytecode"),
]

TIERS = pytest.mark.parametrize("tier", ["plain", "staged"])


def in_tier(function: Any, tier: str, *args: Any) -> Any:
    """The staged function, with calls such as this one compiled ahead for the tier `staged`."""
    made = ag.function(function)
    if tier == "staged":
        made.compile(*args)
    return made


with pytest.MonkeyPatch.context() as patched:
    patched.delenv("AUTOGRAPH_ENGINE", raising=False)
    patched.delenv("AUTOGRAPH_TIERS", raising=False)

    @ag.function
    def of_module(a: Any, b: Any = 2, *rest: Any, key: Any = 3, **more: Any) -> Any:
        """Adds."""
        return a + b + key + len(rest) + len(more)

    class Model:
        rate = 2.0

        @ag.function
        def step(self, x: Any) -> Any:
            return self.rate * x

        @classmethod
        @ag.function
        def double(cls, x: Any) -> Any:
            return cls.rate * x

        @staticmethod
        @ag.function
        def half(x: Any) -> Any:
            return x / 2


@TIERS
def test_it_is_called_as_the_function_is(tier: str) -> None:
    made = in_tier(of_module.python_function, tier, 1)
    for call in ("1", "1, 5", "1, 5, 6, 7", "a=1, b=3", "1, key=2, other=4", "", "1, 2, a=3", "*(1, 2), **{'key': 4}"):
        wanted = outcomes.run(of_module.python_function, call)
        assert outcomes.run(made, call) == wanted, call


@TIERS
def test_it_is_a_function(tier: str) -> None:
    made, plain = in_tier(of_module.python_function, tier, 1), of_module.python_function
    assert type(made) is types.FunctionType
    assert inspect.signature(made) == inspect.signature(plain)
    assert inspect.getsource(made) == inspect.getsource(plain)
    assert (made.__name__, made.__doc__, made.__module__) == ("of_module", "Adds.", __name__)
    assert made.__code__.co_firstlineno == plain.__code__.co_firstlineno
    assert copy.copy(made) is copy.deepcopy(made) is made


@TIERS
def test_tracebacks_are_those_of_the_function(tier: str) -> None:
    def inverse(x: Any) -> Any:
        return 1 / x

    def places(function: Any) -> list[Any]:
        try:
            function(0)
        except ZeroDivisionError as error:
            return [(each.name, each.lineno) for each in traceback.extract_tb(error.__traceback__)[1:]]
        return []

    found, wanted = places(in_tier(inverse, tier, 1)), places(inverse)
    assert found[-1:] == wanted
    assert len(found) <= 2      # a staged call has one entry more, with the line of the `def`


def test_a_debugger_sees_the_same_lines_at_each_call_in_tier_0() -> None:
    def factorial(n: int) -> int:
        return 1 if n < 2 else n * made(n - 1)

    def seen() -> list[Any]:
        found: list[Any] = []

        def trace(frame: Any, event: str, argument: Any) -> Any:
            if frame.f_code.co_name == "factorial":
                found.append((event, frame.f_lineno))
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            made(3)
        finally:
            sys.settrace(before)
        return found

    made: Any = factorial
    wanted = seen()
    made = ag.function(factorial)
    assert [seen() for _ in range(8)] == [wanted] * 8


def test_the_entry_of_a_staged_call_shows_no_variables_but_the_parameters() -> None:
    made = in_tier(lambda x: 1 / x, "staged", 1)
    with pytest.raises(ZeroDivisionError) as caught:
        made(0)
    assert [{*entry.frame.f_locals} for entry in caught.traceback[1:]] == [{"x"}] * 2


@TIERS
def test_defaults_and_code_may_be_set(tier: str) -> None:
    made = in_tier(lambda x, y=1: x + y, tier, 1)
    made.__defaults__ = (10,)
    assert made(1) == 11
    made.__code__ = (lambda x, y: x * y).__code__
    assert made(3) == 30
    assert made(3, 4) == 12


def test_staged_functions_that_call_it_see_its_defaults() -> None:
    def inner(x: Any, y: Any = 1, *, key: Any = 2) -> Any:
        return x + y + key if x < 10 else made(x - 10)

    made: Any = ag.function(inner)
    outer = ag.function(lambda x: (made(x), *map(made, [x])), engine="numpy")
    assert (outer(1.0), outer(11.0), made(11.0)) == ((4.0, 4.0), (4.0, 4.0), 4.0)
    made.__defaults__ = (3,)
    assert (outer(1.0), outer(11.0), made(11.0)) == ((6.0, 6.0), (6.0, 6.0), 6.0)
    made.__kwdefaults__["key"] = 4
    assert (outer(1.0), outer(11.0), made(11.0)) == ((8.0, 8.0), (8.0, 8.0), 8.0)
    made.__kwdefaults__ = {"key": 5}
    made.compile(11.0)
    assert (outer(1.0), outer(11.0), made(11.0)) == ((9.0, 9.0), (9.0, 9.0), 9.0)
    assert [trace.plain for trace in outer.traces if trace.plain] == []
    assert inner.__defaults__ == (1,)


def test_staged_functions_that_call_it_see_its_code() -> None:
    made = in_tier(lambda x: x + 1, "staged", 1)
    outer = ag.function(lambda x: made(x) * 10, engine="numpy")
    assert outer(1) == 20
    made.__code__ = (lambda x: x * 7).__code__
    assert outer(1) == 70
    assert made(1) == 7
    assert outer(1) == 70


def test_a_function_that_is_staged_twice_with_different_defaults() -> None:
    first = ag.function(lambda x, y=1: x + y)
    second = first.with_options(engine="numpy")
    outer = ag.function(lambda x: (first(x), second(x)), engine="numpy")
    first.__defaults__ = (5,)
    assert outer(2.0) == (7.0, 3.0)


def test_setting_code_stays_when_tiers_change() -> None:
    made = in_tier(lambda x: x + 1, "plain")
    made.__code__ = (lambda x: x * 7).__code__
    ag.function(lambda x: made(x) + 1).graph(3)     # while a trace is made, calls are watched
    assert made(3) == 21
    assert made.python_function(3) == 21


def many(*functions: Any) -> set[Any]:
    """The results of so many calls that some are sampled."""
    return {tuple(each(2) for each in functions) for _ in range(20)}


@TIERS
def test_its_code_does_the_same_in_a_function_that_outlives_it(tier: str) -> None:
    factor = 5
    made = in_tier(lambda x: x * factor, tier, 1)
    copied = types.FunctionType(made.__code__, globals(), "copied", None, (types.CellType(7),))
    taking = lambda x: x - factor  # noqa: E731
    taking.__code__ = made.__code__
    del made
    gc.collect()
    assert many(copied, taking) == {(14, 10)}
    assert many(ag.function(copied), ag.function(lambda x: taking(x))) == {(14, 10)}


def test_its_code_does_the_same_in_a_function_that_captures_or_names_others() -> None:
    factor = 5
    made = in_tier(lambda x: (x * factor, __name__), "plain")
    copied = types.FunctionType(made.__code__, {"__name__": "other"}, "copied", None, (types.CellType(7),))
    assert many(copied, made) == {((14, "other"), (10, __name__))}


def test_its_code_calls_it_from_copies_while_it_is_staged() -> None:
    made = in_tier(lambda x: (x, __name__), "staged", 1)
    assert types.FunctionType(made.__code__, {"__name__": "other"})(2) == (2, __name__)
    assert types.FunctionType(made.python_function.__code__, {"__name__": "other"})(2) == (2, "other")


@TIERS
def test_two_functions_may_exchange_their_code(tier: str) -> None:
    first, second = in_tier(lambda x: x * 3, tier, 1), in_tier(lambda x: x * 5, tier, 1)
    for _ in range(2):
        first.__code__, second.__code__ = second.__code__, first.__code__
        assert many(first, second) == {(10, 6)}
        assert ag.function(lambda x: first(x) + x, engine="numpy")(2) == 12
        first.compile(1.5)
        assert many(first, second) == {(10, 6)}
        first.__code__, second.__code__ = second.__code__, first.__code__
        assert many(first, second) == {(6, 10)}


@TIERS
def test_code_that_is_put_back_is_staged_again(tier: str) -> None:
    made = in_tier(lambda x: x * 3, tier, 1)
    before = made.__code__
    made.__code__ = (lambda x: x * 5).__code__
    made.compile(1)
    assert many(made) == {(10,)}
    made.__code__ = before
    made.compile(1)
    assert many(made) == {(6,)}


@TIERS
def test_changed_code_may_be_set(tier: str) -> None:
    made = in_tier(lambda x: x * 3, tier, 1)
    made.__code__ = made.__code__.replace(co_name="other")
    gc.collect()
    assert many(made) == {(6,)}
    assert made.__code__.co_name == "other"


def test_threads_may_change_tiers_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: list[BaseException] = []

    def call(function: Any, barrier: threading.Barrier) -> None:
        try:
            barrier.wait()
            for n in range(40):
                assert function(n % 3) == n % 3 + 3
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for seed in range(15):
            monkeypatch.setenv("AUTOGRAPH_TIERS", f"random:{seed}")
            barrier = threading.Barrier(3)
            arguments = ag.function(lambda x: sum([x, *range(3)])), barrier
            threads = [threading.Thread(target=call, args=arguments) for _ in range(3)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []


def test_a_wrapper_with_the_same_attributes_is_no_staged_function() -> None:
    inner = ag.function(lambda x: x + 1)

    @functools.wraps(inner)
    def wrapper(x: Any) -> Any:
        return inner(x) * 100

    assert staged_function(inner) is not None
    assert staged_function(wrapper) is None
    assert ag.function(wrapper)(1) == 200
    assert ag.function(lambda x: wrapper(x))(1) == 200
    assert ag.function(lambda x: wrapper(x), engine="numpy")(1) == 200


@TIERS
def test_staged_functions_trace_it_as_the_plain_one(tier: str) -> None:
    inner = in_tier(lambda x: x - 1 if x > 0 else x, tier, 2.5)
    outer = ag.function(lambda x, f: f(x) + sum(map(inner, [x, 2.0])), engine="numpy")
    assert outer(3.5, inner) == 2.5 + 2.5 + 1.0
    assert [trace.plain for trace in outer.traces] == [""]
    assert ag.grad(inner)(3.0) == 1.0
    assert ag.to_code(inner) == ag.to_code(inner.python_function)


def test_decorating_it_again_changes_options() -> None:
    made = ag.function(lambda x: x + 1)
    assert ag.function(made) is made
    again = ag.function(made, engine="numpy")
    assert again(1) == 2
    assert [trace.engine for trace in again.traces] == ["numpy"]


@TIERS
def test_recursion_is_as_deep_as_in_the_function(tier: str) -> None:
    def depth(n: int) -> int:
        return n if n > 900 else made(n + 1)

    made: Any = ag.function(depth)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 1000)
    try:
        assert made(0) == 901
    finally:
        sys.setrecursionlimit(limit)


@TIERS
def test_it_is_freed_with_what_it_captures(tier: str) -> None:
    class Captured:
        pass

    def make() -> Any:
        captured, numbers = Captured(), np.ones(3)

        def recursive(n: Any) -> Any:
            return n if captured is None else numbers[0] + (0 if n <= 0 else recursive(n - 1))

        recursive = ag.function(recursive)
        if tier == "staged":
            recursive.graph(1.5)
            vars(recursive)["__ag_function__"]._tiers._promote()
        recursive(1.5)
        return weakref.ref(captured)

    found = make()
    gc.collect()
    assert found() is None


class Holder:
    def __init__(self) -> None:
        self.model = Model()

    def graph(self) -> str:
        return str(self.model.step.graph(2.5))


@TIERS
def test_methods_are_functions_of_the_class(tier: str) -> None:
    model = Model()
    assert [type(vars(Model)["step"]), type(model.step)] == [types.FunctionType, types.MethodType]
    if tier == "staged":
        Model.step.compile(model, 1.5)
    assert (model.step(1.5), Model.step(model, 1.5), Model.double(1.5), model.half(3)) == (3.0, 3.0, 3.0, 1.5)
    assert outcomes.run(model.step, "") == outcomes.run(Model.step.python_function.__get__(model), "")
    assert pickle.loads(pickle.dumps(Model.step)) is Model.step


def test_views_of_methods_find_the_object() -> None:
    model, holder = Model(), Holder()
    bound = model.step
    wanted = str(Model.step.graph(model, 2.5))
    assert "step" in wanted
    assert str(model.step.graph(2.5)) == wanted
    assert str(bound.graph(2.5)) == wanted
    assert str(
        model
        .step
        .graph(x=2.5)
    ) == wanted  # fmt: skip
    assert holder.graph() == wanted
    assert str(Model.double.graph(2.5)) == str(model.double.graph(2.5))
    assert str(Model.half.graph(2.5)) == str(model.half.graph(2.5))
    assert (lambda: model.step.explain(2.5))().title == Model.step.explain(model, 2.5).title


def test_a_view_without_its_object_says_what_is_missing() -> None:
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'x'"):
        [Model()][0].step.graph(2.5)


def test_pickle_takes_it_by_name() -> None:
    assert pickle.loads(pickle.dumps(of_module)) is of_module


@TIERS
def test_cloudpickle_takes_it_by_value(tier: str, tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    program = """
        import sys, cloudpickle, autograph as ag

        def helper(x):
            return x + 1

        @ag.function
        def f(n, k=2):
            return n if n < 0 else helper(n) * k + f(n - 10)

        f(5)
        if sys.argv[1] == "staged":
            f.graph(5.5)
            f.__ag_function__._tiers._promote()
        with open("f.pkl", "wb") as file:
            cloudpickle.dump([f, f], file)
        print(f(35))
    """
    reader = """
        import pickle, cloudpickle, autograph as ag
        f, g = pickle.load(open("f.pkl", "rb"))
        print(f is g, type(f).__name__, [f(35) for _ in range(3)][-1], f(n=35, k=2))
        print("graph" in str(f.graph(5.5)), f.python_function is not f)
    """
    root = Path(ag.__file__).parent.parent
    said = []
    for name, text, *arguments in (("write.py", program, tier), ("read.py", reader)):
        (tmp_path / name).write_text(textwrap.dedent(text))
        command = [sys.executable, name, *arguments]
        done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, env={"PYTHONPATH": str(root)})
        said.append(done.stdout + done.stderr)
    value = said[0].strip()
    assert said[1].splitlines() == [f"True function {value} {value}", "True True"]


def test_cloudpickle_takes_classes_with_staged_methods_by_value() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")

    class Local:
        scale = 2

        @ag.function
        def step(self, x: Any) -> Any:
            return self.scale * x

    kind = pickle.loads(cloudpickle.dumps(Local))
    assert [kind().step(3), kind.step(kind(), 3)] == [6, 6]
    assert "step" in str(kind.step.graph(kind(), 1.5))
    thing = kind()
    assert "step" in str(thing.step.graph(1.5))


def test_a_function_that_pickle_does_not_find_under_its_name_is_taken_by_value_only() -> None:
    """As pickle takes all functions by name; docs/limits.md mentions it."""
    cloudpickle = pytest.importorskip("cloudpickle")
    made = ag.function(plain_of_module)
    with pytest.raises(pickle.PicklingError, match="not the same object"):
        pickle.dumps(made)
    assert pickle.loads(cloudpickle.dumps(made))(2) == 3


def plain_of_module(x: Any) -> Any:
    return x + 1


@pytest.mark.parametrize("convert", [ag.convert, ag.to_graph])
def test_a_converted_function_may_be_staged(convert: Any) -> None:
    made = ag.function(convert(lambda x, y=2: x * y if x > 1 else x))
    assert [made(1), made(3), made(3, y=4)] == [1, 6, 12]
    assert "*" in str(made.graph(3.5))
    assert [made(1), made(3), made(3, y=4)] == [1, 6, 12]


def test_modules_are_imported_afresh() -> None:
    """The code of a function names nothing that another import would miss."""
    made = importlib.import_module(__name__).of_module
    assert made(1) == 6
