"""Code of installed packages is called when the graph runs, and objects of their classes are opaque.

`blackbox` and `friendly` stand for such packages; they lie in tests/site-packages. `blackbox.SEEN` tells the classes of
all that its code was given, so that a proxy among it would show.
"""

from __future__ import annotations

import collections
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common import pytree

FOLDER = Path(__file__).parents[3] / "site-packages"
sys.path.append(str(FOLDER))
import blackbox  # noqa: E402
import friendly  # noqa: E402
from blackbox import Box, Color, Failure, Record, Settings  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
ENGINES = ["numpy", "native", "auto"]


class Users(Box):
    """A class of the user's, derived from one of an installed package."""

    def forward(self, x: Any) -> Any:
        return self.w * x if x > 0 else x

    def own(self, x: Any) -> Any:
        return self.forward(x) + self.twice + super().forward(x)


class UsersRecord(Record):
    def tripled(self) -> float:
        return self.x * 3


class Holder:
    def __init__(self) -> None:
        self.box, self.boxes, self.k = Box(2.0), [Box(1.0), Users(3.0)], 3.0

    def scaled(self, x: Any) -> Any:
        return self.box(x) * self.k + self.boxes[1].own(x)


HOLDER, BOX, USERS = Holder(), Box(4.0), Users(5.0)
TABLE = {"box": BOX, "list": [USERS]}
BOUND, STAGED_BY = USERS.own, blackbox.logged


def outcome(function: Any, arguments: list[Any]) -> Any:
    blackbox.SEEN.clear()
    made = [each() if callable(each) and not isinstance(each, type) else each for each in arguments]
    del blackbox.SEEN[:]
    try:
        result = function(*made)
    except Exception as error:
        result = type(error), error.args, vars(error)
    return _reported(result), [_reported(each) for each in made], list(blackbox.SEEN)


def _reported(thing: Any) -> Any:
    if isinstance(thing, (list, tuple)):
        return type(thing), [_reported(part) for part in thing]
    return (type(thing), vars(thing)) if isinstance(thing, (Box, Record)) else (type(thing), repr(thing))


def called(box, x):
    return box(x) + 1


def attributes(box, x):
    return box.w * x + box.twice + box.thrice


def decides(box, x):
    return box.w if box.w > x else box.forward(x)


def loops(box, x):
    total = x
    for i in range(4):
        total = total + box(x + i)
        if total > box.w * 8:
            break
    return total


def arithmetic(box, x):
    return box + x, x + box, box < x, box[x]


def builtins_of_objects(box, x):
    return len(box) * x, list(box), x in box, f"{box:3}|{x}", bool(box), box == box, [v * x for v in box]


def entered(box, x):
    with box as inner:
        return inner.w * x


def entered_generator(box, x):
    with blackbox.scaled(x) as by:
        return by + box.w


def fails(box, x):
    return box.fail(x)


def fails_and_is_caught(box, x):
    try:
        return box.fail(x)
    except KeyError as error:
        return error.args[0]


def generates(box, x):
    total = x
    for each in box.steps(3):
        total = total + each
    return total


def made(box, x):
    return Box.make(x).w + Box.shifted(x) + Box(x)(2.0)


def returned(box, x):
    return {"box": box, "new": [Box(x)]}["new"]


def returned_itself(box, x):
    return box


def changed(box, x):
    box.w = box.w + x
    box.note = x
    return box.w + box.twice


def changed_in_a_branch(box, x):
    if x > 1:
        box.w = x
    return box.w


def helpers(box, x):
    return blackbox.wave(x) + blackbox.applied(lambda v: v * box.w, x)


@blackbox.logged
def decorated(x):
    return x * 3 if x > 1 else x


def decorator(box, x):
    return decorated(x) + blackbox.logged(lambda v: v + 1)(x)


def raises(box, x):
    raise Failure(f"at {x}", code=3)


def raises_and_catches(box, x):
    try:
        if x > 0:
            raise Failure("at", code=3)
    except Failure as error:
        return error.code
    return x


def enums(box, x):
    return x if Color.RED.nice == "red" and Color(1) is Color.RED else Color.RED.number()


def globals_and_attributes(box, x):
    return HOLDER.scaled(x) + TABLE["box"](x) + TABLE["list"][0].own(x) + BOX.w


def bound(box, x):
    return BOUND(x) + sum(map(box.forward, [x, 1.0]))


def keys(box, x):
    return {Color.RED: x}[Color.RED]


def records(box, x):
    record = Record(x)
    record.x = record.x + 1
    return record.doubled() + record.x, record


def looked_at(box, x):
    return isinstance(box, Box), type(box) is Box, hasattr(box, "w"), callable(box), getattr(box, "none", x)


PROGRAMS = [
    *(called, attributes, decides, loops, arithmetic, builtins_of_objects, entered, entered_generator, fails),
    *(fails_and_is_caught, generates, made, returned, returned_itself, changed, changed_in_a_branch, helpers),
    *(decorator, raises, raises_and_catches, enums, globals_and_attributes, bound, keys, records, looked_at),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("make", [lambda: Box(2.0), lambda: Users(2.0)], ids=["its class", "a subclass"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_plain_python(program, make, engine):
    staged = ag.function(program, engine=engine)
    for x in (3.0, 3.0, 0.5, 2):
        assert outcome(staged, [make, x]) == outcome(program, [make, x])


@pytest.mark.parametrize("make", [lambda: Record(2.0), lambda: UsersRecord(2.0)], ids=["its class", "a subclass"])
def test_dataclasses_are_leaves(make):
    def program(record, x):
        record.x = record.x * x
        return record.doubled() + record.x, record

    staged = ag.function(program)
    for x in (3.0, 2.0):
        assert outcome(staged, [make, x]) == outcome(program, [make, x])
    assert pytree.flatten(make()) != [2.0]


class StagedMethods(Box):
    @ag.function
    def step(self, x):
        self.w = self.w + x
        return self.w if self.w > 1 else x


def test_staged_methods_of_classes_derived_from_theirs():
    thing = StagedMethods(1.0)
    assert [thing.step(2.0), thing.step(1.0), thing.w] == [3.0, 4.0, 4.0]
    assert ag.function(USERS.own)(3.0) == USERS.own(3.0)


def test_what_changes_in_a_package_is_noticed():
    def program(x):
        return blackbox.SCALE * x + Settings.rate + Settings.table["k"] + blackbox.TABLE["a"] + len(Settings.items)

    staged, kept = ag.function(program), dict(Settings.table),
    try:
        assert staged(1.0) == program(1.0)
        blackbox.SCALE = 5.0
        assert staged(1.0) == program(1.0)
        Settings.rate = 0.7
        assert staged(1.0) == program(1.0)
        Settings.table["k"] = 9.0
        assert staged(1.0) == program(1.0)
        blackbox.TABLE["a"] = 7.0
        assert staged(1.0) == program(1.0)
        Settings.items.append(3)
        assert staged(1.0) == program(1.0)
    finally:
        blackbox.SCALE, Settings.rate, blackbox.TABLE["a"] = 3.0, 0.5, 1.0
        Settings.table.update(kept)
        Settings.items[:] = [1, 2]


# What is traced all the same ------------------------------------------------------------------------------------------


def test_explain_says_what_is_called_and_how_to_trace_it():
    staged = ag.function(lambda box, x: box(x) + blackbox.wave(x))
    reported = staged.explain(Box(2.0), 3.0).where(kind="callback")
    assert [event.message for event in reported] == [
        "operations on objects of class Box is done when the graph runs, as the installed package blackbox is not "
        "traced: trace_packages='blackbox' would trace it",
        "blackbox.wave is called as it is, as the installed package blackbox is not traced: trace_packages='blackbox' "
        "would trace it",
    ]
    with pytest.raises(ag.errors.StrictError, match="trace_packages='blackbox'"):
        ag.function(lambda x: blackbox.wave(x), strict=["callback"])(1.0)


@pytest.mark.parametrize("names", ["blackbox", ["blackbox"], ("numba", "black*")[1:], "b*"])
def test_packages_that_the_user_names_are_traced(names):
    def program(box, x):
        return box(x) + blackbox.applied(lambda v: v * 2, x)

    staged = ag.function(program, trace_packages=names)
    assert staged(Box(2.0), 3.0) == program(Box(2.0), 3.0)
    assert not staged.explain(Box(2.0), 3.0).where(kind=("callback", "plain"))


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ("scikit-learn", ValueError, "as they are imported"),
        ("blackbox.inner", ValueError, "top-level packages"),
        ("no_such_package", ValueError, "there is no package of this name"),
        (3, TypeError, "names packages"),
        ([None], TypeError, "names packages"),
    ],
)
def test_names_are_checked(names, error, message):
    with pytest.raises(error, match=message):
        ag.function(lambda x: x, trace_packages=names)


def test_an_author_may_stage_functions_of_a_package():
    """Helpers and classes in the package of a staged function are traced, also if other code calls the function."""
    layer = friendly.Layer(2.0)
    assert friendly.step(layer, 3.0) == 8.0
    assert not friendly.step.explain(layer, 3.0).where(kind=("callback", "plain"))
    around = ag.function(lambda layer, x: friendly.step(layer, x) + 1)
    assert around(layer, 3.0) == 9.0
    assert not around.explain(layer, 3.0).where(kind=("callback", "plain"))
    assert ag.function(friendly.relu)(3.0) == 3.0


def test_packages_that_the_import_hook_converts_are_traced():
    program = textwrap.dedent(f"""
        import sys
        sys.path.append({str(FOLDER)!r})
        import autograph as ag
        with ag.importing.install(["blackbox"]):
            import blackbox
        staged = ag.function(lambda x: blackbox.wave(x) + blackbox.square(x))
        assert abs(staged(1.0) - 3.5244129544236893) < 1e-12
        assert not staged.explain(1.0).where(kind="callback"), staged.explain(1.0)
    """)
    subprocess.run([sys.executable, "-c", program], check=True)


# Derivatives ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: blackbox.wave(x) * x,
        lambda x: blackbox.square(x) + x,
        lambda x: blackbox.applied(lambda v: v**3, x),
        lambda x: decorated(x) * x,
        lambda x: Box(2.0)(x) ** 2,
        lambda x: USERS(x) * x,
        lambda x: USERS.own(x) * HOLDER.scaled(x),
        lambda x: blackbox.wave(blackbox.square(x)) + Users(x).own(2.0),
    ],
)
def test_a_derivative_goes_through_packages(function):
    h = 1e-6
    expected = (function(2.0 + h) - function(2.0 - h)) / (2 * h)
    assert ag.grad(function)(2.0) == pytest.approx(expected, rel=1e-6)
    assert ag.function(lambda x: ag.grad(function)(x) + function(x))(2.0) == pytest.approx(expected + function(2.0))


def test_what_cannot_be_traced_is_no_derivative(monkeypatch):
    """A package with extension modules keeps its objects to itself, since its C code may meet them."""
    monkeypatch.setattr("autograph.common.packages._has_extension", lambda package: package == "blackbox")
    box = Box(2.0)
    with pytest.raises(ag.errors.DerivativeError, match="has no derivative"):
        ag.grad(lambda x: box(x))(2.0)
    assert ag.function(lambda x: box(x), trace_packages="blackbox")(3.0) == 6.0
    assert type(box.w) is float


def test_only_what_is_needed_is_traced_for_a_derivative():
    staged = ag.function(ag.grad(lambda x: x * x + 0 * len(str(blackbox.Color.RED.number()))))
    assert staged(3.0) == 6.0


# Packages with C extensions -------------------------------------------------------------------------------------------


def test_rows_of_pandas():
    pandas = pytest.importorskip("pandas")
    row = pandas.Series({"a": 1.0, "b": 2.0})
    assert ag.function(lambda r: r["a"] + 1)(row) == 2.0
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    plain = frame.apply(lambda r: r["a"] * r["b"] if r["a"] > 1 else r.b, axis=1)
    assert frame.apply(ag.function(lambda r: r["a"] * r["b"] if r["a"] > 1 else r.b), axis=1).equals(plain)

    def index(frame):
        part = frame.iloc[:1]
        before = part.index
        part.index = ["z"]
        return before[0], part.index[0], part.values[0, 0], 1 if part.count == 3 else 0

    assert ag.function(index)(frame) == index(frame)


def test_models_of_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class Model(pydantic.BaseModel):
        x: float

        def scaled(self, by: float) -> float:
            return self.x * by

    def program(model, by):
        return model.scaled(by) + 1 if model.x > 0 else Model(x=by).x

    staged = ag.function(program)
    for x in (1.0, -1.0):
        assert staged(Model(x=x), 3.0) == program(Model(x=x), 3.0)
    with pytest.raises(pydantic.ValidationError):
        ag.function(lambda text: Model(x=text))("no number")
    assert program(Model(x=2.0), 3.0) == 7.0


def test_arrays_that_packages_give_are_arrays():
    class Holds(Box):
        pass

    def program(box, x):
        return np.sin(box.w * x).sum(axis=0)

    box = Holds(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(ag.function(program)(box, 2.0), program(box, 2.0))


def test_texts_that_name_variables():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, 3.0]})

    def method(frame):
        limit = frame.a.mean() - 1
        return frame[frame.a > 0].query("a > @limit").shape[0]

    def function(frame):
        first = frame.a.sum()
        second = first * 2
        return pandas.eval("first + second")

    for program in (method, function):
        staged = ag.function(program)
        assert staged(frame) == program(frame)
        assert staged.explain(frame).where(kind="plain")
    assert not ag.function(lambda frame: frame.query("a > 1").shape[0]).explain(frame).where(kind="plain")


def test_a_derivative_goes_only_so_far_through_packages(monkeypatch):
    monkeypatch.setattr("autograph.runtime.tracing.calls.bounds.BUDGET", 60)

    def many(x):
        for i in range(100):    # operations of the user's own are not counted
            x = x * 1.01 if i % 2 else x * 0.99
        return blackbox.square(x)

    assert ag.grad(many)(2.0) == pytest.approx(2 * many(2.0) / 2.0)
    assert ag.grad(lambda x: blackbox.iterated(x, 2))(0.5) == pytest.approx((np.cos(0.5) + 0.5) * _slope_of_next(0.5))


def _slope_of_next(x):
    return np.cos(np.sin(x) + x / 2) + 0.5


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: blackbox.iterated(x, 7) + blackbox.iterated(x, 6) + blackbox.iterated(x, 5), "iterated"),
        (lambda x: blackbox.counted(x, 61), "counted"),
        (lambda x: blackbox.applied(lambda v: blackbox.iterated(v, 7) + blackbox.iterated(v, 7), x), "applied"),
    ],
)
def test_beyond_the_budget_a_derivative_is_refused(function, name, monkeypatch):
    monkeypatch.setattr("autograph.runtime.tracing.calls.bounds.BUDGET", 40)

    def guarded(x):
        try:
            return function(x)
        except Exception:       # which the refusal goes past
            return x

    for each in (function, guarded):
        with pytest.raises(ag.errors.DerivativeError, match=r"installed package blackbox.* more than 40") as info:
            ag.grad(each)(2.0)
        assert "trace_packages='blackbox'" in str(info.value) and "ag.custom_gradient" in str(info.value)
    assert ag.function(function)(2.0) == function(2.0)
    named = ag.function(ag.grad(function), trace_packages="blackbox")
    h = 1e-6
    assert named(2.0) == pytest.approx((function(2.0 + h) - function(2.0 - h)) / (2 * h), abs=1e-8)
    assert re.search(rf"through (\w+\.)*{name} of", str(info.value))


class Held:
    def __init__(self) -> None:
        self.value = 0


class Plan(list):  # type: ignore[type-arg]
    pass


def set_item(held: Any, plan: Any, n: Any) -> Any:
    plan[0].value = n
    return held.value


def set_taken(held: Any, plan: Any, n: Any) -> Any:
    plan.pop().value = n
    return held.value


def set_of_attribute(held: Any, plan: Any, n: Any) -> Any:
    plan[0].other.value = n
    return held.value


@pytest.mark.parametrize("make", [list, collections.deque, Plan, collections.UserList])
@pytest.mark.parametrize("function", [set_item, set_taken, set_of_attribute])
def test_objects_that_are_also_in_an_opaque_container(function: Any, make: Any) -> None:
    staged = ag.function(function)
    for n in (6, 7):
        held, item = Held(), Held()
        item.other = held  # type: ignore[attr-defined]
        plan = make([item if function is set_of_attribute else held])
        assert staged(held, plan, n) == n
        assert held.value == n
