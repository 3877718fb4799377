"""Everyday functions over objects of users' classes, which they make, read and update."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any


class Body:
    __slots__ = ("px", "py", "speed")

    def __init__(self, k: float) -> None:
        self.px, self.py = math.cos(k), math.sin(k)
        self.speed = self.px * self.px + 1.0

    def step(self, dt: float) -> None:
        self.px += dt * self.speed
        self.py -= dt


@dataclass
class Vector:
    x: float
    y: float

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y)

    @property
    def norm(self) -> float:
        return math.sqrt(self.x * self.x + self.y * self.y)


class Shape:
    def __init__(self, name: str, size: float) -> None:
        self.name = name
        self.size = size

    def area(self) -> float:
        raise NotImplementedError


class Square(Shape):
    def area(self) -> float:
        return self.size * self.size


class Circle(Shape):
    def __init__(self, size: float) -> None:
        super().__init__("circle", size)
        self.children: list[Shape] = []

    def area(self) -> float:
        return 3.14 * self.size * self.size


Entry = namedtuple("Entry", "key value")


class Stack:
    def __init__(self) -> None:
        self.items: list[float] = []
        self.count = 0

    def push(self, x: float) -> None:
        self.items.append(x)
        self.count += 1

    def pop(self) -> float:
        self.count -= 1
        return self.items.pop()


class Model:
    """What methods that only set attributes cost."""

    def one(self, a: Any) -> None:
        self.a = a

    def three(self, a: Any, b: Any, c: Any) -> None:
        self.a, self.b, self.c = a, b, c

    def lists(self, a: Any) -> None:
        self.a = a
        self.trees: list[Any] = []
        for _ in range(10):
            self.trees.append(a)

    def parts(self) -> None:
        self.subs = [Model() for _ in range(10)]


def make_bodies(n: int) -> int:
    bodies = []
    for k in range(n):
        bodies.append(Body(k))
    return len(bodies)


def move(bodies: list[Body]) -> None:
    for b in bodies:
        b.step(0.1)


def simulate(bodies: list[Body], n: int) -> None:
    for _ in range(n):
        for b in bodies:
            b.step(1e-9)


def energy(bodies: list[Body]) -> float:
    e = 0.0
    for b in bodies:
        e += b.px * b.px + b.py
    return e


def update(body: Body, n: int) -> float:
    for _ in range(n):
        body.step(1e-9)
    return body.px


def walk(n: int) -> float:
    at = Vector(0.0, 0.0)
    for k in range(n):
        at = at + Vector(math.cos(k), 1.0)
    return at.norm


def vectors(n: int) -> float:
    made = [Vector(k * 0.5, k + 1.0) for k in range(n)]
    found = 0.0
    for each in made:
        found += each.norm
    return found


def shapes(n: int) -> float:
    found: list[Shape] = []
    for k in range(n):
        found.append(Circle(k * 1.0) if k % 2 else Square("square", k * 2.0))
    return sum(each.area() for each in found)


def entries(n: int) -> int:
    made = [Entry(k % 7, k) for k in range(n)]
    total = 0
    for entry in made:
        if entry.key == 3:
            total += entry.value
    return total


def by_name(n: int) -> float:
    bodies = {}
    for k in range(n):
        bodies[k] = Body(k)
    total = 0.0
    for k in range(n):
        total += bodies[k].px
    return total


def stack(n: int) -> float:
    made = Stack()
    for k in range(n):
        made.push(k * 0.5)
    total = 0.0
    while made.count:
        total += made.pop()
    return total


def set_one(model: Model) -> None:
    model.one(1)


def set_three(model: Model) -> None:
    model.three(1, 2.5, "c")


def set_lists(model: Model) -> None:
    model.lists(1)


def set_parts(model: Model) -> None:
    model.parts()


def _bodies(n: int) -> list[Body]:
    return [Body(k) for k in range(n)]


ARGUMENTS: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    **dict.fromkeys(("make_bodies", "walk", "vectors", "shapes", "entries", "by_name", "stack"), ((10,), (1000,))),
    **{name: ((_bodies(10),), (_bodies(1000),)) for name in ("move", "energy")},
    "simulate": ((_bodies(5), 100), (_bodies(100), 100)),
    "update": ((Body(1), 10), (Body(2), 1000)),
    **{name: ((Model(),), (Model(),)) for name in ("set_one", "set_three", "set_lists", "set_parts")},
}
