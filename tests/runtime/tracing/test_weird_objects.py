"""Objects that answer oddly, or not at all, are asked nothing: staged functions do with them what plain ones do."""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
import types
import weakref
from typing import Any
from unittest import mock

import numpy as np
import pytest

import autograph as ag


def failing(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        raise RuntimeError(f"{name} was asked")

    return type(f"Fails{name}", (), {name: method})()


class Owner:
    v = 4.0


class TellsAnotherClass:
    __class__ = dict  # type: ignore[assignment]


class HidesItsClass:
    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("__class__ was asked")


class HidesItsDict:
    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("__dict__ was asked")


class Slots:
    __slots__ = ("filled", "v")


class Meta(type):
    def __getattr__(cls, name: str) -> Any:
        raise RuntimeError(f"the class was asked for {name}")

    def __setattr__(cls, name: str, value: Any) -> None:
        raise TypeError("the class takes no attributes")

    def __instancecheck__(cls, thing: object) -> bool:
        raise RuntimeError("the class was asked about its instances")


class Guarded(metaclass=Meta):
    v = 2.0

    def __add__(self, other: float) -> float:
        return 10.0 + other


class Lazy(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return 5.0


class Point(ctypes.Structure):
    _fields_ = [("v", ctypes.c_double)]  # noqa: RUF012


OWNER = Owner()
METHODS = "__getattr__ __getattribute__ __eq__ __len__ __bool__ __iter__ __repr__ __dir__ __hash__ __array__".split()
MAKERS: dict[str, Any] = {
    **{name: lambda name=name: failing(name) for name in METHODS},
    "a weak proxy": lambda: weakref.proxy(OWNER),
    "a dead weak proxy": lambda: weakref.proxy(Owner()),
    "a dead weak reference": lambda: weakref.ref(Owner()),
    "a proxy of a function": lambda: weakref.proxy(used),
    "another class": TellsAnotherClass,
    "a hidden class": HidesItsClass,
    "a hidden dict": HidesItsDict,
    "empty slots": Slots,
    "a guarded class": Guarded,
    "a lazy module": lambda: Lazy("lazy"),
    "a structure of C": lambda: Point(2.0),
    "an array of C": lambda: (ctypes.c_double * 2)(1.0, 2.0),
    "memory": lambda: memoryview(bytearray(b"abc")),
    "mapped memory": lambda: mmap.mmap(-1, 16),
    "a lock": threading.Lock,
    "a frame": lambda: sys._getframe(),
    "a mock": lambda: mock.Mock(v=2.0, return_value=3.0),
    "a mock of a dict": lambda: mock.Mock(spec=dict, return_value=3.0),
    "a mock of an array": lambda: mock.Mock(spec=np.ndarray, return_value=3.0),
}


def unused(thing, x):
    return x * 2 if x > 0 else x


def kept(thing, x):
    holder = Owner()
    holder.thing, holder.k = thing, 2.0
    return holder.k * x if x > 0 else x


def used(thing, x):
    return thing.v * x if x > 0 else x


def compared(thing, x):
    return (x if thing == x else x + 1), thing is None


def added(thing, x):
    return thing + x


def added_to(thing, x):
    return x + thing


def asked(thing, x):
    return x if thing else x + 1


def measured(thing, x):
    return len(thing) + x


def iterated(thing, x):
    for each in thing:
        x = x + 1
    return x


def searched(thing, x):
    return x in thing


def called(thing, x):
    return thing(x)


def indexed(thing, x):
    return thing["v"] * x


def instance(thing, x):
    return x if isinstance(thing, (dict, float)) else x + 1


def assigned(thing, x):
    thing.v = x
    return thing.v + 1


PROGRAMS = [
    *(unused, kept, used, compared, added, added_to, asked, measured, iterated, searched, called, indexed, instance),
    assigned,
]


def outcome(function: Any, *args: Any) -> Any:
    try:
        return "returns", function(*args)
    except Exception as error:
        return type(error), str(error)


THING: Any = None


@pytest.mark.parametrize("place", ["argument", "attribute", "list", "dict", "tuple", "closure", "global"])
@pytest.mark.parametrize("name", MAKERS)
def test_as_plain_python(name, place, monkeypatch):
    for program in PROGRAMS:
        expected = outcome(program, MAKERS[name](), 3.0)
        thing, holder = MAKERS[name](), Owner()
        holder.thing, parts, named, pair = thing, [1.0, thing], {"thing": thing}, (thing, 2)  # noqa: B023
        monkeypatch.setitem(globals(), "THING", thing)
        if place == "argument":
            function, args = program, (thing, 3.0)
        else:
            reads = {
                "attribute": lambda x, p=program, h=holder: p(h.thing, x),
                "list": lambda x, p=program, h=parts: p(h[1], x),
                "dict": lambda x, p=program, h=named: p(h["thing"], x),
                "tuple": lambda x, p=program, h=pair: p(h[0], x),
                "closure": lambda x, p=program, h=thing: p(h, x),
                "global": lambda x, p=program: p(THING, x),
            }
            function, args = reads[place], (3.0,)
        assert outcome(ag.function(function), *args) == expected, program.__name__


def test_a_dead_proxy_out_of_sight():
    class Model:
        def __init__(self, owner):
            self.scale, self.owner, self.list = 2.0, weakref.proxy(owner), [weakref.proxy(owner)]

    owner = Owner()
    model = Model(owner)
    staged, of_argument = ag.function(lambda x: model.scale * x), ag.function(lambda model, x: model.scale * x)
    reads = ag.function(lambda x: model.owner.v * x + model.list[0].v)
    assert staged(3.0) == of_argument(model, 3.0) == 6.0
    assert reads(3.0) == 16.0
    del owner
    assert staged(3.0) == of_argument(model, 3.0) == 6.0
    with pytest.raises(ReferenceError):
        reads(3.0)


def test_a_mock_is_called_each_time():
    api = mock.Mock(return_value=2.0)
    staged = ag.function(lambda x: api.get(x) is None or api("text") * x)
    for x in (1.0, 2.0, 3.0):
        staged(x)
    assert api.get.call_args_list == [mock.call(1.0), mock.call(2.0), mock.call(3.0)]
    assert api.call_count == 3


class Held:
    pass


class Refused(Exception):
    pass


def makes_both(x, n):
    made, error = Held(), Refused(x)
    made.value = x
    chosen = None
    if n > 1:
        chosen = made
    return type(chosen).__module__, chosen and chosen.value, [error, error][0].args


def handles(x, n):
    try:
        if n > 1:
            raise Refused(x)
    except Refused:
        raise ValueError(n)
    return n


@pytest.mark.parametrize("module", [None, 5, [], "", "autograph_tools", "numpy.ours"])
def test_what_a_program_says_of_the_module_of_a_class(module, monkeypatch):
    for kind in (Held, Refused):
        monkeypatch.setattr(kind, "__module__", module)
    for function in (makes_both, handles, lambda held, n: held):
        staged = ag.function(function)
        for n in (0, 3):
            argument = Held() if function not in (makes_both, handles) else 2.5
            assert outcome(staged, argument, n) == outcome(function, argument, n)



def test_a_class_that_is_named_as_if_it_was_of_autograph(monkeypatch):
    monkeypatch.setattr(Refused, "__module__", "autograph_tools")

    def handling(x):
        try:
            raise Refused(x)
        except Refused:
            raise ValueError(x)

    with pytest.raises(ValueError) as caught:
        ag.function(handling)(2.5)
    assert type(caught.value.__context__) is Refused


@pytest.mark.parametrize("name", [None, 5, "numpy.ours"])
def test_what_a_program_says_of_the_name_of_a_module(name):
    module = types.ModuleType("ours")
    module.scale, module.function, module.__name__ = 3.0, lambda x: x + 1, name
    module.function.__module__ = name
    nameless = types.ModuleType("nameless")
    nameless.scale = 2.0
    del nameless.__name__

    def uses(x):
        return module.function(x) * module.scale + nameless.scale, [module.function] * 2, nameless

    assert ag.function(uses)(2.5) == uses(2.5)
