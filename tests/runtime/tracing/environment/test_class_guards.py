"""Each call sees the present attributes of classes, which may be changed, patched and restored at any time."""

from __future__ import annotations

import abc
import collections
import dataclasses
import datetime
import enum
import functools
import pathlib
import threading
import time
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

import autograph as ag
from autograph.common import cpython_internals
from autograph.runtime.tracing.environment.guards import ClassFacts
from tests.runtime.changing import check_each_step
from tests.runtime.objects import no_stand_in_is_left  # noqa: F401

# Each case makes classes, yields a function of x, and changes something before each further `yield`.
Case = Callable[[], Iterator[Any]]
CASES: list[Case] = []


def case(function: Case) -> Case:
    CASES.append(function)
    return function


# What a class has under a name ----------------------------------------------------------------------------------------


class Plain:
    def __init__(self, v: Any = 1.5) -> None:
        self.v = v

    @property
    def q(self) -> Any:
        return self.v * 2

    def m(self) -> Any:
        return self.v + 1

    @classmethod
    def c(cls) -> Any:
        return 1

    @staticmethod
    def s() -> Any:
        return 1

    def __len__(self) -> int:
        return 1


def fresh(base: type = Plain) -> Any:
    """A class of its own with the members of another one."""
    members = {name: value for name, value in vars(base).items() if name not in ("__dict__", "__weakref__")}
    return type(base)(base.__name__, base.__bases__, members)


@case
def a_property_is_replaced():
    C = fresh()
    o = C()
    yield lambda x: (o.q, x)
    C.q = property(lambda self: 4)
    yield
    C.q = property(lambda self: self.v * 7)
    yield
    C.q = Plain.q
    yield


@case
def a_property_is_patched():
    C = fresh()
    o = C()
    yield lambda x: (o.q, x)
    with mock.patch.object(C, "q", new_callable=mock.PropertyMock, return_value=7):
        yield
    yield


@case
def a_property_mock_changes_its_value():
    C = fresh()
    o = C()
    yield lambda x: (o.q, x)
    with mock.patch.object(C, "q", new_callable=mock.PropertyMock, return_value=7) as patched:
        yield
        patched.return_value = 8
        yield


@case
def a_property_becomes_a_plain_attribute():
    C = fresh()
    o = C()
    yield lambda x: (o.q, x)
    C.q = 12
    yield
    del C.q
    o.q = 3
    yield


@case
def an_attribute_becomes_a_property():
    C = fresh()
    C.k = 5
    o = C()
    yield lambda x: (o.k + x, o.v)
    C.k = property(lambda self: 9)
    yield
    C.v = property(lambda self: 3, lambda self, value: None)
    yield


@case
def a_method_is_patched():
    C = fresh()
    o = C()
    yield lambda x: o.m() + x
    with mock.patch.object(C, "m", lambda self: 9):
        yield
    with mock.patch.object(C, "m", return_value=10):
        yield
    with mock.patch.object(o, "m", lambda: 11):
        yield
    yield


@case
def a_class_method_is_patched():
    C = fresh()
    o = C()
    yield lambda x: (o.c() + x, C.c())
    with mock.patch.object(C, "c", return_value=9):
        yield
    C.c = classmethod(lambda cls: cls.__name__)
    yield


@case
def a_static_method_is_patched():
    C = fresh()
    o = C()
    yield lambda x: (o.s() + x, C.s())
    with mock.patch.object(C, "s", return_value=9):
        yield
    C.s = staticmethod(lambda: 3)
    yield


@case
def a_method_becomes_static():
    C = fresh()
    o = C()
    yield lambda x: o.m() + x
    C.m = staticmethod(lambda: 5)
    yield
    C.m = classmethod(lambda cls: 6)
    yield
    C.m = functools.partial(int, "7")
    yield
    C.m = functools.partialmethod(lambda self, y: y, 8)
    yield


@case
def a_method_is_deleted():
    A = fresh()
    B = type("B", (A,), {"m": lambda self: 100})
    o = B()
    yield lambda x: o.m() + x
    del B.m
    yield
    del A.m
    yield


@case
def a_subclass_gets_an_overriding_method():
    A = fresh()
    B = type("B", (A,), {})
    o = B()
    yield lambda x: (o.m() + x, o.q, len(o))
    B.m = lambda self: 20
    yield
    B.q = property(lambda self: 21)
    yield
    B.__len__ = lambda self: 22
    yield


@case
def an_intermediate_base_gets_a_method():
    A = fresh()
    B = type("B", (A,), {})
    C = type("C", (B,), {})
    o = C()
    yield lambda x: (o.m() + x, o.c(), C.s())
    B.m = lambda self: 20
    yield
    B.c = classmethod(lambda cls: 21)
    yield
    B.s = staticmethod(lambda: 22)
    yield


@case
def the_bases_change():
    A, B = fresh(), fresh()
    B.m = lambda self: 50
    B.s = staticmethod(lambda: 51)
    C = type("C", (A,), {})
    o = C()
    yield lambda x: (o.m() + x, o.s(), isinstance(o, A), isinstance(o, B), issubclass(C, B))
    C.__bases__ = (B,)
    yield
    C.__bases__ = (A,)
    yield


@case
def the_class_of_an_object_is_set():
    A = fresh()
    B = type("B", (A,), {"m": lambda self: 30})
    o = A()
    yield lambda x: (type(o).__name__, isinstance(o, B), o.v, o.m(), x)
    o.__class__ = B
    yield
    o.__class__ = A
    yield


@case
def the_class_of_an_object_inside_is_set():
    A = fresh()
    B = type("B", (A,), {"m": lambda self: 30})
    o = types.SimpleNamespace(inner=A(), several=[A(), A()])
    yield lambda x: (o.inner.m() + x, [each.m() for each in o.several], isinstance(o.inner, B))
    o.inner.__class__ = B
    yield
    o.several[1].__class__ = B
    yield


@case
def the_class_of_an_object_is_asked_only_by_a_method():
    A = fresh()
    B = type("B", (A,), {"m": lambda self: 30})
    o = A()
    yield lambda x: o.m() + x
    o.__class__ = B
    yield


@case
def an_instance_gets_a_method():
    C = fresh()
    o = C()
    yield lambda x: o.m() + x
    o.m = lambda: 17
    yield
    del o.m
    yield
    o.m = types.MethodType(lambda self: self.v + 40, o)
    yield


@case
def attributes_of_a_class():
    C = fresh()
    C.table, C.k, C.name = [1, 2], 3, "a"
    o = C()
    yield lambda x: (C.table[0] + x, o.table[1], C.k, o.k, o.name)
    C.table = [5, 6, 7]
    yield
    C.k += 1
    yield
    C.k += 1
    yield
    C.name = "b"
    yield
    C.table[0] = 9
    yield


@case
def attributes_of_a_base():
    A = fresh()
    A.k, A.helper = 3, lambda self: 4
    B = type("B", (A,), {})
    o = B()
    yield lambda x: (B.k + x, o.k, o.helper())
    B.k = 5
    yield
    A.k = 6
    yield
    del B.k
    yield
    B.helper = lambda self: 7
    yield


@case
def a_class_holds_another_class():
    A, B = fresh(), fresh()
    B.s = staticmethod(lambda: 90)
    A.kind = B
    o = A()
    yield lambda x: (o.kind.s() + x, A.kind().m())
    A.kind = fresh()
    yield
    A.kind.s = staticmethod(lambda: 91)
    yield
    A.kind.__init__ = lambda self: setattr(self, "v", 8)
    yield


@case
def a_class_gets_a_constructor():
    A = fresh()
    B = type("B", (A,), {})
    yield lambda x: B(x).v
    A.__init__ = lambda self, v: setattr(self, "v", v + 1)
    yield
    B.__init__ = lambda self, v: setattr(self, "v", v + 2)
    yield
    B.__new__ = lambda cls, v: A(v)
    yield


@case
def a_function_that_hangs_on_a_class():
    C = fresh()
    C.scale = staticmethod(lambda y: y * 2)
    yield lambda x: C.scale(x)
    C.scale = staticmethod(lambda y: y * 3)
    yield
    C.scale = staticmethod(abs)
    yield


# Special methods ------------------------------------------------------------------------------------------------------


def _with(x):
    return x


SPECIAL = {
    "__len__": (lambda o: len(o), lambda self: 3, lambda self: 4),
    "__bool__": (lambda o: 1 if o else 2, lambda self: True, lambda self: False),
    "__eq__": (lambda o: o == 1, lambda self, other: True, lambda self, other: False),
    "__lt__": (lambda o: o < 1, lambda self, other: True, lambda self, other: False),
    "__iter__": (lambda o: list(o), lambda self: iter([1, 2]), lambda self: iter([3])),
    "__call__": (lambda o: o(1), lambda self, x: x, lambda self, x: x + 1),
    "__add__": (lambda o: o + 1, lambda self, x: x, lambda self, x: x + 1),
    "__radd__": (lambda o: 1 + o, lambda self, x: x, lambda self, x: x + 1),
    "__iadd__": (lambda o: operator_iadd(o), lambda self, x: x, lambda self, x: x + 1),
    "__neg__": (lambda o: -o, lambda self: 1, lambda self: 2),
    "__getitem__": (lambda o: o[2], lambda self, x: x, lambda self, x: x + 1),
    "__contains__": (lambda o: 2 in o, lambda self, x: True, lambda self, x: False),
    "__str__": (lambda o: str(o), lambda self: "a", lambda self: "b"),
    "__repr__": (lambda o: f"{o!r}", lambda self: "a", lambda self: "b"),
    "__format__": (lambda o: f"{o:x}", lambda self, spec: spec, lambda self, spec: spec * 2),
    "__hash__": (lambda o: hash(o), lambda self: 1, lambda self: 2),
    "__int__": (lambda o: int(o), lambda self: 1, lambda self: 2),
    "__float__": (lambda o: float(o), lambda self: 1.0, lambda self: 2.0),
    "__index__": (lambda o: [5, 6, 7][o], lambda self: 1, lambda self: 2),
    "__getattr__": (lambda o: o.missing, lambda self, name: name, lambda self, name: name * 2),
    "__getattribute__": (lambda o: o.missing, lambda self, name: name, lambda self, name: name * 2),
    "__setattr__": (
        lambda o: setting(o),
        lambda self, name, value: object.__setattr__(self, name, 1),
        lambda self, name, value: object.__setattr__(self, name, 2),
    ),
    "__reversed__": (lambda o: list(reversed(o)), lambda self: iter([1]), lambda self: iter([2])),
    "__round__": (lambda o: round(o), lambda self: 1, lambda self: 2),
    "__abs__": (lambda o: abs(o), lambda self: 1, lambda self: 2),
    "__divmod__": (lambda o: divmod(o, 2), lambda self, x: 1, lambda self, x: 2),
    "__matmul__": (lambda o: o @ 2, lambda self, x: 1, lambda self, x: 2),
    "__enter__": (lambda o: entering(o), lambda self: 1, lambda self: 2),
    "__dir__": (lambda o: dir(o), lambda self: ["a"], lambda self: ["b"]),
    "__next__": (lambda o: next(o), lambda self: 1, lambda self: 2),
    "__array__": (lambda o: np_sum(o), lambda self, *a, **k: np_ones(2), lambda self, *a, **k: np_ones(3)),
    "__class_getitem__": (
        lambda o: type(o)[1],
        classmethod(lambda cls, item: item),
        classmethod(lambda cls, item: item + 1),
    ),
}


def operator_iadd(o):
    o += 1
    return o


def setting(o):
    o.w = 5
    return o.w


def entering(o):
    with o as entered:
        return entered


def np_sum(o):
    import numpy as np

    return np.sum(o)


def np_ones(n):
    import numpy as np

    return np.ones(n)


def special_case(name: str, how: str) -> Case:
    ask, first, second = SPECIAL[name]

    def changing() -> Iterator[Any]:
        A = type("A", (), {"__exit__": lambda self, *error: None} if name == "__enter__" else {})
        B = type("B", (A,), {})
        if how != "added":
            setattr(A, name, first)
        o = B()
        if how == "of a local object":
            yield lambda x: (ask(B()), x)
        else:
            yield lambda x: (ask(o), x)
        if how == "patched":
            with mock.patch.object(A, name, second):
                yield
            yield
        else:
            setattr(B if how == "overridden" else A, name, second)
            yield

    changing.__name__ = f"{name} is {how}"
    return changing


for each in SPECIAL:
    for way in ("replaced", "overridden", "patched", "added", "of a local object"):
        CASES.append(special_case(each, way))


# Descriptors, slots, metaclasses, modules -----------------------------------------------------------------------------


@case
def a_descriptor_is_replaced():
    class Doubling:
        def __init__(self, factor):
            self.factor = factor

        def __get__(self, instance, owner=None):
            return self.factor * 2

    class C:
        d = Doubling(1)

    o = C()
    yield lambda x: o.d + x
    C.d = Doubling(2)
    yield
    vars(C)["d"].factor = 5
    yield
    Doubling.__get__ = lambda self, instance, owner=None: self.factor * 100
    yield
    Doubling.__set__ = lambda self, instance, value: None
    o.__dict__["d"] = 3
    yield


@case
def slots():
    class C:
        __slots__ = ("a", "b")

        def __init__(self):
            self.a, self.b = 1, 2

    o = C()
    yield lambda x: o.a + o.b + x
    o.a = 7
    yield
    slot = C.a
    C.a = property(lambda self: 50)
    yield
    C.a = slot
    yield
    C.b = 3
    yield


@case
def a_metaclass_changes():
    class Meta(type):
        def m(cls):
            return 1

        @property
        def q(cls):
            return 1

        def __len__(cls):
            return 1

        def __getitem__(cls, item):
            return item

    class C(metaclass=Meta):
        pass

    yield lambda x: (C.m() + x, C.q, len(C), C[x])
    Meta.m = lambda cls: 2
    yield
    Meta.q = property(lambda cls: 2)
    yield
    Meta.__len__ = lambda cls: 2
    yield
    Meta.__getitem__ = lambda cls, item: item + 100
    yield
    C.m = classmethod(lambda cls: 3)
    yield


@case
def a_class_is_called_otherwise():
    class Meta(type):
        pass

    class C(metaclass=Meta):
        def __init__(self, x):
            self.x = x

    yield lambda x: C(x).x
    Meta.__call__ = lambda cls, x: types.SimpleNamespace(x=x + 1)
    yield


@case
def instances_are_checked_otherwise():
    class Meta(type):
        def __instancecheck__(cls, instance):
            return False

    class C(metaclass=Meta):
        pass

    o = fresh()()
    yield lambda x: (isinstance(o, C), x)
    Meta.__instancecheck__ = lambda cls, instance: True
    yield


@case
def a_class_is_registered():
    class Base(abc.ABC):
        @abc.abstractmethod
        def m(self): ...

    C = fresh()
    o = C()
    yield lambda x: (isinstance(o, Base), issubclass(C, Base), isinstance(o, collections.abc.Sequence), x)
    Base.register(C)
    yield
    collections.abc.Sequence.register(C)
    yield


@case
def a_class_is_registered_while_one_branches():
    class Base(abc.ABC):  # noqa: B024
        pass

    C = fresh()
    o = C()

    def f(x):
        if isinstance(o, Base):
            return x + 1
        return x

    yield f
    Base.register(C)
    yield


@case
def what_abstract_classes_look_for():
    C = fresh()
    o = C()
    yield lambda x: (isinstance(o, collections.abc.Iterable), isinstance(o, collections.abc.Hashable), callable(o), x)
    C.__iter__ = lambda self: iter([1])
    yield
    C.__call__ = lambda self: 1
    yield
    C.__hash__ = None
    yield


@case
def protocols():
    @typing.runtime_checkable
    class Sized(typing.Protocol):
        def size(self): ...

    C = fresh()
    o = C()
    yield lambda x: (isinstance(o, Sized), x)
    C.size = lambda self: 1
    yield


@case
def has_an_attribute():
    C = fresh()
    o = C()
    yield lambda x: (hasattr(o, "extra"), hasattr(C, "extra"), getattr(o, "extra", x), getattr(C, "other", None))
    C.extra = 1
    yield
    C.other = lambda self: 3
    yield
    del C.extra
    yield


@case
def names_made_while_running():
    C = fresh()
    C.extra_1 = 4
    o = C()
    yield lambda x: getattr(o, "ext" + "ra_" + str(len(o))) + x
    C.extra_1 = 5
    yield
    C.extra_1 = property(lambda self: 6)
    yield


@case
def a_subclass_hook():
    class Base:
        def __init_subclass__(cls, **options):
            cls.made = 1

        @classmethod
        def kinds(cls):
            return [each.__name__ for each in cls.__subclasses__()]

    yield lambda x: (Base.kinds(), x)
    Child = type("Child", (Base,), {})  # noqa: F841
    yield


@case
def enums():
    class Color(enum.Enum):
        RED = 1

        @property
        def text(self):
            return "red"

        def m(self):
            return 1

    red = Color.RED
    yield lambda x: (red.text, Color.RED.m() + x, Color(1).m(), red.value)
    Color.text = property(lambda self: "crimson")
    yield
    Color.m = lambda self: 2
    yield


@case
def dataclasses_change():
    @dataclasses.dataclass
    class D:
        a: int
        b: int = 2

        @property
        def sum(self):
            return self.a + self.b

    o = D(1)
    yield lambda x: (o.sum + x, D(x).sum, o == D(1), repr(o), dataclasses.asdict(o))
    D.sum = property(lambda self: self.a * 100)
    yield
    D.__eq__ = lambda self, other: "always"
    yield
    D.__repr__ = lambda self: "D!"
    yield
    D.__init__ = lambda self, a, b=7: self.__dict__.update(a=a, b=b)
    yield
    D.__post_init__ = lambda self: None
    yield


@case
def named_tuples():
    class Pair(collections.namedtuple("Pair", "a b")):  # noqa: SLOT002
        def m(self):
            return 1

        @property
        def q(self):
            return self.a

    o = Pair(1, 2)
    yield lambda x: (o.m() + x, o.q, o.a, Pair(x, 1).q, Pair(x, 2).b, o[0])
    Pair.m = lambda self: 2
    yield
    Pair.q = property(lambda self: 100)
    yield
    Pair.a = 50
    yield
    Pair.__getitem__ = lambda self, item: 7
    yield


@case
def tuples_made_by_the_library():
    Pair = collections.namedtuple("Pair", "a b")  # noqa: PYI024
    o = Pair(1, 2)
    yield lambda x: (o.a + x, Pair(x, 1).b)
    Pair.a = property(lambda self: 40)
    yield
    Pair.b = 3
    yield


@case
def cached_properties():
    class C:
        @functools.cached_property
        def p(self):
            return 1

    o = C()
    yield lambda x: (o.p + x, C().p)
    del o.p
    C.p = functools.cached_property(lambda self: 2)
    C.p.__set_name__(C, "p")
    yield
    o.__dict__["p"] = 30
    yield
    C.p = property(lambda self: 4)
    yield


@case
def a_module_looks_up_otherwise():
    module = types.ModuleType("module_of_the_test")
    module.__getattr__ = lambda name: name
    yield lambda x: (module.missing, x)
    module.__getattr__ = lambda name: name * 2
    yield
    module.missing = 3
    yield


@case
def the_class_of_a_module():
    module = types.ModuleType("module_of_the_test")
    module.k = 1

    class Special(types.ModuleType):
        @property
        def k(self):
            return 5

    yield lambda x: module.k + x
    module.__class__ = Special
    yield


@case
def opaque_lists():
    class Numbers(list):
        def total(self):
            return sum(self)

        def __len__(self):
            return 9

    o = Numbers([1, 2])
    yield lambda x: (o.total() + x, len(o), o[0])
    Numbers.total = lambda self: 100
    yield
    Numbers.__len__ = lambda self: 8
    yield
    Numbers.__getitem__ = lambda self, item: "item"
    yield


@case
def classes_of_arguments():
    C = fresh()
    o = C()

    def f(x, o=o):
        return (o.m() + x, o.q, len(o), o.c(), o.s())

    yield f
    C.m = lambda self: 9
    yield
    C.q = property(lambda self: 9)
    yield
    C.__len__ = lambda self: 9
    yield
    C.c = classmethod(lambda cls: 9)
    yield
    C.s = staticmethod(lambda: 9)
    yield


# Functions ------------------------------------------------------------------------------------------------------------


@case
def what_functions_are_made_of():
    def helper(y, k=1, *, z=2):
        return y + k + z

    yield lambda x: helper(x)
    helper.__defaults__ = (10,)
    yield
    helper.__kwdefaults__ = {"z": 20}
    yield
    helper.__code__ = (lambda y, k=1, *, z=2: y * k * z).__code__
    yield
    helper.__defaults__ = (3,)
    yield


@case
def what_methods_are_made_of():
    class C:
        def m(self, k=1, *, z=2):
            return k + z

        @property
        def q(self):
            return 1

        def __add__(self, other, k=1):
            return k

    o = C()
    yield lambda x: (o.m() + x, o.q, o + 1)
    C.m.__defaults__ = (10,)
    yield
    C.m.__kwdefaults__["z"] = 50
    yield
    C.m.__code__ = (lambda self, k=1, *, z=2: k * z).__code__
    yield
    C.q.fget.__code__ = (lambda self: 2).__code__
    yield
    C.__add__.__code__ = (lambda self, other, k=1: k + 5).__code__
    yield
    C.__add__.__defaults__ = (9,)
    yield


@case
def variables_of_methods():
    factor = 2

    class C:
        def m(self):
            return factor

        @property
        def q(self):
            return factor

        def __len__(self):
            return factor

    o = C()
    yield lambda x: (o.m() + x, o.q, len(o))
    factor = 3
    yield
    factor = 4
    yield


@case
def wrappers():
    def wrapping(function):
        @functools.wraps(function)
        def wrapper(*args):
            return wrapper.__wrapped__(*args)

        return wrapper

    @wrapping
    def helper(y):
        return y + 1

    yield lambda x: helper(x)
    helper.__wrapped__ = lambda y: y + 2
    yield


@case
def attributes_of_functions():
    def helper(y):
        return y + helper.k

    helper.k = 1
    yield lambda x: (helper(x), helper.k)
    helper.k = 2
    yield
    helper.k = 3
    yield


@case
def single_dispatch():
    @functools.singledispatch
    def reported(thing):
        return "thing"

    C = fresh()
    o = C()
    yield lambda x: (reported(o), reported("a"), x)
    reported.register(C, lambda thing: "C")
    yield
    reported.register(str, lambda thing: "str")
    yield


@case
def single_dispatch_methods():
    class C:
        @functools.singledispatchmethod
        def reported(self, thing):
            return "thing"

    o = C()
    yield lambda x: (o.reported("a"), x)
    C.__dict__["reported"].register(str, lambda self, thing: "str")
    yield


@case
def super_calls():
    class A:
        def m(self):
            return 1

        @classmethod
        def c(cls):
            return 1

    class B(A):
        def m(self):
            return super().m() + 10

        @classmethod
        def c(cls):
            return super().c() + 10

    o = B()
    yield lambda x: (o.m() + x, B.c())
    A.m = lambda self: 2
    yield
    A.c = classmethod(lambda cls: 2)
    yield
    B.__bases__ = (type("Other", (A,), {"m": lambda self: 70}),)
    yield


@case
def names_of_classes():
    C = fresh()
    o = C()
    yield lambda x: (C.__name__, type(o).__qualname__, o.__class__.__module__, C.__doc__, x)
    C.__name__ = "Other"
    yield
    C.__qualname__ = "Other.Name"
    yield
    C.__module__ = "other"
    yield
    C.__doc__ = "text"
    yield


@case
def mocks_with_a_specification():
    C = fresh()
    holder = types.SimpleNamespace(o=C())
    yield lambda x: (holder.o.m() + x, isinstance(holder.o, C))
    with mock.patch.object(holder, "o", autospec=True) as patched:
        patched.m.return_value = 5
        yield
        patched.m.return_value = 6
        yield
    yield


@case
def a_class_in_a_class():
    class Settings:
        class Inner:
            level = 1

    yield lambda x: Settings.Inner.level + x
    Settings.Inner.level = 5
    yield
    Settings.Inner = type("Inner", (), {"level": 9})
    yield


@case
def what_a_pattern_looks_at():
    C = fresh()
    o = C(1)

    def f(x):
        match o:
            case Plain():
                return "plain"
            case C(v=1):
                return "one"
            case _:
                return "other"

    yield f
    o.v = 7
    yield
    o.v = 1
    yield
    o.__class__ = Plain
    yield


@case
def abstract_classes_in_patterns():
    class Base(abc.ABC):  # noqa: B024
        pass

    o = fresh()()

    def f(x):
        match o:
            case Base():
                return x
            case _:
                return -x

    yield f
    Base.register(type(o))
    yield


@case
def classes_and_methods_of_the_standard_library():
    path = pathlib.Path("a")
    yield lambda x: (path.exists(), datetime.date(2024, 1, 2).year + x, time.time() > 0)
    with mock.patch.object(pathlib.Path, "exists", lambda self: "mocked"):
        yield
    with mock.patch("datetime.date", lambda *args: types.SimpleNamespace(year=1)):
        yield
    with mock.patch("time.time", return_value=-1):
        yield
    yield


@case
def setters():
    class C:
        @property
        def q(self):
            return self.v

        @q.setter
        def q(self, value):
            self.v = value

    def f(x):
        made = C()
        made.q = x + 1
        return made.q

    yield f
    C.q = C.q.setter(lambda self, value: setattr(self, "v", value * 100))
    yield
    C.q = C.q.getter(lambda self: -1)
    yield


@case
def dictionaries_are_patched():
    table = {"a": 1, "b": 2}
    C = fresh()
    C.table = table
    yield lambda x: (table["a"] + x, "c" in table, C.table.get("b"))
    with mock.patch.dict(table, {"a": 10, "c": 3}):
        yield
    with mock.patch.dict(table, clear=True, a=20):
        yield
    yield


@pytest.mark.parametrize("case", CASES, ids=lambda each: each.__name__.replace("_", " "))
def test_a_class_is_looked_at_by_every_call(case: Case) -> None:
    check_each_step(case)


@pytest.mark.parametrize("case", [a_property_is_patched, a_method_is_deleted, the_bases_change, attributes_of_a_class])
def test_it_is_so_without_version_tags_of_classes(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpython_internals, "HAS_TAGS", False)
    test_a_class_is_looked_at_by_every_call(case)


def test_what_is_put_back_finds_its_trace_again_and_explain_tells_what_had_changed() -> None:
    C = fresh()
    o = C()
    staged = ag.function(lambda x: (o.q, o.m(), x))
    staged(1)
    for _ in range(3):
        with mock.patch.object(C, "q", property(lambda self: 7)):
            assert staged(1) == (7, 2.5, 1)
        assert staged(1) == (3.0, 2.5, 1)
    first, *others = staged.traces
    assert first.calls == 4
    assert {trace.reason for trace in others} == {"the class Plain changed: q"}


def test_data_and_names_that_are_not_mentioned_do_not_make_another_trace() -> None:
    C = fresh()
    C.count = 0
    o = C()

    def f(x: Any) -> Any:
        C.count += 1
        return o.m() + x

    staged = ag.function(f)
    for number in range(300):
        C.other = lambda self: number
        assert staged(1) == 3.5
    assert C.count == 300
    assert len(staged.traces) == 1


def changing_itself() -> tuple[Any, Any]:
    """A class, and a function that changes it and asks it for much."""
    base = type("Base", (), {"m": lambda self: 0, "extra": lambda self: 0})
    C: Any = type("C", (base,), {**vars(fresh()), "count": 0, "unused": 0})
    o = C()

    def f(x: Any) -> Any:
        C.count += 1
        return o.m() + o.q + len(o) + o.extra() + x

    return C, f


@pytest.mark.parametrize(
    ("change", "result"),
    [
        (lambda C: setattr(C, "m", lambda self: 10), 15.0),
        (lambda C: delattr(C, "m"), 5.0),
        (lambda C: setattr(C, "q", property(lambda self: 10)), 14.5),
        (lambda C: setattr(C, "q", 10), 14.5),
        (lambda C: setattr(C, "__len__", lambda self: 10), 16.5),
        (lambda C: setattr(C, "extra", lambda self: 10), 17.5),
        (lambda C: (delattr(C, "unused"), setattr(C, "extra", lambda self: 10)), 17.5),
        (lambda C: setattr(C.__mro__[1], "extra", lambda self: 10), 17.5),
        (lambda C: setattr(C, "__bases__", (type("Other", (), {"extra": lambda self: 10}),)), 17.5),
    ],
)
def test_others_change_a_class_that_the_function_changes_itself(change: Callable[[Any], Any], result: float) -> None:
    C, f = changing_itself()
    staged = ag.function(f)
    assert [staged(1) for _ in range(3)] == [7.5] * 3
    change(C)
    assert [staged(1) for _ in range(3)] == [result] * 3
    assert C.count == 6


def test_what_the_function_itself_changes_of_a_class_calls_nothing_that_looks_at_it(monkeypatch: Any) -> None:
    C, f = changing_itself()
    looks = []
    holds = ClassFacts.holds
    monkeypatch.setattr(ClassFacts, "holds", lambda facts: looks.append(facts) or holds(facts))
    staged = ag.function(f)
    assert [staged(1) for _ in range(300)] == [7.5] * 300
    assert C.count == 300
    assert looks == []
    C.m = lambda self: 10
    assert staged(1) == 15.0
    assert looks


def test_functions_that_become_data_and_back_while_a_class_changes_all_the_time() -> None:
    C = fresh()
    C.k = 5
    o = C()
    staged = ag.function(lambda x: o.k + x)
    for number in range(300):
        C.other = number
        assert staged(1) == 6
    C.k = property(lambda self: 50)
    assert staged(1) == 51
    C.k = 5
    assert staged(1) == 6


def test_other_threads_do_not_take_stand_ins_for_changes() -> None:
    C = fresh()
    o = C()
    staged = ag.function(lambda x: len(o) + x)
    assert staged(1) == 2
    seen = []

    @ag.do_not_convert
    def meanwhile() -> None:
        thread = threading.Thread(target=lambda: seen.append(staged(1)))
        thread.start()
        thread.join()

    def traces(x: Any) -> Any:
        meanwhile()
        return len(o) + x

    assert ag.function(traces)(1) == 2
    assert seen == [2]
    assert len(staged.traces) == 1
