"""The public functions, over all kinds of callables."""

from __future__ import annotations

import asyncio
import copy
import functools
import gc
import importlib.util
import inspect
import itertools
import math
import pickle
import pydoc
import sys
import types
import weakref
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph import api, operators
from autograph.api import set_loop_options
from autograph.conversion import conversions
from autograph.errors import AutographError, SourceError
from tests.dispatch import staging
from tests.dispatch.staging import Trace
from tests.recording import Staged, recorded


def sign(x: float, /, scale: int = 1, *rest: int, flag: bool = False, **more: str) -> int:
    """The sign of a number."""
    if x < 0:
        return -scale
    return scale


sign.mark = ["an attribute"]


def counter(start):
    def count(step=1):
        nonlocal start
        if step:
            start += step
        return start

    return count


class Shape:
    """A class of the user's."""

    sides = 4

    def __init__(self, side=1):
        self.side = side

    def area(self, factor=1):
        if factor:
            return self.side**2 * factor
        return 0

    @staticmethod
    def double(x):
        return 2 * x if x else 0

    @classmethod
    def corners(cls, x):
        return cls.sides if x else 0

    @property
    def size(self):
        return self.side if self.side else 0

    def __call__(self, x):
        return x if x else self.side

    class Inner:
        def hidden(self, __x):
            if __x:
                return __x
            return 0


class Square(Shape):
    def area(self, factor=1):
        if factor:
            return super().area(factor)
        return -1


shape = Shape(3)
choose = lambda c: 1 if c else 2  # noqa: E731


def numbers(n):
    for i in range(n):
        if i % 2:
            yield i


async def later(c):
    return 1 if c else 2


async def several(n):
    for i in range(n):
        if i:
            yield i


def deep(c):
    def middle(d):
        def inner(e):
            return c if e else d

        return inner

    return middle


CALLS = {
    "function": (sign, (-2.0, 3)),
    "lambda": (choose, (0,)),
    "closure": (counter(5), (2,)),
    "nested closure": (deep(1)(2), (0,)),
    "bound method": (shape.area, (2,)),
    "method of a class": (Shape.area, (shape, 2)),
    "inherited method": (Square(3).area, (2,)),
    "static method": (Shape.double, (4,)),
    "class method": (Shape.corners, (1,)),
    "callable object": (shape, (0,)),
    "partial": (functools.partial(sign, -1.0), (7,)),
    "partial with keywords": (functools.partial(sign, scale=7), (-1.0,)),
    "partial of a method": (functools.partial(shape.area, factor=3), ()),
    "wrapped": (functools.wraps(sign)(lambda *a, **k: sign(*a, **k)), (1.0,)),
    "getter": (Shape.size.fget, (shape,)),
    "private": (Shape.Inner().hidden, (4,)),
}


@pytest.mark.parametrize("make", [ag.convert, ag.to_graph], ids=["convert", "to_graph"])
@pytest.mark.parametrize("kind", CALLS)
def test_callables_give_what_they_gave(kind, make):
    function, arguments = CALLS[kind]
    if kind == "closure":
        function = counter(5)
        assert (make(function)(2), function(2), make(function)(2)) == (7, 9, 11)
    else:
        assert make(function)(*arguments) == function(*arguments)
        assert Trace(make(function), *arguments).result == function(*arguments)


STAGED = {
    "function": lambda c: sign(c),
    "method": (lambda c: shape.area(c)),
    "object": shape,
    "bound method": shape.area,
    "class method": Shape.corners,
    "partial": functools.partial(Shape.double),
}


@pytest.mark.parametrize("kind", STAGED)
def test_what_is_converted_stages(kind):
    assert Trace(ag.convert(STAGED[kind]), Staged("c")).log
    assert Trace(ag.to_graph(STAGED[kind]), Staged("c")).log


@pytest.mark.parametrize("make", [ag.convert, ag.to_graph], ids=["convert", "to_graph"])
def test_generators_and_coroutines_stay_what_they_are(make):
    assert inspect.isgeneratorfunction(make(numbers))
    assert list(make(numbers)(6)) == [1, 3, 5]
    assert inspect.iscoroutinefunction(make(later))
    assert asyncio.run(make(later)(0)) == 2
    assert inspect.isasyncgenfunction(make(several))

    async def collect():
        return [i async for i in make(several)(3)]

    assert asyncio.run(collect()) == [1, 2]


@pytest.mark.parametrize("make", [ag.convert, ag.to_graph], ids=["convert", "to_graph"])
class TestLooksLikeTheOriginal:
    def test_metadata(self, make):
        made = make(sign)
        for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__"):
            assert getattr(made, name) == getattr(sign, name)
        assert made.__wrapped__ is sign
        assert made.mark is sign.mark
        assert inspect.unwrap(made) is sign

    def test_signature(self, make):
        assert inspect.signature(make(sign)) == inspect.signature(sign)
        assert inspect.signature(make(shape.area)) == inspect.signature(shape.area)
        assert inspect.signature(make(Shape.area)) == inspect.signature(Shape.area)
        partial = functools.partial(sign, scale=2)
        assert inspect.signature(make(partial)) == inspect.signature(partial)
        with pytest.raises(TypeError, match=r"sign\(\) missing 1 required positional argument: 'x'"):
            make(sign)()
        with pytest.raises(TypeError, match=r"strict\(\) got some positional-only arguments passed as keyword"):
            make(strict)(x=1)

    def test_source(self, make):
        assert inspect.getsource(make(sign)) == inspect.getsource(sign)
        assert inspect.getfile(make(sign)) == __file__
        assert inspect.getsourcelines(make(sign)) == inspect.getsourcelines(sign)
        assert inspect.getdoc(make(sign)) == "The sign of a number."
        assert inspect.getmodule(make(sign)) is sys.modules[__name__]
        assert make(sign).__code__.co_filename == sign.__code__.co_filename
        assert make(sign).__code__.co_firstlineno == sign.__code__.co_firstlineno
        assert make(sign).__code__.co_name == "sign"

    def test_defaults(self, make):
        def f(a, b=2, *, c=3):
            return (a, b, c) if a else None

        made = make(f)
        assert made(1) == (1, 2, 3)
        f.__defaults__ = (4,)
        f.__kwdefaults__ = {"c": 5}
        assert make(f)(1) == (1, 4, 5)
        if make is ag.convert:      # others keep those of their source
            assert made(1) == (1, 4, 5)
        assert inspect.signature(make(f)) == inspect.signature(f)

    def test_methods_stay_methods(self, make):
        class C:
            sides = 3
            area = make(Shape.area)
            double = make(Shape.__dict__["double"])
            corners = make(Shape.__dict__["corners"])
            size = property(make(Shape.__dict__["size"].fget))

            def __init__(self):
                self.side = 2

        assert isinstance(C.__dict__["double"], staticmethod)
        assert isinstance(C.__dict__["corners"], classmethod)
        assert (C().area(1), C().double(3), C().corners(1), C.corners(1), C().size) == (4, 6, 3, 3, 2)

    def test_bound_methods_keep_their_object(self, make):
        assert make(shape.area).__self__ is shape
        assert make(Shape.corners).__self__ is Shape

    def test_it_may_be_copied_and_referred_to_weakly(self, make):
        made = make(sign)
        assert copy.copy(made) is made and copy.deepcopy(made) is made
        assert weakref.ref(made)() is made


def strict(x, /):
    return 1 if x else 2


@pytest.mark.parametrize("make", [ag.convert, ag.to_graph], ids=["convert", "to_graph"])
@pytest.mark.parametrize("kind", CALLS)
def test_converting_twice_changes_nothing(kind, make):
    once = make(CALLS[kind][0])
    twice = make(once)
    assert type(twice) is type(once)
    underneath = [f.func if isinstance(f, functools.partial) else getattr(f, "__func__", f) for f in (once, twice)]
    assert underneath[0] == underneath[1]


def test_convert_and_to_graph_of_each_other():
    converted, graph = ag.convert(sign), ag.to_graph(sign)
    assert ag.convert(graph) is graph
    assert ag.to_graph(converted)(-1.0) == -1
    assert Trace(ag.to_graph(converted), Staged("x")).log == [("if_stmt", ())]
    with recorded() as backend:  # nothing traces: `to_graph` promises converted code all the same
        ag.to_graph(converted)(Staged("x"))
    assert backend.constructs == ["if_stmt"]


# As decorators

MODULE = '''
import functools
import autograph as ag

@ag.convert
def first(c):
    """Its text."""
    return 1 if c else 2

class C:
    @ag.convert
    def method(self, c):
        return 1 if c else 2

    @staticmethod
    @ag.convert
    def static(c):
        return 1 if c else 2

    @ag.convert
    @staticmethod
    def static_too(c):
        return 1 if c else 2

    @classmethod
    @ag.convert
    def on_class(cls, c):
        return 1 if c else 2

    @ag.convert
    @classmethod
    def on_class_too(cls, c):
        return 1 if c else 2

    @property
    @ag.convert
    def prop(self):
        return 1 if self.c else 2

    @ag.convert
    @property
    def prop_too(self):
        return 1 if self.c else 2

    @ag.convert
    def __call__(self, c):
        return 1 if c else 2

    @functools.cached_property
    @ag.convert
    def cached(self):
        return 1 if self.c else 2

def keep(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

@ag.convert
@keep
def over(c):
    return 1 if c else 2

@keep
@ag.convert
def under(c):
    return 1 if c else 2
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "decorated_module.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("decorated_module")
    del sys.modules["decorated_module"]


@pytest.mark.parametrize(
    "name",
    ["first", "C().method", "C.static", "C().static_too", "C.on_class", "C().on_class_too", "C()", "over", "under"],
)
def test_decorators_in_either_order(module, name):
    function = eval(name, vars(module))
    assert function(0) == 2
    assert Trace(function, 0).result == 2
    assert Trace(function, Staged("c")).log == [("if_exp", "c")]
    assert "ag__.if_exp(c, lambda: 1, lambda: 2)" in ag.to_code(function)


@pytest.mark.parametrize("name", ["prop", "prop_too", "cached"])
def test_properties(module, name):
    made = module.C()
    made.c = Staged("c")
    assert Trace(lambda: getattr(made, name)).log == [("if_exp", "c")]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_decorated_functions_pickle(module, protocol):
    for made in (module.first, module.C.static, module.C.on_class, module.over, module.under):
        assert pickle.loads(pickle.dumps(made, protocol)) == made
    assert pickle.loads(pickle.dumps(module.C().method, protocol))(0) == 2


def test_decorated_functions_are_shown_by_help(module):
    assert "first(c)\n    Its text." in pydoc.plain(pydoc.render_doc(module.first))


def test_lines_of_decorated_functions(module):
    assert inspect.getsource(module.first).startswith("@ag.convert\ndef first(c):")
    assert inspect.getsourcelines(module.first)[1] == 5


# One conversion for each piece of code


def test_closures_share_their_conversion(monkeypatch):
    made = staging.execute("def outer(y):\n    def f(c):\n        return y if c else 0\n    return f")["outer"]
    converted = [ag.to_graph(made(i)) for i in range(3)]
    assert [f(1) for f in converted] == [0, 1, 2]
    assert len({f.__code__ for f in converted}) == 1
    conversion = api.conversion_of(made(0))
    monkeypatch.setattr(conversions, "_convert", lambda *_: pytest.fail("converted again"))
    assert api.conversion_of(made(5)) is conversion


def test_nothing_is_converted_before_it_must(monkeypatch):
    monkeypatch.setattr(conversions, "_convert", lambda *_: pytest.fail("converted"))
    function = staging.execute("@ag.convert\ndef f(c):\n    return 1 if c else 2")["f"]
    assert function(1) == 1


def test_conversions_go_with_their_code():
    before = len(conversions.conversions)

    def use():
        names = staging.execute("def f(c):\n    def g(): return f\n    return 1 if c else 2")
        ag.to_graph(names["f"])(1)
        ag.to_code(names["f"])
        ag.explain(names["f"])
        Trace(ag.convert(names["f"]), Staged("c"))
        return weakref.ref(names["f"]), weakref.ref(names["f"].__code__)

    function, code = use()
    gc.collect()
    assert function() is None and code() is None
    gc.collect()
    assert len(conversions.conversions) <= before


def test_changed_code_is_converted_again():
    one = staging.execute("def f(c):\n    return 1 if c else 2")["f"]
    other = staging.execute("def f(c):\n    return 3 if c else 4")["f"]
    assert ag.to_graph(one)(1) == 1
    one.__code__ = other.__code__
    assert ag.to_graph(one)(1) == 3


# Text


def test_text_of_callables():
    kinds = Shape.area, shape.area, functools.partial(shape.area, 1), ag.convert(shape.area)
    texts = [ag.to_code(kind) for kind in kinds]
    assert texts == [texts[0]] * 4
    assert texts[0].startswith("def area(self, factor=1):\n")
    assert ag.to_code(ag.to_graph(sign)) == ag.to_code(ag.convert(sign)) == ag.to_code(sign)
    assert ag.to_code(choose).startswith("lambda c: ag__.if_exp(c, lambda: 1, lambda: 2)")
    assert ag.to_code(Shape.__dict__["double"]) == ag.to_code(Shape.double)
    text = "def size(self):\n    return ag__.if_exp(self.side, lambda: self.side, lambda: 0)\n"
    assert ag.to_code(Shape.size) == text
    assert ag.to_code(shape).startswith("def __call__(self, x):")
    assert ag.to_code(numbers).startswith("def numbers(n):\n")
    assert ag.to_code(later) == "async def later(c):\n    return ag__.if_exp(c, lambda: 1, lambda: 2)\n"


def test_text_of_a_class():
    text = ag.to_code(Shape)
    assert text.startswith('class Shape:\n    """A class of the user\'s."""\n\n    sides = 4\n')
    assert "    @staticmethod\n    def double(x):\n" in text  # its own methods' decorators stay
    names: dict[str, Any] = {"ag__": operators}
    exec(text, names)
    assert names["Shape"](3).area(2) == 18
    assert ag.to_code(Shape.Inner).startswith("class Inner:\n    def hidden(self, __x):\n")


def test_text_of_a_module(module):
    text = ag.to_code(module)
    assert text.count("import autograph.operators as ag__") == 1
    assert "@ag.convert\ndef first(c):" in text
    names: dict[str, Any] = {"__name__": "ejected"}
    exec(compile(text, "<ejected>", "exec"), names)
    assert names["first"](0) == 2


def test_text_of_inner_functions_and_wrappers():
    text = ag.to_code(counter(1))
    assert text.startswith("def count(step=1):\n    nonlocal start\n")
    assert ag.to_code(functools.wraps(sign)(lambda *a: sign(*a))) == ag.to_code(sign)
    assert ag.to_code(functools.lru_cache(sign)) == ag.to_code(sign)


def test_explanations():
    constructs = lambda entity: [(d.construct, d.status) for d in ag.explain(entity).decisions]
    assert constructs(sign) == constructs(ag.convert(sign)) == [("if", "converted")]
    assert [d.lineno for d in ag.explain(sign).decisions] == [sign.__code__.co_firstlineno + 2]
    assert ("call of range", "converted") in constructs(numbers)
    assert ("for", "plain") in constructs(numbers)
    assert {d.function for d in ag.explain(Shape).decisions} >= {"Shape.area", "Shape.Inner.hidden"}
    everything = ag.explain(sys.modules[__name__])
    assert {"Shape.area", "sign", "numbers"} <= {d.function for d in everything.decisions}
    assert {d.filename for d in everything.decisions} == {__file__}


# What cannot be converted

HIDDEN = eval("lambda x: x", {"__name__": "hidden"})
ERRORS = {
    "a builtin": (len, "len", None),
    "a C function": (math.sin, "sin", None),
    "a ufunc": (np.sin, "sin", None),
    "a method of a builtin": ([].append, "append", None),
    "a class": (Shape, "is a class: convert its methods", None),
    "a number": (5, "5", None),
    "None": (None, "None", None),
    "a string": ("text", "'text'", None),
    "a function without source": (HIDDEN, "<lambda>", "<string>"),
    "a partial of a builtin": (functools.partial(len), "len", None),
    "a type": (int, "is a class: convert its methods", None),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_what_cannot_be_converted_is_told(kind):
    entity, said, filename = ERRORS[kind]
    with pytest.raises(SourceError) as caught:
        ag.to_graph(entity)
    assert said in str(caught.value)
    assert caught.value.filename == filename
    assert isinstance(caught.value, AutographError)


@pytest.mark.parametrize("kind", ERRORS)
def test_convert_says_so_at_once_where_it_can(kind):
    entity, said, _ = ERRORS[kind]
    if kind == "None":
        return  # `@ag.convert()`
    if kind == "a function without source":
        assert ag.convert(entity)(3) == 3  # only a trace needs the source
        return
    with pytest.raises(SourceError) as caught:
        ag.convert(entity)
    assert said in str(caught.value)


@pytest.mark.parametrize("show", [ag.to_code, ag.explain])
@pytest.mark.parametrize("kind", ERRORS)
def test_text_and_explanation_of_what_has_no_source(kind, show):
    if kind == "a class":
        return
    with pytest.raises(SourceError):
        show(ERRORS[kind][0])


def test_an_edited_file_is_an_error_that_names_it(module, tmp_path):
    path = tmp_path / "decorated_module.py"
    path.write_text(MODULE.replace("return 1 if c else 2", "return 5 if c else 6"), encoding="utf-8")
    with pytest.raises(SourceError) as caught:
        ag.to_code(module.first)
    assert caught.value.filename == str(path)
    assert "'first' is not what this file has here" in str(caught.value)
    assert "Reload the module" in str(caught.value)
    assert module.first(1) == 1  # nothing traces, nothing is needed


def test_a_class_made_in_a_function():
    def make():
        class Local:
            def f(self, c):
                return 1 if c else 2

        return Local

    with pytest.raises(SourceError, match=r"there is no class .*Local in this file"):
        ag.to_code(make())
    assert ag.to_code(make().f).startswith("def f(self, c):")
    assert ag.to_graph(make()().f)(0) == 2


def test_modules_without_source():
    with pytest.raises(SourceError, match="the module math has no Python source"):
        ag.to_code(math)
    with pytest.raises(SourceError, match="the module made has no Python source"):
        ag.explain(types.ModuleType("made"))


@pytest.mark.parametrize("entity", [5, None, len, object()])
def test_what_cannot_be_marked(entity):
    if entity is len:
        with pytest.raises((TypeError, AttributeError)):
            ag.do_not_convert(entity)
    elif entity is not None:
        with pytest.raises(TypeError, match="do_not_convert marks functions and classes, not"):
            ag.do_not_convert(entity)
    else:
        assert ag.do_not_convert(None) is ag.do_not_convert


def staged_forms():
    class Steps:
        @ag.function
        def method(self, n):
            if n < 0:
                return -n
            return n

        @ag.function
        @classmethod
        def of_class(cls, n):
            if n < 0:
                return -n
            return n

        @ag.function
        @staticmethod
        def of_none(n):
            if n < 0:
                return -n
            return n

    @ag.function
    def alone(n):
        if n < 0:
            return -n
        return n

    partial = ag.function(functools.partial(alone.python_function))
    return [alone, Steps.of_none, Steps.of_class, Steps().method, partial, alone.get_concrete_function(1)]


@pytest.mark.parametrize("number", range(6))
def test_staged_functions_stand_for_what_was_staged(number):
    function = staged_forms()[number]
    assert "ag__.if_stmt(n < 0, " in ag.to_code(function)
    assert [decision.status for decision in ag.explain(function).decisions] == ["converted"]
    assert ag.convert(function) is function
    assert ag.to_graph(function)(-3) == function(-3) == 3


def test_marks():
    def f(c):
        return 1 if c else 2

    assert ag.do_not_convert(f) is f
    assert ag.to_graph(f) is ag.convert(f) is f
    assert ag.do_not_convert()(f) is f


def test_loop_options_do_nothing_here():
    assert ag.set_loop_options() is ag.set_loop_options(unroll=4, anything=object()) is None

    @ag.convert
    def f(xs, s=0):
        for x in xs:
            ag.set_loop_options(unroll=2)
            s += x
        return s

    assert f([1, 2]) == ag.to_graph(f)([1, 2]) == 3
    assert "options={'unroll': 2}" in ag.to_code(f)


def test_loop_options_by_their_other_name():
    def f(xs, s=0):
        for x in xs:
            set_loop_options(unroll=2)
            s += x
        return s

    assert "options={'unroll': 2}" in ag.to_code(f)


# Public names


def test_public_names_have_docstrings():
    missing = set() if importlib.util.find_spec("jax") else {"jax_jit"}
    for name in set(ag.__all__) - {"__version__"} - missing:
        public = getattr(ag, name)
        assert inspect.getdoc(public), name
        for member, value in vars(public).items() if isinstance(public, types.ModuleType) else ():
            if not member.startswith("_") and getattr(value, "__module__", None) == public.__name__:
                assert inspect.getdoc(value), f"{name}.{member}"
    assert set(ag.__all__) <= {*dir(ag), "importing"}
    with pytest.raises(AttributeError, match="module 'autograph' has no attribute 'nothing'"):
        ag.nothing  # noqa: B018


def test_functions_of_convert_take_arguments_as_the_users_do() -> None:
    """They have its parameters, of each kind, and pass on what they get."""
    for plain in (
        lambda: (),
        lambda a, /, b=1: (a, b),
        lambda a, *rest: (a, rest),
        lambda a=1, *, b, c=3: (a, b, c),
        lambda *rest, b=2: (rest, b),
        lambda a, /, **more: (a, more),
        lambda ag__original: ag__original,
    ):
        made = ag.convert(plain)
        for args, kwargs in itertools.product([(), (1,), (1, 2)], [{}, {"b": 5}, {"a": 1}, {"ag__original": 1}]):
            found, expected = (_result_of(each, args, kwargs) for each in (made, plain))
            assert found == expected, inspect.signature(plain)


def _result_of(function: Any, args: tuple[int, ...], kwargs: dict[str, int]) -> Any:
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("make", [ag.convert, ag.function], ids=["convert", "function"])
def test_made_functions_without_the_original_as_attribute(make: Any) -> None:
    made = make(sign)
    del made.__wrapped__
    assert [f(-2.5) for f in (made, ag.convert(made), ag.function(made))] == [sign(-2.5)] * 3
    assert ag.function(lambda x: made(x) + 1)(2.5) == sign(2.5) + 1
