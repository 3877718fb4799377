"""Classes of the user's under tracing: what Python calls implicitly is traced, and instances come out as they are."""

from __future__ import annotations

import abc
import math
from typing import Any

import numpy as np  # noqa: F401  (for the arguments)

import autograph as ag
from tests.runtime.objects import Tally, check, no_stand_in_is_left  # noqa: F401

# Special methods ------------------------------------------------------------------------------------------------------


class Vector:
    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Vector):
            return NotImplemented
        print("adding", self.parts[0])
        return Vector(*[a + b for a, b in zip(self.parts, other.parts)])

    def __radd__(self, other: Any) -> Any:
        return Vector(*[other + a for a in self.parts])

    def __iadd__(self, other: Any) -> Any:
        for i in range(len(self.parts)):
            self.parts[i] += other.parts[i] if other.parts[i] > 0 else 1
        return self

    def __neg__(self) -> Any:
        return Vector(*[-a for a in self.parts])

    def __matmul__(self, other: Any) -> Any:
        total = 0
        for a, b in zip(self.parts, other.parts):
            total += a * b
        return total

    def __getitem__(self, i: Any) -> Any:
        print("get", i)
        return self.parts[i]

    def __setitem__(self, i: Any, value: Any) -> None:
        print("set", i, value)
        if value < 0:
            value = -value
        self.parts[i] = value

    def __delitem__(self, i: Any) -> None:
        del self.parts[i]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Any:
        print("iterating")
        return iter(self.parts)

    def __contains__(self, x: Any) -> bool:
        for part in self.parts:
            if part == x:
                return True
        return False

    def __eq__(self, other: Any) -> bool:
        return bool(self.parts[0] == other.parts[0])

    def __lt__(self, other: Any) -> bool:
        return self.parts[0] < other.parts[0]

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self.parts[0] != 0

    def __call__(self, x: Any) -> Any:
        result = 0
        for part in self.parts:
            result = result * x + part
        if result < 0:
            print("negative", result)
        return result

    def __repr__(self) -> str:
        return f"Vector{tuple(self.parts)}"

    def __abs__(self) -> Any:
        return math.sqrt(self @ self)


def arithmetic(a: Vector, b: Vector, k: float) -> Any:
    c = a + b
    c = -(k + c)
    return c, a @ c, abs(b)


def test_operators() -> None:
    check(arithmetic, "Vector(1.0, 2.0), Vector(3.0, 4.0), 2.0", "Vector(-1, 2), Vector(3, 4), 5")


def in_place(a: Vector, b: Vector, n: int) -> Any:
    same = a
    for _ in range(n):
        a += b
    return a is same, a.parts


def test_operators_in_place() -> None:
    check(in_place, "Vector(1.0, 2.0), Vector(3.0, -4.0), 3", "Vector(1, 2), Vector(0, 4), 1")


def wrong_operand(a: Vector, x: float) -> Any:
    if x > 1:
        return a * x  # type: ignore[operator]
    return a + x


def test_an_operator_that_is_not_there() -> None:
    check(wrong_operand, "Vector(1.0), 2.0", "Vector(1.0), 0.5")


def items(a: Vector, i: int, x: float) -> Any:
    a[0] = x
    a[i] = a[0] - 1
    a[1] += x
    return a[i] * 2, len(a)


def test_items() -> None:
    check(items, "Vector(1.0, 2.0), 1, -3.0", "Vector(1.0, 2.0), 0, 0.5", "Vector(1, 2), 5, 1.0")


def deletes(a: Vector, x: float) -> Any:
    if x > 0:
        del a[0]
    return len(a)


def test_deleted_items() -> None:
    check(deletes, "Vector(1.0, 2.0), 1.0", "Vector(1.0, 2.0), -1.0")


def walks(a: Vector) -> Any:
    total = 0
    for x in a:
        if x > 1:
            total += x
    return total, [2 * x for x in a], list(a), sum(a), max(a), tuple(x + 1 for x in a), sorted(a)


def test_iteration() -> None:
    check(walks, "Vector(1.0, 2.0)", "Vector(1.0, 2.0, -3.0)")


def unpacks(a: Vector) -> Any:
    first, *others = a
    x, y = a
    return first, others, x + y


def test_unpacking() -> None:
    check(unpacks, "Vector(1.0, 2.0)", "Vector(1, 5)", "Vector(1, 2, 3)")


def truths(a: Vector, b: Vector) -> Any:
    seen = []
    if a:
        seen.append("a")
    if not b:
        seen.append("not b")
    c = a and b
    d = a or b
    n = 0
    while a:
        a.parts[0] -= 1
        n += 1
    if not (b or n):
        raise ValueError("both are zero")
    return seen, c is b, d is a, n, 1 if b else 2, bool(a)


def test_truth() -> None:
    check(
        truths,
        "Vector(1.0), Vector(0.0)",
        "Vector(0.0), Vector(3.0)",
        "Vector(2.0), Vector(2.0)",
        "Vector(0), Vector(0)",
    )


def truth_of_an_array(a: Vector) -> Any:
    return 1 if a else 2


def test_truth_of_arrays() -> None:
    check(truth_of_an_array, "Vector(np.array(1.0))", "Vector(np.array(0.0))", "Vector(np.zeros(2))")


def compares(a: Vector, b: Vector, x: float) -> Any:
    if a == b:
        x += 1
    if a < b and x in a:
        x += 10
    return x, x not in b, a != b, a > b, [a, b].index(b)


def test_comparisons() -> None:
    check(compares, "Vector(1.0), Vector(1.0), 1.0", "Vector(1.0), Vector(2.0), 1.0", "Vector(3.0), Vector(2.0), 1.0")


def calls_objects(f: Vector, xs: Any) -> Any:
    return [f(x) for x in xs], f(2), list(map(f, xs))


def test_callable_objects() -> None:
    check(calls_objects, "Vector(1.0, -2.0), [1.0, 2.0, 0.5]", "Vector(1.0, -2.0), np.array([1.0, 2.0, 0.5])")


def texts(a: Vector, x: float) -> Any:
    print(a, "and", x, sep="; ")
    if x > 0:
        print(f"{a} {a!r:>30}")
    a.parts.append(x)
    return str(a), repr(a), f"<{a}>", "{}".format(a), "%s" % a, [str(each) for each in (a, a)]


def test_texts() -> None:
    check(texts, "Vector(1.0, -2.0), 3.0", "Vector(np.float64(1)), -3.0")


# Attributes -----------------------------------------------------------------------------------------------------------


def properties(t: Tally, x: float) -> Any:
    before = t.double
    t.double = x
    t.double += 1
    other = t.double
    del t.double
    return before, other, t.n


def test_properties() -> None:
    check(properties, "Tally(1.0), 2.0", "Tally(5.0), -2.0", "Tally(5), 1")


def conditional_property(t: Tally, x: float, n: int) -> Any:
    for i in range(n):
        if x > i:
            t.double = x
        else:
            t.double -= 1
    return t.double


def test_properties_in_branches_and_loops() -> None:
    check(conditional_property, "Tally(1.0), 2.0, 4", "Tally(1.0), 2.0, 0", "Tally(9.0), -2.0, 9")


def cached(t: Tally) -> Any:
    first = t.expensive
    t.n += 1
    return first is t.expensive, first, sorted(vars(t))


def test_cached_property() -> None:
    check(cached, "Tally(1.0)", "Tally(3)")


def cached_on_one_path(t: Tally, x: float) -> Any:
    if x > 0:
        x += t.expensive[0]
    return x, "expensive" in vars(t)


def test_cached_property_on_one_path() -> None:
    check(cached_on_one_path, "Tally(1.0), 1.0", "Tally(1.0), -1.0")


def counters(n: int, x: float) -> Any:
    tallies = [Tally.of(x), Tally()]
    for i in range(n):
        Tally.made += i
        tallies[0].advance(x)
    return Tally.made, tallies[0].n, tallies


def test_class_attributes() -> None:
    check(counters, "3, 1.0", "0, 1.0", "12, -2.0")


def made_in_a_loop(n: int, x: float) -> Any:
    total = 0.0
    for i in range(n):
        total += Tally(x + i).advance(1).n
    return total, Tally.made


def test_objects_made_in_loops() -> None:
    check(made_in_a_loop, "3, 1.0", "20, 1.0", "0, 1.0")


def kept_in_a_list(n: int, x: float) -> Any:
    kept = []
    for i in range(n):
        if x > i:
            kept.append(Tally(x))
    return kept, Tally.made


def test_objects_kept_in_a_growing_list() -> None:
    check(kept_in_a_list, "3, 1.0", "20, 4.5", "0, 1.0")


def changed_after_being_kept(x: float) -> Any:
    t = Tally(x)
    kept = []
    if x > 0:
        kept.append(t)
    t.n += 1
    return kept, t


def test_objects_changed_after_being_kept() -> None:
    check(changed_after_being_kept, "1.0", "-1.0")


def printed_then_changed(x: float) -> Any:
    t = Vector(x)
    if x > 0:
        print(t)
        print([t])
    t.parts[0] += 1
    print(t, [t])
    return t


def test_objects_printed_and_changed() -> None:
    check(printed_then_changed, "1.0", "-1.0")


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x: Any, y: Any = 0) -> None:
        self.x, self.y = x, y

    def __getstate__(self) -> Any:
        return {"x": self.x, "y": self.y}

    def move(self, by: Any) -> None:
        self.x += by
        if self.x > 10:
            self.y = self.x - 10
            self.x = 10


def moves(s: Slotted, by: float, n: int) -> Any:
    for _ in range(n):
        s.move(by)
    t = Slotted(s.x, by)
    t.move(1)
    return s.x, s.y, t.x, t.y


def test_slots() -> None:
    check(moves, "Slotted(1.0), 2.0, 8", "Slotted(1.0), 2.0, 0")


def slotted_result(x: float) -> Any:
    s = Slotted(x)
    if x > 0:
        s.y = 5.0
    return [s.x, s.y], s


def test_slotted_result() -> None:
    staged = ag.function(slotted_result)
    for x in (1.0, -1.0, 2.0):
        (values, made), (wanted, _) = staged(x), slotted_result(x)
        assert values == wanted == [made.x, made.y] and type(made) is Slotted


class Watched:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __setattr__(self, name: str, value: Any) -> None:
        print("set", name, value)
        super().__setattr__(name, value if not isinstance(value, float) or value < 10 else 10.0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        print("missing", name)
        return self.value + 1 if name == "next" else len(name)

    def __delattr__(self, name: str) -> None:
        print("delete", name)
        object.__delattr__(self, name)


def watched(w: Watched, x: float) -> Any:
    w.value = x
    if x > 3:
        w.value = x * 5
    w.other = 1.0
    del w.other
    made = Watched(x)
    return w.value, w.next, w.nothing, made.value, hasattr(w, "other")


def test_own_attribute_access() -> None:
    check(watched, "Watched(1.0), 2.0", "Watched(1.0), 4.0")


class Celsius:
    """A descriptor."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = "_" + name

    def __get__(self, thing: Any, owner: Any = None) -> Any:
        print("get")
        return thing.__dict__[self.name] + 273 if thing is not None else self

    def __set__(self, thing: Any, value: Any) -> None:
        print("set", value)
        if value < -273:
            raise ValueError(f"{value} is too cold")
        setattr(thing, self.name, value)


class Oven:
    degrees = Celsius()

    def __init__(self, degrees: Any) -> None:
        self.degrees = degrees


def heats(oven: Oven, x: float) -> Any:
    oven.degrees = x
    if x > 0:
        oven.degrees = oven.degrees - 272
    return oven.degrees


def test_descriptors() -> None:
    check(heats, "Oven(1.0), 2.0", "Oven(1.0), -4.0", "Oven(1.0), -400.0")


# Inheritance ----------------------------------------------------------------------------------------------------------


class Shape(abc.ABC):
    sides = 0

    def __init__(self, size: Any) -> None:
        self.size = size

    @property
    @abc.abstractmethod
    def area(self) -> Any: ...

    @property
    def is_large(self) -> bool:
        return self.area > 10

    def __lt__(self, other: Any) -> bool:
        return self.area < other.area

    def grow(self, by: Any) -> None:
        self.size *= by


class Square(Shape):
    sides = 4

    @property
    def area(self) -> Any:
        return self.size**2 if self.size > 0 else 0.0

    def grow(self, by: Any) -> None:
        if by > 2:
            by = 2
        super().grow(by)


class Cube(Square):
    @property
    def area(self) -> Any:
        return 6 * super().area

    def __add__(self, other: Any) -> Any:
        return type(self)(self.size + other.size)


def shapes(s: Shape, t: Shape, by: float) -> Any:
    s.grow(by)
    larger = "s" if t < s else "t"
    return larger, s.area, s.is_large, s.sides, type(s).__name__, isinstance(s, Square), s.__class__ is type(s)


def test_inheritance() -> None:
    check(shapes, "Square(1.0), Cube(2.0), 3.0", "Cube(1.0), Square(2.0), 1.5", "Cube(-1.0), Square(2.0), 1.5")


def adds_cubes(a: Cube, x: float) -> Any:
    b = a + Cube(x)
    return b, type(b) is Cube, b.__class__.__name__, b.area


def test_results_have_their_own_class() -> None:
    check(adds_cubes, "Cube(1.0), 2.0", "Cube(1.0), -2.0")


def abstract(x: float) -> Any:
    return Shape(x)  # type: ignore[abstract]


def test_abstract_classes() -> None:
    check(abstract, "1.0")
