"""pydantic: models as arguments, made and changed in staged functions; checked calls."""

import pytest

from tests.ecosystem.probes import Probes, package

pydantic = package("pydantic")
PROBES = Probes()


class Point(pydantic.BaseModel):
    x: float
    y: float = 0.0

    def length(self):
        return (self.x**2 + self.y**2) ** 0.5

    @pydantic.field_validator("y")
    @classmethod
    def not_too_large(cls, value):
        if value > 1e6:
            raise ValueError("too large")
        return value


class Path(pydantic.BaseModel):
    points: list[Point] = []
    name: str = "path"


@PROBES("Point(x=1.0)", "Point(x=-1.0, y=2.0)")
def attributes(p):
    return p.x + 1 if p.x > 0 else p.y


@PROBES("Point(x=3.0, y=4.0)")
def methods(p):
    return p.length() if p.x > 0 else 0.0, p.model_dump()


@PROBES("Path(points=[Point(x=1.0), Point(x=-2.0)])", "Path()")
def nested(path):
    total = 0.0
    for point in path.points:
        if point.x < 0:
            continue
        total += point.x
    return total, path.name


@PROBES("2.0", "-1.0", "'4.5'", "'a'")
def made(x):
    return Point(x=x).model_copy(update={"y": 1.0})


@PROBES("1.0", "1e7")
def refused(y):
    try:
        return Point(x=0, y=y).y
    except pydantic.ValidationError as error:
        return error.error_count()


@PROBES("Point(x=1.0), 2.0", "Point(x=-1.0), 2.0")
def changed(p, d):
    p.x += d
    if p.x > 2:
        p.y = p.x * 2
    return p.x, p


@PROBES("'3'", "3", "'a'")
def checked_calls(stage, value):
    @pydantic.validate_call
    @stage
    def double(x: int, *, k: float = 2) -> float:
        return x * k if x > 0 else 0.0

    return double(value), double(value, k="1.5")


@PROBES("'3'")
def checked_methods(stage, value):
    class Counter:
        total = 0

        @pydantic.validate_call
        @stage
        def add(self, x: int):
            self.total += x if x > 0 else 0
            return self.total

    counter = Counter()
    return counter.add(value), counter.add(5), counter.total


test_probe = PROBES.test()


def test_the_process_is_as_it_was():
    import autograph as ag

    def scaled(p):
        return p.x * 2 if p.x > 0 else 0.0

    ag.function(scaled)(Point(x=1.0))
    assert scaled(Point(x=2.0)) == 4.0
    with pytest.raises(pydantic.ValidationError):
        Point(x="a")
    assert Point(x="2").x == 2.0 and not hasattr(Point(x=1.0), "z")
