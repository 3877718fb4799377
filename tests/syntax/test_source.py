"""The source of a live function: found wherever it stands, and never trusted unread."""

import ast
import contextlib
import doctest
import functools
import importlib.util
import linecache
import os
import subprocess
import sys
import textwrap
import threading
import warnings
import zipfile

import gast
import pytest

from autograph.errors import SourceError
from autograph.syntax import source


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write a module and import it: `load(text).name`."""
    monkeypatch.syspath_prepend(tmp_path)
    names = []

    def load(text, name="user"):
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8", newline="")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        names.append(name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in names:
        sys.modules.pop(name, None)
    linecache.clearcache()


def segment(found):
    """The text of the function that was found."""
    node, lines = found.node, [line.encode() for line in found.source.lines]
    part = lines[node.lineno - 1 : node.end_lineno]
    part[-1] = part[-1][: node.end_col_offset]
    part[0] = part[0][node.col_offset :]
    return b"".join(part).decode()


def body(function):
    """The text of the last statement, or expression, of a function's body."""
    found = source.of_function(function)
    last = found.node.body if isinstance(found.node, gast.Lambda) else found.node.body[-1]
    return ast.get_source_segment("".join(found.source.lines), last)


# -- what has a source --------------------------------------------------------------------------------------

FUNCTIONS = '''
import functools

def plain(x):
    """Says what it does."""
    return "plain"

def with_black_style(
    first: int = 1,
    *,
    second: str = ")",
) -> int:
    return "black"

def deco(*args, **kwargs):
    def wrap(function):
        return function
    return wrap

@deco(
    key=lambda x: "in decorator",
)
# a comment
@deco()
def decorated(x):

    # another one
    return "decorated"

def flush_left(x):
    text = """
at the left edge
"""
    return "flush left"

def odd_brackets(x,
y=(1,
2)):
    return "odd"

def continued(x): \\
    return "continued"

def one_line(x): return "one line"; pass

async def coroutine(x):
    async for y in x:
        yield y
    "coroutine"

def outer(free):
    def inner(x):
        nonlocal free
        free = x
        return "inner"
    return inner

class Class:
    def method(self): return "method"
    @staticmethod
    def static(): return "static"
    @classmethod
    def of_class(cls): return "of class"
    @property
    def prop(self): return "prop"
    def __call__(self): return "call"
    class Nested:
        def __private(self): return self.__private
        def method(self): return "nested"

def über(x):
    ünsinn = "ä"; return "über"

inner = outer(1)
'''


@pytest.mark.parametrize(
    "name, last",
    [
        ("plain", 'return "plain"'),
        ("with_black_style", 'return "black"'),
        ("decorated", 'return "decorated"'),
        ("flush_left", 'return "flush left"'),
        ("odd_brackets", 'return "odd"'),
        ("continued", 'return "continued"'),
        ("one_line", "pass"),
        ("coroutine", '"coroutine"'),
        ("inner", 'return "inner"'),
        ("Class.method", 'return "method"'),
        ("Class.static", 'return "static"'),
        ("Class.of_class", 'return "of class"'),
        ("Class.prop", 'return "prop"'),
        ("Class.Nested.method", 'return "nested"'),
        ("Class.Nested._Nested__private", "return self.__private"),
        ("über", 'return "über"'),
    ],
)
def test_functions(load, name, last):
    entity = load(FUNCTIONS)
    for part in name.split("."):
        entity = getattr(entity, part)
    function = source.unwrap(entity)
    assert body(function) == last
    found = source.of_function(function)
    assert found.node.name == function.__code__.co_name
    assert found.class_names == tuple(name.split(".")[:-1])
    assert found.source.filename == function.__code__.co_filename
    assert found.node in gast.walk(found.source.tree)


def test_positions_are_those_of_the_file(load):
    found = source.of_function(load(FUNCTIONS).decorated)
    lines = [line.strip() for line in found.source.lines]
    assert lines[found.node.lineno - 1] == "def decorated(x):"
    assert lines[found.node.decorator_list[0].lineno - 1] == "@deco("
    assert found.node.col_offset == 0
    assert found.node.body[0].comments.before == ("", "# another one")


LAMBDAS = '''
def call(*args, **kwargs):
    return [*args, *kwargs.values()]

def default(key=lambda x: x + 1): return key

def deco(function):
    return lambda _: function

same_line = lambda x: x + 1, lambda x: x + 2, lambda y: y + 1, lambda: (lambda x: x + 2)
nested = same_line[3]()
args = call(lambda x: x * 1, 5,
            lambda x: x * 2, key=lambda x: x * 3)
table = {
    "a": lambda x: x - 1,
    "b": (lambda x: x - 2), "c": lambda x: x - 3,
    "d":
        lambda x: (
            x - 4
        ),
}
constants = [lambda: 1, lambda: 1.0, lambda: True, lambda: "1", lambda: 0.0, lambda: -0.0, lambda: {1}]

@deco(lambda x: x ** 2)
@(lambda f: f)
def decorated(): pass

class Class:
    fields = [lambda self: self.__x, lambda self: self.__y]
    def method(self):
        for i in range(2):
            yield lambda x: x + i + 1, lambda x: x + i + 2

if (lambda x: x or 1)(0): key = lambda x: x or 2
else: key = None
closures = [lambda: i for i in range(3)]
text = """
""", lambda: "after text"; semicolon = 1; last = lambda: semicolon
'''


@pytest.mark.parametrize(
    "get, text",
    [
        ("default()", "lambda x: x + 1"),
        ("same_line[0]", "lambda x: x + 1"),
        ("same_line[1]", "lambda x: x + 2"),
        ("same_line[2]", "lambda y: y + 1"),
        ("same_line[3]", "lambda: (lambda x: x + 2)"),
        ("args[0]", "lambda x: x * 1"),
        ("args[2]", "lambda x: x * 2"),
        ("args[3]", "lambda x: x * 3"),
        ("table['a']", "lambda x: x - 1"),
        ("table['b']", "lambda x: x - 2"),
        ("table['c']", "lambda x: x - 3"),
        ("table['d']", "lambda x: (\n                x - 4\n            )"),
        ("constants[0]", "lambda: 1"),
        ("constants[1]", "lambda: 1.0"),
        ("constants[2]", "lambda: True"),
        ("constants[3]", 'lambda: "1"'),
        ("constants[4]", "lambda: 0.0"),
        ("constants[5]", "lambda: -0.0"),
        ("constants[6]", "lambda: {1}"),
        ("decorated", "lambda x: x ** 2"),
        ("Class.fields[1]", "lambda self: self.__y"),
        ("next(Class().method())[1]", "lambda x: x + i + 2"),
        ("key", "lambda x: x or 2"),
        ("closures[1]", "lambda: i"),
        ("text[1]", 'lambda: "after text"'),
        ("last", "lambda: semicolon"),
    ],
)
def test_lambdas(load, get, text):
    found = source.of_function(eval(get, vars(load(LAMBDAS))))
    assert segment(found).replace("    ", "") == text.replace("    ", "")


def test_identical_lambdas_are_one_as_good_as_another(load):
    first, second = load("pair = [lambda x: x], [lambda x: x]").pair
    assert segment(source.of_function(first[0])) == segment(source.of_function(second[0])) == "lambda x: x"


# -- recompiling it as it was -------------------------------------------------------------------------------

TRICKY = {
    "private names": """
        class A_:
            def f(self, __x=1): self.__y = __x; global __g; __g = 1; return lambda: __x
        f = A_.f
    """,
    "private names in underscores": """
        class __:
            def f(self, __x=1): self.__y = __x
        f = __.f
    """,
    "the class cell": """
        class A:
            def f(self):
                def g(): return super().f(), __class__
                return g
        f = A().f()
    """,
    "the class cell, explicitly": """
        def make(__class__, other):
            def f(): return __class__, other
            return f
        f = make(1, 2)
    """,
    "a class in a function": """
        def make(T):
            class A:
                def f(self): return T, A, super().__init__
            return A.f
        f = make(1)
    """,
    "a global of the name of its class": """
        def make(x):
            class A:
                def f(self): return A, x
            return A
        class A:
            def g(self, x): return lambda: (A, x)
        f = A().g(1)
    """,
    "method defined by assignment": """
        def f(self): return self.__x
        class B: pass
        B.f = f
    """,
    "a changed name": """
        class A:
            def f(self): return self.__x
        f = A.f
        f.__qualname__ = f.__name__ = "g"
    """,
    "annotations as text": """
        from __future__ import annotations
        def f(x: y) -> z:
            def g(a: b): c: d = 1
            return g
    """,
    "imports and methods": """
        import os, os.path as p
        from sys import path as s
        def f(x, *y):
            return p.join(x), s.append(1), os.path.join(x), x.append(2), os.fspath(*y), len.__call__(x)
    """,
    "a method call on what happens to be called as an import": """
        import copy
        def f(copy): return copy.copy()
    """,
    "imports below": """
        try:
            import json
        except ImportError:
            json = None
        def f(): return json.dumps(1), json.loads("2")
    """,
    "super, mentioned at the top": """
        safe = super
        class A:
            def f(self): return super().f(self)
        f = A.f
    """,
    "comprehensions": """
        def f(x): return [y for y in x if (lambda: y)], {y: x for y in x}, (y for y in x for x in y)
    """,
    "constants": """
        def f(x): return x in {1, 2}, x in (1, 1.0, True, (0.0, -0.0)), 1j, b"", ..., 10**3, "a" "b", -1
    """,
    "a docstring": """
        def f():
            '''Says
               what.'''
            def g():
                "And so does this."
            return g
    """,
    "classes": """
        def f(x):
            class A(x):
                y: int = 1
                def g(self): self.z = 1
                class B: pass
            return A
    """,
    "a function of many constants": "def f(x):\n" + "".join(f"    x.a{i}({i})\n" for i in range(300)),
    "match": """
        def f(x):
            match x:
                case {"a": [1, *rest], **more} if rest: return more
                case str() | None as y: return y
    """,
    "every kind of parameter": """
        def f(a, b=1, /, c: int = 2, *d, e, f=3, **g) -> None:
            return lambda a, /, *b, c=1, **d: (yield)
    """,
    "generators": """
        async def f(x):
            async with x as y, y: yield await x
            return
    """,
    "debugging": """
        def f(x):
            if __debug__: assert x, "message"
            return __debug__, f"{x!r:>{x}}"
    """,
    "tabs": "def f(x):\n\tif x:\n\t\treturn 1\n\telse:\n\t    return 2\n",
    "a form feed": "x = 1\n\f\ndef f(x):\n    \f\n    return 1\n",
    "line ends": "def f(x):\r\n    '''a\r\nb'''\r\n    return 1\r\n",
    "types.coroutine": """
        import types
        @types.coroutine
        def f(): yield
    """,
    "no line end": "def f(x):\n  return 1",
    "comments to the left": "class A:\n    def f(x):\n# left\n        return 1\n# left\n        # end\n\nf = A.f",
}
if sys.version_info >= (3, 11):
    TRICKY["except*"] = "def f():\n    try: pass\n    except* OSError as e: return_ = e\n"
if sys.version_info >= (3, 12):
    TRICKY["type parameters"] = "def f[T: int, *U, **V](x: T) -> T: return T, U, V, x\n"
    TRICKY["type parameters of a class"] = """
        class A[T]:
            def f[U](self, x: T) -> U:
                type W = T | U
                return T, U, super().f
        f = A.f
    """
    TRICKY["nested f-strings"] = "def f(x): return f'{f'{x + f'{1}'}'}'\n"


@pytest.mark.parametrize("name", TRICKY)
def test_what_was_read_compiles_to_what_runs(load, name):
    function = load(TRICKY[name]).f
    found = source.of_function(function)
    assert found.function is function
    assert getattr(found.node, "name", "<lambda>") == function.__code__.co_name


@pytest.mark.parametrize("flag", ["-O", "-OO", "-Xno_debug_ranges"])
def test_under_other_flags(tmp_path, flag):
    for number, text in enumerate(TRICKY.values()):
        (tmp_path / f"user{number}.py").write_text(textwrap.dedent(text), encoding="utf-8", newline="")
    code = f"""
        import importlib
        from autograph.syntax import source
        for number in range({len(TRICKY)}):
            source.of_function(importlib.import_module(f"user{{number}}").f)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])}
    command = [sys.executable, flag, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_while_tracing_and_monitoring(load):
    """Code that the interpreter has specialized and instrumented is still recognized."""
    module = load(FUNCTIONS)
    for _ in range(100):
        module.plain(1), module.flush_left(2)
    with contextlib.ExitStack() as cleanup:
        cleanup.callback(sys.settrace, sys.gettrace())
        if sys.version_info >= (3, 12):
            monitoring = sys.monitoring
            monitoring.use_tool_id(4, "test")
            cleanup.callback(monitoring.free_tool_id, 4)
            cleanup.callback(monitoring.set_events, 4, 0)
            events = monitoring.events
            monitoring.set_events(4, events.LINE | events.CALL | events.PY_START | events.BRANCH)
        sys.settrace(lambda frame, event, arg: lambda *_: None)
        module.plain(1), module.flush_left(2)
        assert body(module.plain) == 'return "plain"'
        assert body(module.flush_left) == 'return "flush left"'


def test_warnings_are_not_repeated(load):
    text = "def f(x):\n    a = '\\d', x is 1, x is ()\n    assert (x, 'message')\n    return 1 if x else'\\w'\n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function = load(text).f
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        assert source.of_function(function).node.name == "f"
        source.parse(text, "user.py")
    assert given == []


# -- where sources come from --------------------------------------------------------------------------------


def run(text, filename, **names):
    """Execute a text as interactive environments do."""
    text = textwrap.dedent(text)
    names.setdefault("__name__", "__main__")
    exec(compile(text, filename, "exec"), names)
    return names


def test_exec_with_linecache(monkeypatch):
    text = "x = 1\ndef f():\n    return x\n"
    monkeypatch.setitem(linecache.cache, "<cell 1>", (len(text), None, text.splitlines(True), "<cell 1>"))
    assert body(run(text, "<cell 1>")["f"]) == "return x"


@pytest.mark.parametrize("other", [None, "import sys\n"])       # Python 3.13 keeps the text of `python -c`
def test_exec_without_linecache(monkeypatch, other):
    if other is not None:
        monkeypatch.setitem(linecache.cache, "<string>", (len(other), None, [other], "<string>"))
    function = run("def f(): pass", "<string>")["f"]
    with pytest.raises(SourceError, match=r"<string>:1: the source of 'f' is not available: .* linecache.cache"):
        source.of_function(function)


def test_prompt():
    function = run("def f(): pass", "<stdin>")["f"]
    with pytest.raises(SourceError, match=r"<stdin>:1: .* typed at an interactive prompt .* Put it in a file"):
        source.of_function(function)


def test_no_file(tmp_path):
    path = str(tmp_path / "gone.py")
    with pytest.raises(SourceError, match=r"gone.py:1: .* cannot be read") as caught:
        source.of_function(run("def f(): pass", path)["f"])
    assert (caught.value.filename, caught.value.lineno) == (path, 1)


def test_another_module_s_globals(load, tmp_path):
    """A function executed in a module's globals does not have that module's file."""
    module = load("def f(): pass")
    with pytest.raises(SourceError, match="cannot be read"):
        source.of_function(run("def f(): pass", str(tmp_path / "template"), **vars(module))["f"])


def test_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from autograph.syntax import source\n"
        "def f():\n    return 1\n"
        "print(source.of_function(f).node.name, source.of_function(lambda: f).node.lineno)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == "f 4\n", done.stderr


def test_doctest():
    text = """
    >>> from autograph.syntax import source
    >>> def f(x):
    ...     return x + 1
    >>> found = source.of_function(f)
    >>> found.source.filename, found.node.lineno
    ('<doctest example[1]>', 1)
    """
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "example"}, "example", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_zipped_module(tmp_path, monkeypatch):
    archive = tmp_path / "lib.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped.py", "x = 1\n\f\ndef f():\n    return 'zipped'\n")
    monkeypatch.syspath_prepend(str(archive))
    import zipped

    assert body(zipped.f) == "return 'zipped'"


def test_modules_frozen_into_the_interpreter():
    assert source.of_function(os.path.join).source.filename.endswith("posixpath.py")


def test_edited_file(load, tmp_path):
    function = load("def f(x):\n    return 1\n").f
    path = tmp_path / "user.py"
    path.write_text("def f(x):\n    return 2\n")
    linecache.clearcache()
    message = r"user.py:1: 'f' is not what this file has here: the file was edited after it was imported"
    with pytest.raises(SourceError, match=message):
        source.of_function(function)


@pytest.mark.parametrize(
    "new",
    ["", "x = 1\n", "def f(x):\n\n    return 1\n", "def f(y):\n    return 1\n", "def f(x):\n    return (\n", "\0",
     "\ndef f(x):\n    return 1\n", "f = lambda x: 1\n", "def f(x):\n    return 1.0\n", "class f: x = 1\n"],
)
def test_edited_in_all_ways(load, tmp_path, new):
    function = load("def f(x):\n    return 1\n").f
    (tmp_path / "user.py").write_text(new)
    linecache.clearcache()
    with pytest.raises(SourceError):
        source.of_function(function)


def test_an_edit_elsewhere_does_no_harm(load, tmp_path):
    function = load("def f(x):\n    return 1\n").f
    (tmp_path / "user.py").write_text("def f(x):\n    return 1\n\nnonsense (\n")
    linecache.clearcache()
    assert body(function) == "return 1"


def test_edited_after_it_was_read(load, tmp_path):
    """What linecache holds is what was imported."""
    function = load("def f(x):\n    return 1\n").f
    linecache.getlines(function.__code__.co_filename)
    (tmp_path / "user.py").write_text("def f(x):\n    return 2\n")
    assert body(function) == "return 1"


def test_reloaded(load, tmp_path):
    """What linecache holds is not what was imported last."""
    old = load("def f(x):\n    return 1\n")
    assert body(old.f) == "return 1"
    new = load("# longer\ndef f(x):\n    return 22\n")
    assert body(new.f) == "return 22"


def test_altered_code(load):
    function = load("def f(x):\n    return 1\n").f
    function.__code__ = function.__code__.replace(co_consts=(None, 3))
    with pytest.raises(SourceError, match="altered"):
        source.of_function(function)


# -- modules that are rewritten on import -------------------------------------------------------------------


def asserting(x):
    # this very file was rewritten by pytest
    assert x == 1, "message"
    return lambda: x, lambda y: y


def test_rewritten_by_pytest():
    assert body(asserting) == "return lambda: x, lambda y: y"
    assert [segment(source.of_function(f)) for f in asserting(1)] == ["lambda: x", "lambda y: y"]


class Rewriting(importlib.machinery.SourceFileLoader):
    """An import hook that compiles something else than what the file says."""

    def source_to_code(self, data, path, **_):
        tree = ast.parse(data)
        for node in ast.walk(tree):
            if isinstance(node, ast.Return):
                node.value = ast.Tuple([node.value], ast.Load())
            elif isinstance(node, ast.Lambda):
                node.body = ast.Tuple([node.body], ast.Load())
        return compile(ast.fix_missing_locations(tree), path, "exec")


@pytest.fixture
def rewritten(tmp_path):
    path = tmp_path / "rewritten.py"
    path.write_text("def f(x):\n    return x\n\npair = lambda: 1, lambda: 2\nother = lambda: 1, lambda x: 2\n")
    loader = Rewriting("rewritten", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("rewritten", loader))
    exec(loader.source_to_code(path.read_bytes(), str(path)), vars(module))
    return module


def test_rewritten_by_an_import_hook(rewritten):
    assert rewritten.f(1) == (1,)
    assert body(rewritten.f) == "return x"
    assert segment(source.of_function(rewritten.other[1])) == "lambda x: 2"


def test_lambdas_that_cannot_be_told_apart(rewritten):
    with pytest.raises(SourceError, match="rewritten.py:4: .* lines of their own"):
        source.of_function(rewritten.pair[1])


# -- unwrap -------------------------------------------------------------------------------------------------


class Callable:
    def __call__(self):
        pass

    @functools.lru_cache
    def cached(self):
        pass

    def method(self):
        pass

    of_class = classmethod(method)
    static = staticmethod(method)
    partial = functools.partialmethod(method, 1)
    prop = property(method)


@pytest.mark.parametrize(
    "entity, function",
    [
        (asserting, asserting),
        (Callable().method, Callable.method),
        (Callable.of_class, Callable.method),
        (vars(Callable)["of_class"], Callable.method),
        (vars(Callable)["static"], Callable.method),
        (vars(Callable)["partial"], Callable.method),
        (vars(Callable)["prop"], Callable.method),
        (functools.partial(functools.partial(asserting, 1)), asserting),
        (Callable(), Callable.__call__),
        (functools.lru_cache(asserting), asserting),
        (Callable().cached, Callable.cached.__wrapped__),
        (functools.wraps(asserting)(Callable.method), Callable.method),
    ],
)
def test_unwrap(entity, function):
    assert source.unwrap(entity) is function


@pytest.mark.parametrize(
    "entity, message",
    [
        (len, "'len' is implemented outside of Python"),
        ([].append, "'list.append' is implemented outside of Python"),
        (Callable, "'Callable' is a class"),
        (functools.partial(len), "functools.partial.* has no Python source"),
        (3, "3 is not callable"),
    ],
)
def test_unwrap_what_has_no_source(entity, message):
    with pytest.raises(SourceError, match=message):
        source.unwrap(entity)


def test_unwrap_a_circle():
    circle = functools.lru_cache(len)
    circle.__wrapped__ = circle
    with pytest.raises(SourceError, match="has no Python source"):
        source.unwrap(circle)


# -- parse --------------------------------------------------------------------------------------------------


def test_parse():
    parsed = source.parse("x = 1\r\n\f\ny = '''\r\n'''", "user.py")
    assert parsed.filename == "user.py"
    assert parsed.lines == ["x = 1\n", "\f\n", "y = '''\n", "'''"]
    assert [statement.lineno for statement in parsed.tree.body] == [1, 3]
    assert parsed.tree.body[1].value.value == "\n"


@pytest.mark.parametrize("text, line", [("x = \n", 1), ("def f():\n\treturn 1\n        return 2", 3), ("\0", None)])
def test_syntax_errors_point_at_the_file(text, line):
    with pytest.raises(SyntaxError) as caught:
        source.parse(text, "user.py")
    assert (caught.value.filename, caught.value.lineno) == ("user.py", line)


# -- everything ---------------------------------------------------------------------------------------------


def functions_of(module):
    """The functions that a module's code defines, methods and inner ones left to be found by their class."""
    for value in vars(module).values():
        members = [value, *vars(value).values()] if isinstance(value, type) else [value]
        for member in members:
            with contextlib.suppress(SourceError):
                function = source.unwrap(member)
                if function.__code__.co_filename == module.__file__:
                    yield function


@pytest.mark.parametrize("name", ["argparse", "statistics", "json.decoder", "typing", "asyncio.tasks", "unittest.mock"])
def test_standard_library(name):
    module = importlib.import_module(name)
    found = [source.of_function(function).node.name for function in functions_of(module)]
    assert len(found) > 3


def test_threads(load):
    module = load(FUNCTIONS)
    outcomes = []
    names = ["plain", "decorated", "flush_left", "odd_brackets", "coroutine", "inner"] * 5

    def look():
        outcomes.append([source.of_function(getattr(module, name)).node.name for name in names])

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [names] * 4


