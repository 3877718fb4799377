"""Functions without source, or with another one than that of the running code, run as plain Python, which is said."""

import importlib.util
import inspect
import os
import py_compile
import subprocess
import sys
import textwrap
import types
import warnings
import zipapp

import numpy as np
import pytest

import autograph as ag
from autograph.errors import SourceError, SourceWarning, StrictError, TracingError

MODULE = """
import autograph as ag

def total(xs, k):
    t = 0
    for x in xs:
        if x > k:
            t += x
        else:
            t -= 1
    return t

staged = ag.function(total)
named = ag.function(lambda name, n: name * n if n > 0 else name)
converted = ag.convert(lambda x: x if x > 0 else -x)

class Model:
    def __init__(self, k):
        self.k = k

    @ag.function
    def count(self, x):
        if x > 2:
            self.k += 1
        return self.k

    def grow(self, d):
        self.k += d

    @property
    def double(self):
        return self.k * 2 if self.k > 0 else 0

def positive(x):
    return x if x > 0 else -x

def is_float(x):
    return isinstance(x, float)

def shout(x):
    print("hi", x)
    return x

def extend(xs):
    xs.append(len(xs))

def odd(n):
    for i in range(n):
        if i % 2:
            yield i

def applied(f, x):
    return f(x) if x > 0 else f(-x)

def counter():
    n = 0
    def count(d):
        nonlocal n
        n += d
        return n
    return count

count = counter()
SEEN = 0

def see(x):
    global SEEN
    SEEN = x
"""


@pytest.fixture
def m(tmp_path, monkeypatch):
    """The module, of which there is a .pyc only."""
    path = tmp_path / "sourceless_module.py"
    path.write_text(MODULE)
    py_compile.compile(str(path), str(path) + "c", doraise=True)
    path.unlink()
    spec = importlib.util.spec_from_file_location(path.stem, str(path) + "c")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


# Staged functions -----------------------------------------------------------------------------------------------------


def test_it_runs_plain_at_once_and_says_so_once(m):
    with pytest.warns(SourceWarning, match=r"total runs as plain Python: .*sourceless_module.py:4: .*cannot be read"):
        assert m.staged([1, 2, 3], 1) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [m.staged([i, i + 1], 1) for i in range(100)] == [m.total([i, i + 1], 1) for i in range(100)]
        assert m.staged([1.5], k=1) == 1.5 and m.staged(np.ones(3), 0) == 3
    assert len(m.staged.traces) == 1
    assert "cannot be read" in str(m.staged.explain([1], 1).where(kind="plain"))


def test_the_warning_may_be_an_error(m):
    with warnings.catch_warnings():
        warnings.simplefilter("error", SourceWarning)
        with pytest.raises(SourceWarning):
            m.staged([1, 2, 3], 1)
        assert m.staged([1, 2, 3], 1) == 4


@pytest.mark.filterwarnings("ignore::autograph.errors.SourceWarning")
def test_methods_lambdas_and_strings(m):
    model = m.Model(1)
    assert [model.count(x) for x in (1, 3, 5.0)] == [1, 2, 3]
    assert [m.named(str(n), n) for n in range(12)] == [str(n) * max(n, 1) for n in range(12)]
    assert len(m.named.traces) == 1
    with pytest.raises(TypeError, match="'>' not supported"):
        m.staged([1], "a")


@pytest.mark.filterwarnings("ignore::autograph.errors.SourceWarning")
def test_what_needs_a_graph_says_why_there_is_none(m):
    with pytest.raises(TracingError, match="runs as plain Python.*cannot be read"):
        m.staged.graph([1], 1)
    with pytest.raises(StrictError, match="strict about 'plain'.*cannot be read"):
        ag.function(m.total, strict=True)([1], 1)
    with pytest.raises(SourceError, match="cannot be read"):
        ag.to_graph(m.total)


def test_functions_compiled_from_strings():
    names = {}
    exec("def f(x):\n    return x * 2 if x > 1 else x", names)
    staged = ag.function(names["f"])
    with pytest.warns(SourceWarning, match=r"compiled from a string.*linecache"):
        assert [staged(x) for x in (0, 1, 2, 2.5)] == [0, 1, 4, 5.0]
    assert ag.grad(eval("lambda x: x * x"))(3.0) == 6.0       # what has no branches has gradients all the same


# Called by staged functions -------------------------------------------------------------------------------------------


def calls_expressions(m, x):
    return m.positive(x) + m.converted(x) if x != 0 else m.positive(x + 1)


def calls_in_a_loop(m, xs):
    t = 0
    for x in xs:
        if m.positive(x) > 1:
            t += m.positive(x)
    return t


def asks_for_the_type(m, x):
    return m.is_float(x), m.is_float(2.0)


def prints(m, x):
    print("before")
    y = m.shout(x) + m.shout(x + 1)
    print("behind")
    return y


def changes_a_list(m, xs):
    m.extend(xs)
    m.extend(xs)
    return len(xs), sum(xs)


def changes_an_object(m, x):
    model = m.Model(x)
    model.grow(x + 1)
    return model.k, model.double


def iterates(m, n):
    return [x * 2 for x in m.odd(n)], sum(m.odd(n))


def hands_a_function_on(m, x):
    return m.applied(lambda y: y * 10 if y > 1 else y, x)


def changes_a_closure(m, x):
    return m.count(x) + m.count(x)


def changes_a_global(m, x):
    m.see(x)
    return m.SEEN


def calls_what_is_staged(m, x):
    return m.staged([x], 0) + m.named("a", x).count("a")


def raises(m, x):
    try:
        return m.total([x], "a")
    except TypeError as error:
        return str(error)


PROGRAMS = [
    (calls_expressions, 2, -2, 0, 2.5, np.float64(-3)),
    (calls_in_a_loop, [1, -2, 3], [0.5, 2.5], np.array([1.0, -2.0]), []),
    (asks_for_the_type, 1, 2.5, np.float64(1)),
    (prints, 1, 2.5),
    (changes_a_list, [1], [1, 2]),
    (changes_an_object, 2, -3.5),
    (iterates, 5, 0),
    (hands_a_function_on, 3, -1, 1.5),
    (changes_a_closure, 1, 2.5),
    (changes_a_global, 1, 2.5),
    (calls_what_is_staged, 1, 3),
    (raises, 1, 2),
]


@pytest.mark.filterwarnings("ignore::autograph.errors.SourceWarning")
@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("program, args", [(program, args) for program, *args in PROGRAMS])
def test_the_same_answers(m, capsys, engine, program, args):
    def outcomes(function):
        m.count, m.SEEN = m.counter(), 0
        found = []
        for arg in args * 2:
            given = list(arg) if type(arg) is list else arg
            found.append(repr((function(m, given), given, capsys.readouterr().out)))
        return found

    staged = ag.function(program, engine=engine)
    assert outcomes(staged) == outcomes(program)


def test_not_one_trace_for_each_value(m):
    staged = ag.function(calls_expressions)
    assert [staged(m, x) for x in range(1, 50)] == [2 * x for x in range(1, 50)]
    assert len(staged.traces) == 1
    report = str(staged.explain(m, 1).where(kind="callback"))
    assert "positive is called when the graph runs" in report and "cannot be read" in report
    with pytest.raises(StrictError, match="positive is called when the graph runs"):
        ag.function(calls_expressions, strict="callback")(m, 1)


class Compiled:
    """As Cython and Nuitka make them: it looks like a function, and is none."""

    def __init__(self, function):
        self.function = function
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__

    __code__ = property(lambda self: self.function.__code__)
    __defaults__ = property(lambda self: self.function.__defaults__)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    __signature__ = property(lambda self: inspect.signature(self.function))
    __call__ = property(lambda self: self.function)


def test_compiled_functions():
    class Model:
        k = 1

        def grow(self, d):
            self.k += d if d > 0 else 0

    Model.grow = Compiled(Model.grow)
    compiled = Compiled(lambda x: x if x > 0 else -x)
    compiled.__qualname__ = "positive"
    with pytest.warns(SourceWarning, match="positive is compiled, and has no source at run time"):
        assert [ag.function(compiled)(x) for x in (1, -2)] == [1, 2]
    assert ag.convert(compiled) is compiled

    @ag.function
    def grown(model, x):
        model.grow(compiled(x))
        return model.k

    model = Model()
    assert [grown(model, x) for x in (1, -2, 3)] == [2, 4, 7]
    assert "is compiled" in grown.traces[0].plain


# Edited files ---------------------------------------------------------------------------------------------------------


def test_a_file_that_was_edited_after_it_was_imported(tmp_path, monkeypatch):
    before = "def f(x):\n    if x > 0:\n        return 1\n    return 2\n\n"
    before += "def g(x):\n    return f(x) * 10 if x > 1 else f(x)\n"
    (tmp_path / "edited_module.py").write_text(before)
    monkeypatch.syspath_prepend(tmp_path)
    import edited_module

    (tmp_path / "edited_module.py").write_text(before.replace("return 1", "return 100"))
    f, g = ag.function(edited_module.f), ag.function(edited_module.g)
    with pytest.warns(SourceWarning, match="f is not what|'f' is not what this file has here: the file was edited"):
        assert [f(1), f(-1), f(5)] == [1, 2, 1]
    assert [g(3), g(1), g(-1)] == [10, 1, 2] and len(g.traces) == 1
    assert "was edited" in str(g.explain(1).where(kind="callback"))


# Programs -------------------------------------------------------------------------------------------------------------

PROGRAM = """
import autograph as ag

@ag.function
def f(x):
    if x > 0:
        return x
    return -x

print([f(x) for x in range(-2, 2)], len(f.traces))
"""


def run(*args, **options):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, *args], capture_output=True, text=True, env=env, **options)
    assert done.stdout == "[2, 1, 0, 1] 1\n", done.stderr
    return done.stderr


def test_python_c():
    told = run("-c", PROGRAM)
    assert told.count("SourceWarning") == (sys.version_info < (3, 13))
    assert not told or "Put it in a file" in told


def test_standard_input():
    told = run("-", input=PROGRAM)
    assert told.count("SourceWarning") <= 1 and (not told or "Put it in a file" in told)


def test_zip_files_have_their_source(tmp_path):
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "__main__.py").write_text(PROGRAM)
    zipapp.create_archive(folder, tmp_path / "program.pyz")
    assert run(str(tmp_path / "program.pyz")) == ""


def test_frozen_applications(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent("import sys\nsys.frozen = True\n") + PROGRAM)
    py_compile.compile(str(path), str(tmp_path / "program.pyc"))
    path.unlink()
    told = run(str(tmp_path / "program.pyc"))
    assert "the application was frozen without this file" in told and "PyInstaller" in told
