"""Objects of the user's under tracing: among one another, dataclasses and their like, context managers, errors."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import enum
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import autograph as ag
from autograph.errors import AutographError
from tests.runtime.objects import Tally, check, no_stand_in_is_left  # noqa: F401

# Objects among objects ------------------------------------------------------------------------------------------------


class Link:
    def __init__(self, value: Any, next: Any = None) -> None:
        self.value, self.next = value, next


def chain(link: Link, x: float) -> Any:
    total = 0.0
    node = link
    while node is not None:
        total += node.value
        node.value = x
        node = node.next
    link.next = Link(x, link.next)
    return total, link.next.value


def test_linked_objects() -> None:
    check(chain, "Link(1.0, Link(2.0)), 5.0", "Link(1.0), 5.0", "Link(1.0, Link(2.0, Link(3.0))), 5.0")


def swaps(a: Link, b: Link, x: float) -> Any:
    if x > 0:
        a, b = b, a
    a.value = x
    return a, b


def test_which_object_depends_on_values() -> None:
    check(swaps, "Link(1.0), Link(2.0), 5.0", "Link(1.0), Link(2.0), -5.0")


def identities(a: Link, b: Link, x: float) -> Any:
    a.next = b
    same = a.next is b
    if a is b:
        x += 1
    b.value = x
    return same, x, a.next.value, a is not b


def test_identity() -> None:
    check(identities, "Link(1.0), Link(2.0), 5.0")
    staged = ag.function(identities)
    for _ in range(2):
        link, other = Link(1.0), Link(1.0)
        assert staged(link, other, 2.0) == (True, 2.0, 2.0, True) and link.next is other
        assert staged(link, link, 2.0) == (True, 3.0, 3.0, False) and link.next is link


def in_containers(d: dict[str, Any], xs: list[Any], x: float) -> Any:
    d["a"].n += x
    for t in xs:
        t.advance(x)
        if t.n > 4:
            t.log.append(x)
    d["b"] = xs[0]
    xs.append(Tally(x))
    return d["b"].n, d["a"] is xs[0]


def test_objects_in_containers() -> None:
    check(in_containers, "{'a': Tally(1.0)}, [Tally(2.0), Tally(4.0)], 1.0", "{'a': Tally(1.0)}, [Tally(2.0)], -1.0")


class Layer:
    def __init__(self, n: int) -> None:
        self.w = np.ones((n, n))
        self.b = np.zeros(n)

    def __call__(self, x: Any) -> Any:
        y = x @ self.w + self.b
        return np.where(y > 0, y, 0.1 * y)


class Network:
    def __init__(self, n: int) -> None:
        self.layers = [Layer(n), Layer(n)]
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)


def trains(network: Network, x: Any, n: int) -> Any:
    for _ in range(n):
        y = network(x)
        for layer in network.layers:
            layer.w -= 0.1 * np.outer(x, y)
            layer.b = layer.b - 0.1 * y
    return network(x), network.calls, len(network)


def test_networks() -> None:
    check(trains, "Network(2), np.ones(2), 3", "Network(2), np.ones(2), 20", "Network(3), np.ones(3), 0")


GLOBAL = Tally(1.0)
NETWORK = Network(2)


def uses_globals(x: float) -> Any:
    GLOBAL.double = x
    GLOBAL.log.clear()
    return GLOBAL.double, NETWORK(np.array([x, 1.0]))


def test_global_objects() -> None:
    check(uses_globals, "1.0", "-2.0")


# Dataclasses, namedtuples, enums --------------------------------------------------------------------------------------


@dataclass
class Particle:
    x: float
    v: float = 0.0
    path: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.v > 5:
            print("fast", self.v)
            self.v = 5.0

    @property
    def energy(self) -> Any:
        return self.v**2 / 2

    def step(self, dt: Any) -> None:
        self.x += self.v * dt
        if self.x < 0:
            self.x, self.v = -self.x, -self.v
        self.path.append(self.x)


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 1.0
    norm: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "norm", self.x + self.y if self.x > 0 else self.y)

    def __add__(self, other: Point) -> Point:
        return Point(self.x + other.x, self.y + other.y)

    def scaled(self, k: Any) -> Point:
        return dataclasses.replace(self, x=self.x * k)


@dataclass
class System:
    particles: list[Particle]
    origin: Point = Point(0.0)

    def __len__(self) -> int:
        return len(self.particles)

    def energy(self) -> Any:
        return sum(p.energy for p in self.particles)


def steps(p: Particle, dt: float, n: int) -> Any:
    for _ in range(n):
        p.step(dt)
    return p.energy, p


def test_dataclasses() -> None:
    check(steps, "Particle(1.0, -1.0), 0.5, 4", "Particle(1.0, 7.0), 0.5, 0", "Particle(1.0, 7.0), 0.5, 20")


def makes_particles(x: float, v: float) -> Any:
    p = Particle(x, v)
    print(p, f"{p}")
    p.step(1.0)
    print(p)
    q = Particle(x, v, [x])
    return p, p == q, q == Particle(x, v, [x]), str(q)


def test_made_dataclasses() -> None:
    check(makes_particles, "1.0, 2.0", "1.0, 7.0", "-1.0, -7.0")


def frozen(p: Point, k: float) -> Any:
    q = p + p.scaled(k)
    if q == p:
        q = q.scaled(2)
    return q, q.norm, p == p.scaled(1.0), dataclasses.astuple(q)


def test_frozen_dataclasses() -> None:
    check(frozen, "Point(1.0), 2.0", "Point(0.0), 2.0", "Point(-1.0, 3.0), 2.0")


def writes_frozen(p: Point, k: float) -> Any:
    if k > 0:
        p.x = k  # type: ignore[misc]
    return p.x


def test_writes_to_frozen_dataclasses() -> None:
    check(writes_frozen, "Point(1.0), 2.0", "Point(1.0), -2.0")


def nested(s: System, dt: float) -> Any:
    for p in s.particles:
        p.step(dt)
    s.origin = s.origin + Point(dt)
    s.particles.append(Particle(dt))
    return s.energy(), len(s), s


def test_nested_dataclasses() -> None:
    check(nested, "System([Particle(1.0, 2.0), Particle(2.0, -7.0)]), 0.5", "System([]), 0.5")


class Pair(NamedTuple):
    x: Any
    y: Any = 2.0

    @property
    def total(self) -> Any:
        return self.x + self.y if self.x > 0 else self.y

    def scaled(self, k: Any) -> Any:
        return self._replace(x=self.x * k)

    def __mul__(self, k: Any) -> Any:  # type: ignore[override]
        return Pair(self.x * k, self.y * k) if k > 0 else self


def pairs(p: Pair, k: float) -> Any:
    q = p * k
    x, y = q.scaled(k)
    return q, x + y, q.total, p.total, Pair(k), q[0], len(q)


def test_namedtuples() -> None:
    check(pairs, "Pair(1.0), 2.0", "Pair(-1.0, 5.0), -2.0")


class Mode(enum.Enum):
    FAST = 2
    SLOW = 1

    def rate(self, x: Any) -> Any:
        return x * self.value if x > 0 else 0.0

    @property
    def inverse(self) -> Any:
        return 1 / self.value

    def __str__(self) -> str:
        return f"mode {self.name}"


def enums(mode: Mode, x: float) -> Any:
    if x > 1:
        mode = Mode.SLOW
    print(mode)
    return mode.rate(x), mode.inverse, mode is Mode.SLOW, f"{mode}"


def test_enums() -> None:
    check(enums, "Mode.FAST, 1.0", "Mode.FAST, 2.0", "Mode.SLOW, -2.0")


# Context managers -----------------------------------------------------------------------------------------------------


class Timer:
    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def __enter__(self) -> Any:
        self.log.append("in")
        print("enter")
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        print("exit", kind and kind.__name__)
        self.log.append("out")
        return kind is KeyError


def managed(log: list[Any], x: float) -> Any:
    with Timer(log) as timer:
        x = x + 1
        if x > 5:
            raise KeyError(x)
        if x > 3:
            return "early", len(timer.log)
    return x, log


def test_managers() -> None:
    check(managed, "[], 1.0", "[], 3.0", "[], 7.0")


@contextlib.contextmanager
def noted(log: list[Any], x: float) -> Iterator[float]:
    print("begin", x)
    log.append(x)
    try:
        yield x * 2
    finally:
        log.append(-x)
        print("end")


def generator_managed(log: list[Any], x: float) -> Any:
    with noted(log, x) as y:
        total = x + y
    if total > 5:
        with noted(log, y):
            total = 1 / (total - 9)
    return total


def test_generator_managers() -> None:
    check(generator_managed, "[], 1.0", "[], 2.0", "[], 3.0")


# Errors ---------------------------------------------------------------------------------------------------------------


class ModelError(Exception):
    def __init__(self, code: Any, detail: str = "") -> None:
        super().__init__(f"error {code}: {detail}")
        self.code = code

    def __str__(self) -> str:
        return f"<{self.code}> " + super().__str__()


def raises(x: float) -> Any:
    if x > 2:
        raise ModelError(x, "too much")
    return x


def test_own_exceptions() -> None:
    check(raises, "1.0", "3.0")


class Failing:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, other: Any) -> Any:
        self.x += 1
        if other > 2:
            raise ModelError(other)
        return self.x + other

    @property
    def value(self) -> Any:
        self.x += 1
        return 1 / self.x


def fails(f: Failing, x: float) -> Any:
    return f + x, f.value


def test_errors_in_special_methods() -> None:
    check(fails, "Failing(1.0), 1.0", "Failing(1.0), 3.0", "Failing(-2.0), 1.0")


class Concrete:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __len__(self) -> int:
        return int(self.x)

    def __getitem__(self, i: Any) -> Any:
        if i >= 3:
            raise IndexError(i)
        return self.x + i


def needs_values(c: Concrete) -> Any:
    return [10] * len(c)


def test_special_methods_whose_value_is_needed() -> None:
    check(needs_values, "Concrete(2.0)", "Concrete(3)", "Concrete(2.0)")


def by_index(c: Concrete) -> Any:
    return [x for x in c], sum(c)


class Measured:
    def __init__(self, length: Any) -> None:
        self.length, self.asked = length, 0

    def __iter__(self) -> Iterator[int]:
        return iter([3, 1])

    def __len__(self) -> Any:
        self.asked += 1
        return self.length


class Hinted(Measured):
    def __len__(self) -> Any:
        raise TypeError("not known")

    def __length_hint__(self) -> Any:
        self.asked += 1
        return self.length


def lists(measured: Measured) -> Any:
    return list(measured), tuple(measured), sorted(measured), set(measured), sum(measured), measured.asked


def test_lengths_that_lists_ask_for() -> None:
    check(lists, "Measured(2)", "Measured(7)", "Measured(-1)", "Measured(None)", "Hinted(2)", "Hinted(-1)")


def test_iteration_by_index() -> None:
    check(by_index, "Concrete(2.0)", "Concrete(3)")


def test_a_failed_trace_leaves_nothing() -> None:
    @ag.function
    def refused(t: Tally, a: Any) -> Any:
        t.double = 5.0
        return [1] * int(t.n * a.sum())

    tally, getter = Tally(1.0), Tally.double.fget
    for _ in range(2):
        with contextlib.suppress(AutographError):
            refused(tally, np.ones(2))
    assert type(tally) is Tally and Tally.double.fget is getter


def test_copies() -> None:
    check(copies, "Tally(1.0), 2.0")


def copies(t: Tally, x: float) -> Any:
    other = copy.copy(t)
    third = copy.deepcopy(t)
    other.n += x
    third.log.append(x)
    return t.n, other.n, third.log, other.log is t.log


class Single:
    instance: Any = None

    def __new__(cls, *args: Any) -> Any:
        if cls.instance is None:
            cls.instance = super().__new__(cls)
        return cls.instance


def test_an_object_that_its_class_keeps() -> None:
    """Kept by traced code, it is none of those that the class had before."""

    @ag.function
    def f(n: int) -> Any:
        Single.instance = None
        a, b = Single(n), Single(n + 1)
        a.value = n
        return a is b, b.value

    for n in range(5):
        assert f(n) == (True, n)
        assert Single.instance.value == n
    assert len(f.traces) == 2


class Asked:
    """Counts how often it is asked for its truth."""

    def __init__(self, value: int, answers: list[int]) -> None:
        self.value = value
        self.answers = answers

    def __bool__(self) -> bool:
        self.answers.append(self.value)
        return self.value > 0


def test_conditions_of_several_objects_are_staged() -> None:
    """One trace for all: each is asked where it stands, at most once."""

    @ag.function
    def f(a: int, b: int, c: int, answers: list[int]) -> int:
        found = 0
        if Asked(a, answers) and Asked(b, answers) and Asked(c, answers):
            found += 1
        if Asked(a, answers) or Asked(b, answers) or Asked(c, answers):
            found += 2
        return found

    for a, b, c in itertools.product((0, 1), (0, 2), (0, 3)):
        answers: list[int] = []
        asked_for_and = [a, b, c] if a and b else [a, b] if a else [a]
        asked_for_or = [a] if a else [a, b] if b else [a, b, c]
        assert f(a, b, c, answers) == (a > 0 and b > 0 and c > 0) + 2 * (a + b + c > 0)
        assert answers == asked_for_and + asked_for_or
    assert len(f.traces) == 1
