"""attrs: objects as arguments, made, changed, compared and converted in staged functions."""

from tests.ecosystem.probes import Probes, package

attrs = package("attrs")
PROBES = Probes()


@attrs.define
class Account:
    owner: str
    balance: float = attrs.field(default=0.0, validator=attrs.validators.instance_of((int, float)))

    def deposit(self, amount):
        if amount > 0:
            self.balance += amount
        return self


@attrs.frozen
class Point:
    x: float = attrs.field(converter=float)
    y: float = 0.0

    @property
    def length(self):
        return (self.x**2 + self.y**2) ** 0.5


@attrs.define(slots=False)
class Open:
    items: list = attrs.Factory(list)
    total: float = 0.0

    def __attrs_post_init__(self):
        self.total = sum(self.items)


@PROBES("Account('a', 1.0), 2.0", "Account('a', 1.0), -2.0")
def changed(account, amount):
    account.deposit(amount).deposit(1)
    return account.balance, account.owner


@PROBES("Point(3.0, 4.0)", "Point(-3, 4.0)")
def read(point):
    return point.length if point.x > 0 else -point.length


@PROBES("2", "'2.5'", "'a'")
def made(x):
    return Point(x), attrs.evolve(Point(x), y=1.0), Account("b", 1)


@PROBES("'a'", "1")
def validated(balance):
    try:
        return Account("c", balance).balance
    except TypeError:
        return "refused"


@PROBES("Point(1.0), Point(1.0, 2.0)")
def compared(a, b):
    return a == b, a == Point(1.0), hash(a) == hash(Point(1.0)), attrs.asdict(b), sorted([b, a], key=lambda p: p.y)


@PROBES("[1.0, 2.5]")
def open_objects(items):
    thing = Open(items)
    for item in items:
        if item > 1:
            thing.total += item
    return thing, thing.total


test_probe = PROBES.test()
