"""Traces on disk are found by whoever would make the same ones, and by nobody else."""

import builtins
import functools
import inspect
import linecache
import math
import re
import sys
import warnings
import weakref
from importlib.util import find_spec

import numpy as np
import pytest

import autograph as ag
from autograph.common import disk_cache
from autograph.conversion import fingerprint
from autograph.conversion.fingerprint import fingerprint_of
from autograph.runtime.dispatch.persistent_traces import NotPersistent

TEXT = """
import math
import numpy as np

SCALE = 3
NAMES = (1.5, "a", (None, True))


def helper(x, by=2):
    return x * by + SCALE


def unused(x):
    return other(x)


def other(x):
    return x - 1


def total(n):
    if n < 0:
        return unused(n)
    found = np.zeros(3)
    for i in range(n):
        found[i % 3] += helper(i) + abs(math.floor(-NAMES[0]))
    return found
"""
COMPILES = pytest.mark.skipif(find_spec("llvmlite") is None, reason="the native engine needs llvmlite")
WANTED = [16.0, 7.0, 9.0]


def history():
    """What has become of traces: K for each that was kept, R for each that was recalled."""
    found = disk_cache.contents(disk_cache.folder()).history
    return "".join(letter * found[letter] for letter in "KRS")


def run(function, *args, **options):
    return ag.function(function, **options)(*args)


def test_it_is_traced_once(cached_program):
    for _ in range(3):
        assert run(cached_program(TEXT).total, 4).tolist() == WANTED
    assert history() == "KRR"


CHANGES = {
    "a function that it calls": ("x * by", "x + by"),
    "a function that it might call": ("x - 1", "x - 2"),
    "a default": ("by=2", "by=4"),
    "a global": ("SCALE = 3", "SCALE = 5"),
    "the class of a global": ("SCALE = 3", "SCALE = 3.0"),
    "a bool": ("SCALE = 3", "SCALE = True"),
    "a NumPy number": ("SCALE = 3", "SCALE = np.int32(3)"),
    "in a tuple": ("1.5", "2.5"),
    "a function of another module": ("import math", "class math: floor = staticmethod(lambda x: 7)"),
    "another module": ("import math", "import numpy as math"),
    "a builtin": ("SCALE = 3", "SCALE = 3; abs = lambda x: 4"),
    "a builtin that is another": ("SCALE = 3", "SCALE = 3; abs = float"),
    "where it stands": ("SCALE = 3", "\nSCALE = 3"),
}


@pytest.mark.parametrize(("before", "after"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=COMPILES)])
def test_what_it_hinges_on(cached_program, before, after, engine):
    changed = TEXT.replace(before, after)
    for text in (TEXT, changed, TEXT, changed):
        module = cached_program(text)
        for n in (4, -1):
            found, wanted = run(module.total, n, engine=engine), module.total(n)
            assert type(found) is type(wanted) and np.array_equal(found, wanted)


@pytest.mark.parametrize("name", ["zeros", "floor", "abs"])
def test_what_somebody_else_has_put_there(cached_program, name, monkeypatch):
    """Other functions in the place of NumPy's or Python's."""
    run(cached_program(TEXT).total, 4)
    owner = {"zeros": np, "floor": math, "abs": builtins}[name]
    plain = getattr(owner, name)
    others = {"zeros": lambda n: plain(n) + 7, "floor": lambda x: 10, "abs": lambda x: 11}
    module = cached_program(TEXT)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, functools.wraps(plain)(others[name]))
        found, wanted = run(module.total, 4).tolist(), module.total(4).tolist()
    assert found == wanted != WANTED
    assert history() == "K"


# What `f` refers to, why that keeps its traces from being saved, and what is on the line that `explain` gives.
UNKEPT = {
    "an array": (
        "A = np.ones(3)\ndef f(x):\n    return x + A[0]",
        "`f` uses `A`, which is an object of type numpy.ndarray", "A[0]",
    ),
    "a list": ("A = [1, 2]\ndef f(x): return x + A[0]", "`f` uses `A`, which is an object of type list", "A[0]"),
    "a list in a tuple": (
        "A = 1, [2]\ndef f(x): return x + A[0]", "`f` uses `A`, which contains an object of type list", "A[0]",
    ),
    "an object": (
        "A = type('A', (), {'n': 1})()\ndef f(x): return x + A.n",
        "`A`, which is an object of type traced_program.A", "A.n",
    ),
    "a class": ("class A: n = 1\ndef f(x): return x + A.n", "`A`, which is the class traced_program.A", "A.n"),
    "a closure": (
        "def make():\n    n = 1\n    def f(x): return x + n\n    return f\nf = make()",
        "`make.<locals>.f` uses `n` of a function around it", "x + n",
    ),
    "a set": (
        "def f(x):\n    for each in {'a', 'b'}: x = x + (each == 'a')\n    return x",
        "`f` has a set, whose order", "def f",
    ),
    "a set that is built": (
        "def f(x):\n    return x + len({1, 2, len(str(1))})", "`f` has a set, whose order", "len(str(1))",
    ),
    "a set of constants": ("def f(x): return x + (len('abc') in {1, 2, 3})", "`f` has a set, whose order", "def f"),
    "hashes": ("def f(x): return x + 0 * hash('a')", "`f` uses `hash`, which is the function hash", "hash('a')"),
    "names at run time": (
        "def f(x): return x + getattr(np, 'pi')", "`f` uses `getattr`, which is the function getattr", "getattr",
    ),
    "an import": (
        "def f(x):\n    import math\n    return x + math.pi", "`f` imports a module when it runs", "import math",
    ),
    "a global that is set": ("def f(x):\n    global A\n    A = 1\n    return x + A", "`f` sets a global", "A = 1"),
    "a module of the user's": (
        "import types\nA = types.ModuleType('a')\nA.n = 1\ndef f(x): return x + A.n",
        "`A`, which is the module a", "A.n",
    ),
    "an attribute": ("def f(x): return x + 1\nf.n = 1", "`f` has the attribute `n`", "def f"),
    "a staged function": (
        "import autograph as ag\n@ag.function\ndef g(x): return x + 1\ndef f(x): return g(x)",
        "`f` uses `g`, which is an object of type autograph.Function", "g(x)",
    ),
    "the environment": (
        "import os\ndef f(x): return x + len(os.environ.get('HOME', ''))",
        "`f` uses `os`, which is the module os", "os.environ",
    ),
    "a random number": (
        "import random\ndef f(x): return x + 0 * random.random()", "`random`, which is the module random", "def f",
    ),
    "a random number of NumPy's": (
        "def f(x): return x + 0 * np.random.rand()", "`np.random`, which is the module numpy.random", "def f",
    ),
    "what is none of NumPy's functions": (
        "np = type('np', (), {'abs': abs})\ndef f(x): return np.abs(x)",
        "`np`, which is the class traced_program.np", "np.abs",
    ),
    "a method": (
        "class A:\n    def f(self, x): return x + 1\nf = A().f",
        "the argument `self` is an object of type traced_program.A", "def f",
    ),
    "a partial": (
        "import functools\nf = functools.partial(lambda x, y: x + y, 1)",
        "the function is an object of type functools.partial, and not a plain function", "lambda x",
    ),
    "a default": ("def f(x, by=[1]): return x + by[0]", "a default of `f` contains an object of type list", "def f"),
    "in a function that it calls": (
        "A = [1]\ndef g(x):\n    return x + A[0]\ndef f(x): return g(x)",
        "`g` uses `A`, which is an object of type list", "A[0]",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason", "line"), UNKEPT.values(), ids=UNKEPT)
def test_explain_says_why_a_trace_is_not_kept(cached_program, text, reason, line):
    module = cached_program("import numpy as np\n" + text)
    function = ag.function(module.f)
    before = function.explain(2.5)
    found = function(2.5)
    assert history() == "" and found == module.f(2.5)
    (event,) = function.explain(2.5).where(kind="disk")
    assert list(before.where(kind="disk")) == [event] and reason in event.message
    filename, number = event.place
    assert filename == module.__file__ and line in linecache.getline(filename, number)
    if "argument" not in reason:
        with pytest.raises(NotPersistent, match=re.escape(event.message)):
            fingerprint_of(module.f)


def test_builtins_of_its_own(cached_program):
    module = cached_program(TEXT)
    module.__builtins__ = {**vars(builtins), "range": lambda n: []}
    with pytest.raises(NotPersistent, match="the module of `total` has builtins of its own"):
        fingerprint_of(module.total)


def test_functions_that_call_each_other(cached_program):
    text = "def even(n): return True if n == 0 else odd(n - 1)\ndef odd(n): return False if n == 0 else even(n - 1)"
    found = fingerprint_of(cached_program(text).even)
    assert [each.__name__ for each in found.functions] == ["even", "odd"]
    assert len(found.codes) == len({*map(id, found.codes)})


def test_long_chains_of_functions(cached_program, monkeypatch):
    """No function is looked at from within another."""
    depths = []
    convert = fingerprint.conversion_of
    monkeypatch.setattr(fingerprint, "conversion_of", lambda f: depths.append(len(inspect.stack(0))) or convert(f))
    lines = [f"def f{n}(x): return f{n + 1}(x)" for n in range(20)]
    found = fingerprint_of(cached_program("\n".join([*lines, "def f20(x): return x"])).f0)
    assert len(found.functions) == len(depths) == 21 and len({*depths}) == 1


def test_names_that_numpy_warns_of(cached_program):
    """Nothing is asked of NumPy that the program does not ask itself."""
    module = cached_program("import numpy as np\ndef f(x): return np.abs(x) + len(x.str if False else [])")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(module.f, -2.5) == 2.5
    assert history() == "K"


def test_on_another_machine(cached_program, monkeypatch):
    run(cached_program(TEXT).total, 4)
    monkeypatch.setattr(fingerprint, "_platform", lambda: ("another CPU",))
    run(cached_program(TEXT).total, 4)
    assert history() == "KK"    # constants are folded, by functions that differ in their last bits


def test_with_another_version(cached_program, monkeypatch):
    run(cached_program(TEXT).total, 4)
    monkeypatch.setattr(fingerprint, "_VERSION", fingerprint._VERSION + " ")
    run(cached_program(TEXT).total, 4)
    assert history() == "KK"
    monkeypatch.setattr(fingerprint, "_VERSION", "")       # this library does not stand in files
    run(cached_program(TEXT).total, 4)
    assert history() == "KK"


def test_a_trace_is_not_recalled_where_python_writes_fewer_digits(cached_program):
    text = "def digits(x):\n    return len(str(10**5000)) + x"
    limit = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(0)
        assert run(cached_program(text).digits, 1) == 5002
        sys.set_int_max_str_digits(4300)
        for _ in range(2):
            with pytest.raises(ValueError, match="Exceeds the limit"):
                run(cached_program(text).digits, 1)
        sys.set_int_max_str_digits(0)
        assert run(cached_program(text).digits, 1) == 5002
    finally:
        sys.set_int_max_str_digits(limit)


class Owner:
    def __init__(self, v):
        self.v = v


def test_a_global_whose_object_is_gone_is_not_asked_for_its_class(cached_program):
    """As for a proxy of what there is only at times, such as Flask's `request`."""
    m = cached_program("def f(x):\n    return thing.v + x\n")
    m.thing = weakref.proxy(Owner(1))
    f = ag.function(m.f)
    for _ in range(2):
        with pytest.raises(ReferenceError):
            f(1.5)
    owner = Owner(2)
    m.thing = weakref.proxy(owner)
    assert f(1.5) == 3.5
