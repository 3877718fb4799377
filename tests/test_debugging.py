"""Debuggers, profilers, loggers and tracebacks find the user's lines, names and variables in converted code."""

from __future__ import annotations

import cProfile
import inspect
import io
import json
import logging
import os
import pdb
import pstats
import re
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import pytest

import autograph as ag
from tests.dispatch import staging
from tests.dispatch.staging import Trace

RECENT = sys.version_info >= (3, 11)


def traced(function):
    """What runs when a backend traces a call of what `ag.convert` made."""
    converted = ag.convert(function)
    return lambda *args: Trace(converted, *args).result


# Breakpoints

PROGRAM = """\
def total(rows, limit=10):
    result = 0
    for row in rows:
        for x in row:
            if x < 0:
                result -= 1
                continue
            elif x > limit:
                result = limit
                break
            else:
                y = [x,
                     row]
                result += y[0]
        while result > 5:
            result -= 2
        try:
            result += 6 // len(row)
        except ZeroDivisionError as error:
            result = -100
            z = str(error)
        finally:
            seen = row
    def inner(k):
        if k:
            return result
        return k
    return inner(limit), seen
"""
ROWS = [[3, -1], [20], []]


@pytest.fixture
def load(tmp_path):
    """Run a program that stands in a file, as debuggers demand."""

    def run(text, name):
        path = tmp_path / "program.py"
        path.write_text(text, encoding="utf-8")
        module = {"__name__": "program"}
        exec(compile(text, str(path), "exec"), module)
        return module[name]

    return run


def session(function, commands, *args):
    """What a debugger says while a function runs."""
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    try:
        result = debugger.runcall(function, *args)
    finally:
        sys.settrace(None)
        debugger.clear_all_breaks()
    return out.getvalue(), result


def stops(function, line, expression, filename):
    """At each stop on a line: the line of text, and the value of an expression."""
    rounds = f"c\np ('at', {expression})\n" * 12
    said, _ = session(function, f"b {filename}:{line}\n{rounds}" + "c\n" * 20, ROWS)
    at = [part for part in said.split("(Pdb) ") if part.startswith(("('at'", "> "))]
    at = [part for part in at if part[0] == "(" or f"({line})" in part]
    return [part.split("\n")[1] if part[0] == ">" else part.strip() for part in at]


VISIBLE = {6: "result", 9: "limit", 12: "x, row", 14: "result, y", 16: "result", 18: "row", 20: "error",
           21: "str(error)", 23: "row", 25: "k", 26: "result", 28: "limit"}  # fmt: skip


@pytest.mark.parametrize("make", [ag.to_graph, traced], ids=["to_graph", "convert"])
@pytest.mark.parametrize("line", VISIBLE)
def test_a_breakpoint_stops_on_each_line_and_sees_the_variables(line, make, load):
    function = load(PROGRAM, "total")
    filename = function.__code__.co_filename
    plain = stops(function, line, VISIBLE[line], filename)
    assert len(plain) >= 2
    assert stops(make(function), line, VISIBLE[line], filename) == plain


def test_conditional_breakpoints(load):
    function = load(PROGRAM, "total")
    said, _ = session(ag.to_graph(function), "b 5, x == 20\nc\np x\n" + "c\n" * 9, ROWS)
    assert "(Pdb) 20\n" in said


def test_a_debugger_may_change_variables(load):
    function = load(PROGRAM, "total")
    commands = "b 14\nc\n!y = [1000]\n!result = 7\nclear 1\nc\n"
    results = [session(make(function), commands, ROWS)[1] for make in (lambda f: f, ag.to_graph)]
    assert results[0] == results[1]


def test_other_variables_are_found_above(load):
    function = load("def f(x, other):\n    while x:\n        x -= 1\n    return other", "f")
    said, _ = session(ag.to_graph(function), "b 3\nc\nup\nup\np other\nc\nc\nc\n", 2, "found")
    assert "'found'" in said


@pytest.mark.parametrize("statement", ["breakpoint()", "import pdb; pdb.set_trace()", "g = breakpoint; g()"])
@pytest.mark.parametrize("make", [ag.to_graph, traced], ids=["to_graph", "convert"])
def test_breakpoint_in_the_program_stops_in_the_user_s_frame(statement, make, monkeypatch):
    frames = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: frames.append(sys._getframe(1)))
    monkeypatch.setattr(pdb, "set_trace", lambda: frames.append(sys._getframe(1)))
    function = staging.execute(f"def f(x):\n    if x:\n        {statement}\n    return x")["f"]
    make(function)(5)
    (frame,) = frames
    code = frame.f_code
    assert (code.co_filename, frame.f_lineno, code.co_name) == (function.__code__.co_filename, 3, "f")


def test_post_mortem_debugging_starts_in_the_user_s_frame():
    text = "def f(xs):\n    for x in xs:\n        if x > 1:\n            y = x\n            y / 0"
    function = staging.execute(text)["f"]
    with pytest.raises(ZeroDivisionError) as caught:
        ag.to_graph(function)([1, 2])
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("p (x, y)\nq\n"), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.reset()
    debugger.interaction(None, caught.value.__traceback__)
    assert "-> y / 0" in out.getvalue()
    assert "(2, 2)" in out.getvalue()


# Tracebacks

RAISING = {
    "in a branch": """
        def f(x):
            if x:
                raise ValueError(x)
        """,
    "in an else": """
        def f(x):
            if not x:
                return 1
            else:
                return x / 0
        """,
    "in a loop": """
        def f(x):
            for i in range(x):
                while i < 9:
                    i += 1
                    1 / (i - 3)
        """,
    "in a condition": """
        def f(x):
            if x.y:
                return 1
        """,
    "in a test": """
        def f(x):
            while x < 9 and 1 / (x - 6):
                x += 1
        """,
    "in an iterable": """
        def f(x):
            for i in x:
                pass
        """,
    "in an iterator": """
        def f(x):
            for i in map(len, [[], 5]):
                x = i
        """,
    "in a comprehension": """
        def f(x):
            y = [1 / (x - i) for i in range(9)]
            return y
        """,
    "in a generator expression": """
        def f(x):
            return sum(1 / (x - i) for i in range(9))
        """,
    "in an expression": """
        def f(x):
            return (x and x.y or 1) if x else 2
        """,
    "in a chain": """
        def f(x):
            return 0 < x < x.y
        """,
    "in an argument": """
        def f(x):
            return max(x, key=lambda y: y / 0)
        """,
    "in a callback": """
        def f(x):
            def g(y):
                if y:
                    return y / 0
            return sorted([x], key=g)
        """,
    "in a callee": """
        def g(y):
            if y:
                return y / 0
        def f(x):
            if x:
                return g(x)
        """,
    "in recursion": """
        def f(x):
            if x == 0:
                return 1 / x
            return f(x - 1)
        """,
    "in a method": """
        class C:
            def m(self, x):
                if x:
                    return self.no
        def f(x):
            return C().m(x)
        """,
    "an assertion": """
        def f(x):
            assert x < 0, 'no'
        """,
    "unpacking": """
        def f(x):
            for a, b in [(x, x), x]:
                pass
        """,
    "an unbound variable": """
        def f(x):
            if not x:
                y = 1
            return y
        """,
    "a deleted variable": """
        def f(x):
            while x:
                del x
        """,
    "a store": """
        def f(x):
            if x:
                x.y = 1
        """,
    "an index": """
        def f(x):
            a = []
            for i in range(x):
                a[i] = 1
        """,
    "in a match": """
        def f(x):
            match x:
                case 5 if x / 0:
                    pass
                case _:
                    x.y
        """,
    "in finally": """
        def f(x):
            try:
                if x:
                    return 1
            finally:
                if x:
                    x / 0
        """,
    "in a with": """
        from contextlib import suppress
        def f(x):
            with suppress(KeyError):
                if x:
                    x / 0
        """,
    "on several lines": """
        def f(x):
            if x:
                return [
                    1,
                    x.
                    y,
                ]
        """,
}
CHAINED = {
    "from another": """
        def f(x):
            try:
                if x:
                    x / 0
            except ZeroDivisionError as error:
                if x:
                    raise KeyError(x) from error
        """,
    "in a handler": """
        def f(x):
            try:
                for i in [x]:
                    i / 0
            except ZeroDivisionError:
                if x:
                    {}[x]
        """,
    "from None": """
        def f(x):
            try:
                if x:
                    x / 0
            except ZeroDivisionError:
                if x:
                    raise KeyError(x) from None
        """,
    "from a callee's": """
        def g(y):
            if y:
                return y / 0
        def f(x):
            try:
                while x:
                    g(x)
            except ZeroDivisionError as e:
                raise LookupError from e
        """,
    "raised again": """
        def f(x):
            try:
                if x:
                    x / 0
            except ZeroDivisionError as e:
                raise
        """,
    "in a generator": """
        def g(n):
            for i in range(n):
                if i == 2:
                    i / 0
                yield i
        def f(x):
            for i in g(x):
                pass
        """,
    "thrown into a generator": """
        def g(n):
            if n:
                n += 1
            try:
                yield n
            except ValueError:
                if n:
                    n.y
        def f(x):
            h = g(x)
            next(h)
            h.throw(ValueError)
        """,
    "through a generator": """
        def g(n):
            yield from h(n)
        def h(n):
            yield 1
            if n:
                n.y
        def f(x):
            return list(g(x))
        """,
    "in a coroutine": """
        import asyncio
        async def g(n):
            if n:
                await h(n)
        async def h(n):
            if n:
                n.y
        def f(x):
            g(x).send(None)
        """,
    "end of an iterator": """
        def f(x):
            i = iter([])
            if x:
                next(i)
        """,
}
PROGRAMS = {name: textwrap.dedent(text).strip() for name, text in {**RAISING, **CHAINED}.items()}
MAKERS = pytest.mark.parametrize("make", [ag.to_graph, traced], ids=["to_graph", "convert"])


def raised(function):
    try:
        function(5)
    except Exception as error:
        error.__traceback__ = error.__traceback__.tb_next  # this function's own
        return error
    raise AssertionError("nothing was raised")


def places(error):
    """File, line and function of the user's entries, those of this file and of the switch left out, with the rest."""
    entries = [(e.filename, e.lineno, e.name) for e in traceback.extract_tb(error.__traceback__)]
    entries = [e for e in entries if not e[0].startswith(str(Path(__file__).parent))]
    if not RECENT:  # there, the header of a statement is seen before the line in its body
        pairs = zip(entries, [*entries[1:], ("", 0, "")])
        entries = [e for e, after in pairs if (e[0], e[2]) != (after[0], after[2])]
    return [entries, *(places(e) for e in (error.__cause__, error.__context__) if e is not None)]


@MAKERS
@pytest.mark.parametrize("name", PROGRAMS)
def test_tracebacks_show_the_user_s_lines_alone(name, make):
    plain = places(raised(staging.execute(PROGRAMS[name])["f"]))
    converted = places(raised(make(staging.execute(PROGRAMS[name])["f"])))
    if make is traced and RECENT:
        assert converted[0].pop(0)[2] == "f"  # the switch between original and converted code, on the line of `def`
    assert lines(converted) == lines(plain)


COMPREHENSIONS = ("comp>", "<genexpr>")


def lines(found):
    """Places without the number of the program, and without comprehensions, which have a frame of their own or not."""
    own, *others = found
    kept = [(file.rstrip("0123456789>"), line, name) for file, line, name in own if not name.endswith(COMPREHENSIONS)]
    return [kept if RECENT else merged(kept), *map(lines, others)]


def merged(entries):
    pairs = zip(entries, [*entries[1:], ("", 0, "")])
    return [e for e, after in pairs if (e[0], e[2]) != (after[0], after[2])]


# Comprehensions have no frame. Of `for` Python does not tell which part failed; of `assert` converted code does not.
OTHER_CARETS = {"in an iterable", "in an iterator", "in a generator", "an assertion"}


@pytest.mark.skipif(not RECENT, reason="before Python 3.11, headers of statements are shown, and no columns")
@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - {"in a comprehension", "in a generator expression"}))
def test_formatted_tracebacks_are_the_same(name):
    """With messages, chains, and the carets that mark the expression."""
    function = staging.execute(PROGRAMS[name])["f"]
    plain = "".join(traceback.format_exception(raised(function)))
    function.__globals__["f"] = converted = ag.to_graph(function)
    shown = "".join(traceback.format_exception(raised(converted)))
    if name in OTHER_CARETS:
        plain, shown = (re.sub(r"\n +[~^]+(?=\n)", "", text) for text in (plain, shown))
    assert shown == plain


HANDLING = """\
import logging, sys, traceback
log = logging.getLogger("test_debugging")
def f(x, told):
    for i in range(x):
        try:
            if i == 2:
                i / 0
        except ZeroDivisionError as error:
            told.append(traceback.format_exc())
            told.append(traceback.extract_tb(error.__traceback__))
            told.append(sys.exc_info()[2].tb_lineno)
            told.append(len(traceback.extract_stack()) > 0)
            log.exception("went wrong")
            if x:
                log.warning("in %s", "a branch", stack_info=False)
    return told
"""


def handled(make):
    function = staging.execute(HANDLING)["f"]
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(levelname)s %(funcName)s %(lineno)d %(message)s"))
    log = logging.getLogger("test_debugging")
    log.propagate = False
    log.addHandler(handler)
    try:
        return [*make(function)(4, []), out.getvalue()], function.__code__.co_filename
    finally:
        log.removeHandler(handler)


@MAKERS
def test_what_the_user_s_own_handler_sees(make):
    (wanted, plain_file), (actual, file) = handled(lambda f: f), handled(make)
    text, entries, line, _, log = actual
    assert line == wanted[2] == 7 or not RECENT
    assert (entries[-1].filename, entries[-1].lineno, entries[-1].name) == (file, 7, "f")
    assert f"{os.sep}autograph{os.sep}" not in text + log
    assert "WARNING f 15 in a branch" in log and "ERROR f 13 went wrong" in log
    if RECENT:
        assert len(entries) == 1
        assert (text.replace(file, ""), log.replace(file, "")) == tuple(
            part.replace(plain_file, "") for part in (wanted[0], wanted[4])
        )


def test_all_frames_on_request(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_FULL_TRACEBACK", "1")
    function = staging.execute(PROGRAMS["in a branch"])["f"]
    shown = "".join(traceback.format_exception(raised(ag.to_graph(function))))
    assert f"{os.sep}operators{os.sep}conditionals.py" in shown


def test_the_converted_text_may_be_debugged_instead():
    function = staging.execute(PROGRAMS["in a branch"])["f"]
    error = raised(ag.to_graph(function, debug_source=True))
    last = traceback.extract_tb(error.__traceback__)[-1]
    text = ag.to_code(function).splitlines()
    assert last.line == text[last.lineno - 1].strip() == "raise ag__.raise_(ValueError(x))"
    assert last.filename == "<autograph user.f>"


# Sources and profiles


def test_inner_functions_show_their_source():
    function = staging.execute(PROGRAM.replace("return inner(limit), seen", "return inner"))["total"]
    inner, plain = ag.to_graph(function)(ROWS), function(ROWS)
    assert inspect.getsource(inner) == inspect.getsource(plain)
    assert inspect.getsourcelines(inner)[1] == 24
    assert inner.__qualname__ == plain.__qualname__
    assert inspect.signature(inner) == inspect.signature(plain)
    assert inspect.getclosurevars(inner).nonlocals == inspect.getclosurevars(plain).nonlocals


def profiled(function):
    profile = cProfile.Profile()
    profile.runcall(function, ROWS)
    return {key[1:] for key in pstats.Stats(profile).stats if staging.is_program(key[0])}


def test_profiles_name_the_user_s_functions():
    function = staging.execute(PROGRAM)["total"]
    plain = profiled(function)
    assert plain >= {(1, "total"), (24, "inner")}
    converted = profiled(ag.to_graph(function))
    assert converted >= {entry for entry in plain if "comp>" not in entry[1]}
    assert {name for _, name in converted} <= {name for _, name in plain} | {"<lambda>"}


# Coverage

COVERED = PROGRAM + """

def unused(x):
    if x:
        return 1
    return 2
"""


def test_coverage_of_a_program_run_converted(tmp_path):
    pytest.importorskip("coverage")
    (tmp_path / "covered.py").write_text(COVERED, encoding="utf-8")
    (tmp_path / "main.py").write_text("import covered\nprint(covered.total([[3, -1], [20], []]))\n", encoding="utf-8")
    runs = {"plain": ["main.py"], "converted": ["-m", "autograph", "run", "--convert", "covered", "main.py"]}
    found = {name: measured(tmp_path, arguments) for name, arguments in runs.items()}
    assert found["plain"][0].strip() == found["converted"][0].strip() == "(-100, [])"
    assert found["converted"][1] == found["plain"][1]


def measured(folder, arguments):
    """What a program prints under `coverage run`, and which lines of `covered.py` it runs, and misses."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), str(folder)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*arguments):
        command = [sys.executable, "-m", "coverage", *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    printed = run("run", "--include=*covered.py", *arguments)
    run("json", "-q", "-o", "report.json")
    (report,) = json.loads((folder / "report.json").read_text())["files"].values()
    return printed, (report["executed_lines"], report["missing_lines"])
