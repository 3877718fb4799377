"""Converted functions in the place of the user's: same variables, names and lines, and nothing else to be seen.

The converter here is a small one: `if`s become calls of `if_stmt`, `and` becomes `and_`, calls of lower-case names
go through `call`. The operators are as small; what they are is beside the point.
"""

import asyncio
import contextlib
import gc
import io
import linecache
import pdb
import pickle
import sys
import threading
import traceback
import tracemalloc
import types

import gast
import pytest

from autograph.syntax import loader, source, template

LIBRARY = """
import sys
from types import TracebackType

def if_stmt(test, body, orelse):
    return body() if test else orelse()

def and_(*operands):
    for operand in operands:
        value = operand()
        if not value:
            break
    return value

def call(function):
    return function

def apply(function, *args):
    return function(*args)

LOOKED_AT = 0

def trim():
    global LOOKED_AT
    own = rest = sys.exc_info()[1].__traceback__
    while (rest := rest.tb_next) and rest.tb_frame.f_code.co_filename == "<library>":
        LOOKED_AT += 1
    if own.tb_next is rest:
        pass
    elif sys.version_info < (3, 11):
        own.tb_next = rest
    else:
        error = sys.exc_info()[1]
        error.__traceback__ = TracebackType(rest, own.tb_frame, own.tb_lasti, own.tb_lineno)
"""
ag__ = types.ModuleType("ag__")
exec(compile(LIBRARY, "<library>", "exec"), vars(ag__))


class Converter(gast.NodeTransformer):
    """Converts what is in functions as the real one does, as far as these tests need it."""

    generated = frozenset({"if_body", "else_body"})

    def __init__(self):
        self.functions = [None]                         # for each function around, what `if`s in it assign

    def visit_FunctionDef(self, node):
        self.functions.append({})
        self.generic_visit(node)
        free = {name for inner in node.body if isinstance(inner, gast.Nonlocal) for name in inner.names}
        declarations = [
            gast.AnnAssign(template.name(name, gast.Store()), template.expression("ag__.unbound"), None, 1)
            for name in self.functions.pop()
            if name not in free
        ]
        start = isinstance(gast.get_docstring(node), str)
        node.body[start:start] = declarations
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.functions.append(None)
        self.generic_visit(node)
        self.functions.pop()
        return node

    def visit_If(self, node):
        self.generic_visit(node)
        assigned = {}
        for inner in gast.walk(node):
            if isinstance(inner, gast.Name) and isinstance(inner.ctx, gast.Store):
                assigned[inner.id] = None
        for inner in [*node.body, *node.orelse]:
            if isinstance(inner, gast.FunctionDef | gast.ClassDef) and hasattr(inner, "origin"):
                assigned[inner.name] = None
        inside = self.functions[-1] is not None
        if inside:
            self.functions[-1].update(assigned)
        declaration = [(gast.Nonlocal if inside else gast.Global)([*assigned])] if assigned else []
        bodies = {"if_body": node.body, "else_body": node.orelse or [gast.Pass()]}
        functions = [template.function(name, [*declaration, *body]) for name, body in bodies.items()]
        call = template.call("if_stmt", node.test, *map(template.name, bodies))
        return [gast.copy_location(made, node) for made in (*functions, gast.copy_location(gast.Expr(call), node))]

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        thunks = [gast.copy_location(template.thunk(value), value) for value in node.values]
        return gast.copy_location(template.call("and_", *thunks), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, gast.Name) and node.func.id.islower() and node.func.id not in ("super", "locals"):
            node.func = template.call("call", node.func)
        return node


def convert(function, operators=ag__):
    found = source.of_function(function)
    if isinstance(found.node, gast.Lambda):
        found.node.body = Converter().visit(found.node.body)
    else:
        Converter().visit(found.node)
    code = loader.compile_function(
        found.node, function, class_names=found.class_names, generated=Converter.generated, operators=operators
    )
    return loader.instantiate(code, function)


def load(text, filename="user.py"):
    """Convert a module and execute it."""
    parsed = source.parse(text, filename)
    tree = Converter().visit(parsed.tree)
    names = {"ag__": ag__, "__name__": "user"}
    exec(loader.load_module(tree, filename, Converter.generated, ag__), names)
    return names


def codes(code):
    """A code object and all inside it, outermost first."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes(const)


# -- the same variables -------------------------------------------------------------------------------------

COUNT = 0


def test_globals_are_shared():
    def bump(by):
        global COUNT
        COUNT += by
        return COUNT

    converted = convert(bump)
    assert converted.__globals__ is globals()
    before = COUNT
    assert (bump(1), converted(2), COUNT) == (before + 1, before + 3, before + 3)


def test_cells_are_shared():
    def make():
        total = 0

        def add(by):
            nonlocal total
            if by:
                total += by
            return total

        return add, convert(add), lambda: total

    add, converted, total = make()
    assert (add(1), converted(2), add(3), total()) == (1, 3, 6, 6)
    assert converted.__closure__ == add.__closure__
    assert converted.__code__.co_freevars == add.__code__.co_freevars


def test_an_empty_cell_is_shared():
    def make():
        def get():
            return late

        converted = convert(get)
        with pytest.raises(NameError):
            converted()
        late = 1
        return converted()

    assert make() == 1


def test_attributes():
    def function(a, /, b=[], *args, c: int = 2, **kwargs) -> str:
        """Says what it does."""
        return a, b, c

    function.attribute = object()
    function.__module__ = "elsewhere"
    converted = convert(function)
    assert converted is not function
    kept = "__defaults__ __kwdefaults__ __annotations__ __name__ __qualname__ __doc__ __module__ attribute"
    for name in kept.split():
        assert getattr(converted, name) is getattr(function, name), name
    assert converted(1) == (1, [], 2)
    converted.attribute = None
    assert function.attribute is not None


def test_a_decorated_function_is_not_decorated_again():
    def deco(function):
        calls.append(function)
        return function

    calls = []

    @deco
    @deco
    def function(x=calls.append("default")):
        return x

    del calls[:]
    converted = convert(function)
    assert calls == []
    assert converted.__code__.co_firstlineno == function.__code__.co_firstlineno


class Base:
    def method(self):
        return "base"

    @classmethod
    def of_class(cls):
        return cls


class Derived(Base):
    __secret = "secret"

    def method(self):
        if self:
            pass
        return super().method(), __class__, [super(Derived, self).method() for _ in "x"]

    @classmethod
    def of_class(cls):
        return super().of_class()

    def private(self, __x=1):
        def inner():
            return self.__secret, __x

        return inner()

    def __invisible(self):
        return __class__


def test_super_and_the_class_cell():
    assert convert(Derived.method)(Derived()) == ("base", Derived, ["base"])
    assert convert(Derived.of_class.__func__)(Derived) is Derived
    assert convert(Derived._Derived__invisible)(None) is Derived


def test_private_names():
    assert convert(Derived.private)(Derived()) == ("secret", 1)


def test_the_operators_are_no_variable():
    def names(x):
        if x:
            y = 1
        return sorted(locals())

    converted = convert(names)
    assert converted(1) == ["else_body", "if_body", "x", "y"]
    assert "ag__" not in {*converted.__code__.co_freevars, *converted.__code__.co_names}


def test_lambdas():
    function = (lambda x, y=2: x and (lambda: y)())
    converted = convert(function)
    assert (converted(0), converted(1), converted(1, y=3)) == (0, 2, 3)
    assert converted.__code__.co_name == converted.__name__ == "<lambda>"


def test_generators_and_coroutines():
    def generator(x):
        if x:
            pass
        got = yield x
        yield got

    async def coroutine(x):
        if x:
            pass
        return await asyncio.sleep(0, x)

    async def asynchronous(x):
        if x:
            pass
        yield x

    @types.coroutine
    def iterable(x):
        yield
        return x

    running = convert(generator)(1)
    assert (next(running), running.send(2)) == (1, 2)
    running.close()
    assert asyncio.run(convert(coroutine)(3)) == 3
    assert asyncio.run(convert(asynchronous)(4).__anext__()) == 4
    for function in generator, coroutine, asynchronous, iterable:
        assert convert(function).__code__.co_flags == function.__code__.co_flags


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Python 3.12")
def test_type_parameters():
    names = {}
    text = "def f[T](x: T):\n    def g() -> T: return T\n    return T, g\n"
    linecache.cache["<generic>"] = (len(text), None, text.splitlines(True), "<generic>")
    exec(compile(text, "<generic>", "exec"), names)
    function = names["f"]
    converted = convert(function)
    assert converted.__type_params__ == function.__type_params__
    assert converted(1)[0] is function.__type_params__[0]
    assert converted(1)[1].__qualname__ == "f.<locals>.g"


# -- the same names and lines -------------------------------------------------------------------------------


def naming(x):
    if x:
        class Class:
            def method(self):
                if self:
                    def inner():
                        return (lambda: [].__class__), Class
                return inner
        def function(): return (lambda: x and (lambda: x))
        user = x and (lambda: 1)
        other = (lambda: x and 2)
    return Class, Class.method, Class().method(), Class().method()()[0], function, function(), function()(), user, other


def test_names_are_those_of_the_original():
    originals, converted = naming(1), convert(naming)(1)
    for original, made in zip(originals, converted):
        assert (made.__name__, made.__qualname__) == (original.__name__, original.__qualname__)
        if isinstance(made, types.FunctionType):
            assert made.__code__.co_name == original.__code__.co_name
            assert made.__code__.co_firstlineno == original.__code__.co_firstlineno
            if sys.version_info >= (3, 11):
                assert made.__code__.co_qualname == original.__code__.co_qualname


def test_generated_functions_go_by_the_user_s_name():
    names = {code.co_name for code in codes(convert(naming).__code__)}
    assert names == {"naming", "Class", "method", "inner", "function", "<lambda>"}
    if sys.version_info >= (3, 11):
        qualnames = {code.co_qualname for code in codes(convert(naming).__code__)}
        assert not [name for name in qualnames if "body" in name]
        assert "naming.<locals>.Class.method.<locals>.inner" in qualnames


def test_lambdas_on_one_line():
    def function(x):
        return sorted([3, 1, 2], key=lambda y: y and -y), (lambda: x and x + 1), (lambda: 1), x and x + 2

    converted = convert(function)
    assert converted(1)[0] == [3, 2, 1]
    names = [code.co_name for code in codes(converted.__code__)]
    if sys.version_info < (3, 11):
        # without columns, nothing tells the user's lambdas without parameters from generated ones on their line
        assert (names.count("<lambda>"), names.count("function")) == (3, 7)
    else:
        assert names.count("function") == 1 + 2         # the operands of the last `and`, and the function itself
        assert [made.__name__ for made in converted(1)[1:3]] == ["<lambda>", "<lambda>"]


def test_lines_are_those_of_the_file():
    code = naming.__code__
    lines = {line for inner in codes(code) for _, _, line in inner.co_lines() if line}
    converted = convert(naming).__code__
    assert {inner.co_filename for inner in codes(converted)} == {__file__}
    lines.add(naming.__code__.co_firstlineno)  # where exceptions leave
    assert {line for inner in codes(converted) for _, _, line in inner.co_lines() if line} | lines == lines


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs Python 3.11")
def test_columns_are_those_of_the_file():
    def function(x):
        if x:
            return (x + 1) / (x - x)

    def places(function):
        with pytest.raises(ZeroDivisionError) as caught:
            function(1)
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        return last.lineno, last.end_lineno, last.colno, last.end_colno

    assert places(convert(function)) == places(function)


# -- tracebacks ---------------------------------------------------------------------------------------------


def shown(function, *args):
    """The frames of the traceback that a call leaves: name and text of the line."""
    with pytest.raises(Exception) as caught:
        function(*args)
    return [(frame.name, frame.line) for frame in traceback.extract_tb(caught.value.__traceback__)[1:]]


def failing(x):
    """Fails if asked to."""
    if x:
        return 1 / 0
    return callback()


def callback():
    raise KeyError


def test_no_library_in_tracebacks():
    converted = convert(failing)
    assert shown(converted, 1) == [("failing", "if x:"), ("failing", "return 1 / 0")]
    plain = [("failing", "return callback()"), ("callback", "raise KeyError")]
    assert shown(converted, 0) == shown(failing, 0) == plain


def test_all_frames_on_request(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_FULL_TRACEBACK", "1")
    assert [name for name, _ in shown(convert(failing), 1)] == ["failing", "if_stmt", "failing"]


def test_the_user_s_handlers_see_no_library():
    def handling(x):
        try:
            if x:
                callback()
        except KeyError as error:
            caught = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        return caught

    assert convert(handling)(1) == ["handling", "handling", "callback"]


def test_generators_and_coroutines_are_guarded():
    def generator(x):
        yield 1
        if x:
            yield_ = callback()

    async def coroutine(x):
        if x:
            yield_ = callback()

    expected = [("if x:"), ("yield_ = callback()"), ("raise KeyError")]
    running = convert(generator)(1)
    assert [line for _, line in shown(lambda: [*running])][-3:] == expected
    running = convert(coroutine)(1)
    assert [line for _, line in shown(lambda: running.send(None))][-3:] == expected


def test_context_is_kept():
    def chained(x):
        try:
            if x:
                callback()
        except KeyError as error:
            if x > 1:
                raise ValueError from error
            raise

    converted = convert(chained)
    with pytest.raises(ValueError) as caught:
        converted(2)
    assert isinstance(caught.value.__cause__, KeyError) and caught.value.__context__ is caught.value.__cause__
    with pytest.raises(KeyError) as caught:
        converted(1)
    assert caught.value.__context__ is None


def in_a_large_thread(function, *args):
    """Call a function where the C stack does not matter, before 3.11."""
    outcome = []
    previous = threading.stack_size(512 * 2**20)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(100_000)
    try:
        thread = threading.Thread(target=lambda: outcome.append(function(*args)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(previous)
        sys.setrecursionlimit(limit)
    return outcome[0]


def recursive(depth):
    """A function that calls its converted self, through an operator."""
    if depth:
        return CONVERTED(depth - 1)
    raise KeyError


CONVERTED = convert(recursive)


def test_deep_recursion_is_linear():
    def frames_and_work(depth):
        ag__.LOOKED_AT = length = 0
        try:
            CONVERTED(depth)
        except KeyError as error:
            entry = error.__traceback__
            while entry is not None:
                entry, length = entry.tb_next, length + 1
        return length, ag__.LOOKED_AT

    depth = 5000
    length, looked_at = in_a_large_thread(frames_and_work, depth)
    assert length == 2 * depth + 2
    assert looked_at <= 2 * length


def test_at_the_recursion_limit():
    def endless(x):
        if x:
            return ENDLESS(x)

    global ENDLESS
    ENDLESS = convert(endless)
    with pytest.raises(RecursionError):
        ENDLESS(1)


# -- what debuggers see -------------------------------------------------------------------------------------


def events(function, *args):
    """All that a debugger is told of a function, lines counted from its first; the end may be an exception."""
    found = []
    first = function.__code__.co_firstlineno

    def note(frame, event, arg):
        if frame.f_code.co_filename != __file__ or frame.f_code.co_name == "events":
            return None
        line = frame.f_lineno - frame.f_code.co_firstlineno
        if event == "line" and line > 0:  # an exception leaves by way of the first line
            found.append((frame.f_code.co_name, frame.f_lineno - first))
        elif event != "line":
            found.append((frame.f_code.co_name, event))
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        outcome = function(*args)
        if isinstance(outcome, types.GeneratorType):
            outcome = [*outcome]
        elif isinstance(outcome, types.CoroutineType):
            outcome = outcome.send(None)
    except Exception as error:
        outcome = type(error)
    finally:
        sys.settrace(before)
    return found, outcome


def lines_only(x):
    y = divide(1, x)
    return y


def divide(x, y): return x / y


def with_try(x):
    """Has a docstring."""
    try:
        y = divide(1, x)
    except ZeroDivisionError:
        y = 0
        divide(1, y)
    else:
        y = 2
    finally:
        z = divide(2, 1)
    return y


def with_with(x):
    with contextlib.suppress(KeyError):
        for i in range(2):
            while i < 1:
                i = i + divide(2, x)
    return [divide(j, x) for j in (1, 2)]


def with_return(x):
    for i in (1, 2):
        try:
            return divide(1, x)
        finally:
            continue_ = divide(x, 1)


def with_generator(x):
    try:
        yield divide(1, x)
    finally:
        yield 3


async def with_coroutine(x):
    async def inner():
        return divide(1, x)

    return await inner()


def with_bare_raise(x):
    try:
        divide(1, x)
    except Exception:
        raise


def with_nothing_after(x):
    while True:
        x = divide(1, x) - 1


@pytest.mark.parametrize(
    "function",
    [lines_only, with_try, with_with, with_return, with_generator, with_coroutine, with_bare_raise, with_nothing_after],
)
@pytest.mark.parametrize("x", [0, 1])
def test_debuggers_see_the_same(function, x):
    converted = convert(function)
    assert "trim" in converted.__code__.co_names
    assert events(converted, x) == events(function, x)


def test_pdb_steps_over_a_failing_line():
    """`next` at the line that raises, and on to where the function is left."""
    commands = io.StringIO("next\n" * 4 + "continue\n" * 3)
    output = io.StringIO()
    debugger = pdb.Pdb(stdin=commands, stdout=output, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    with contextlib.suppress(ZeroDivisionError):
        debugger.runcall(convert(lines_only), 0)
    sys.settrace(None)
    text = output.getvalue()
    assert "-> y = divide(1, x)" in text
    assert "ZeroDivisionError" in text
    assert "None" not in text.replace("->None", "")


def test_coverage_reports_the_original_lines():
    coverage = pytest.importorskip("coverage")

    def lines(function):
        measured = coverage.Coverage(data_file=None, include=[__file__], config_file=False)
        measured.start()
        for x in 0, 1:
            with contextlib.suppress(ZeroDivisionError):
                function(x)
        measured.stop()
        return measured.get_data().lines(__file__)

    if sys.gettrace() is not None:
        pytest.skip("coverage is running already")
    header = with_try.__code__.co_firstlineno  # where an exception leaves a converted function
    assert {*lines(convert(with_try))} - {header} == {*lines(with_try)} - {header}


# -- whole modules ------------------------------------------------------------------------------------------

MODULE = '''
"""Says what it is."""
from __future__ import annotations
import sys

def function(x: NotThere) -> NotThere:
    if x:
        def inner(): return x and __name__
        return_ = inner()
    return inner

class Class:
    __private = 1
    def method(self):
        if self:
            pass
        return self.__private, __class__

if sys:
    def conditional(): return lambda: 1
    class Conditional:
        def method(self): pass
else:
    1 / 0
'''


def test_a_module():
    names = load(MODULE)
    assert names["__doc__"] == "Says what it is."
    assert names["function"].__annotations__ == {"x": "NotThere", "return": "NotThere"}
    inner = names["function"](1)
    assert (inner(), inner.__qualname__) == ("user", "function.<locals>.inner")
    assert names["Class"]().method() == (1, names["Class"])
    assert names["function"].__code__.co_filename == "user.py"
    assert names["function"].__code__.co_firstlineno == 6


def test_what_a_module_defines_under_an_if():
    parsed = source.parse(MODULE, "user.py")
    code = loader.load_module(Converter().visit(parsed.tree), "user.py", Converter.generated, ag__)
    names = [(inner.co_name, getattr(inner, "co_qualname", None)) for inner in codes(code)]
    if sys.version_info >= (3, 11):
        assert ("conditional", "conditional") in names
        assert ("<lambda>", "conditional.<locals>.<lambda>") in names
        assert ("method", "Conditional.method") in names
    assert {name for name, _ in names} == {
        "<module>", "function", "inner", "Class", "method", "conditional", "Conditional", "<lambda>",
    }


def test_functions_of_a_module_are_guarded(tmp_path):
    path = tmp_path / "user.py"
    path.write_text("def f(x):\n    if x:\n        1 / 0\n\nclass A:\n    def g(self): f(self)\n")
    names = load(path.read_text(), str(path))
    assert shown(names["A"].g, 1) == [
        ("g", "def g(self): f(self)"),
        ("f", "if x:"),
        ("f", "1 / 0"),
    ]


def test_the_module_is_guarded(tmp_path):
    path = tmp_path / "user.py"
    path.write_text("import sys\nif sys:\n    1 / 0\n")
    frames = shown(load, path.read_text(), str(path))
    assert frames[-2:] == [("<module>", "if sys:"), ("<module>", "1 / 0")]


def test_a_user_s_function_may_be_called_as_a_generated_one():
    names = load("def if_body(x):\n    if x:\n        return if_body.__name__\n    return if_body\n")
    assert names["if_body"].__name__ == names["if_body"].__code__.co_name == "if_body"
    if sys.version_info >= (3, 11):
        assert names["if_body"].__code__.co_qualname == "if_body"


def test_a_module_need_not_show_its_operators():
    parsed = source.parse(MODULE, "user.py")
    tree = Converter().visit(parsed.tree)
    tree.body[2:2] = template.statements("import nowhere as ag__")
    names = {"__name__": "user"}
    exec(loader.load_module(tree, "user.py", Converter.generated, ag__), names)
    assert names["function"](1)() == "user"
    assert "ag__" not in names
    assert shown(names["function"], 0)[-1][0] == "function"


def test_a_user_s_own_variable_may_be_called_as_the_operators():
    def function(x):
        ag__ = [x]
        if x:
            ag__.append(1)
        return ag__

    assert convert(function)(2) == [2, 1]


# -- many functions -----------------------------------------------------------------------------------------


def at_top(x):
    if x:
        pass
    return x


def test_pickling(monkeypatch):
    converted = convert(at_top)
    monkeypatch.setitem(sys.modules, "user", types.ModuleType("user"))
    converted.__module__ = "user"
    sys.modules["user"].at_top = converted
    assert pickle.loads(pickle.dumps(converted)) is converted


def test_closures_share_code():
    def make(x):
        def inner():
            return x

        return inner

    first, second = make(1), make(2)
    found = source.of_function(first)
    code = loader.compile_function(
        found.node, first, class_names=found.class_names, generated=frozenset(), operators=ag__
    )
    assert [loader.instantiate(code, function)() for function in (first, second)] == [1, 2]


def test_no_leaks():
    def once():
        for function in failing, naming, with_try, Derived.method:
            converted = convert(function)
            with contextlib.suppress(Exception):
                converted(1)

    def held():
        gc.collect()
        return len(gc.get_objects()), set(sys.modules), len(linecache.cache)

    def traced():
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    once()
    before = held()
    tracemalloc.start()
    try:
        once()  # what it replaces was made before, and does not count
        memory = traced()
        for _ in range(20):
            once()
        grown = traced() - memory
    finally:
        tracemalloc.stop()
    after = held()  # not before, as a set of the modules takes memory
    assert after[1:] == before[1:]
    assert after[0] - before[0] < 100
    assert grown < 100_000


def test_a_converted_function_goes_with_its_last_reference():
    import weakref

    def make():
        def function(x):
            if x:
                pass

        return convert(function)

    converted = make()
    gone = weakref.ref(converted), weakref.ref(converted.__code__)
    del converted
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


def test_threads():
    outcomes = []

    def work():
        for _ in range(10):
            outcomes.append((convert(at_top)(3), convert(Derived.private)(Derived()), len(shown(convert(failing), 1))))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [(3, ("secret", 1), 2)] * 40
