"""Tracing takes a time that is linear in the length of the program."""

from __future__ import annotations

import builtins
import gc
import subprocess
import sys
import textwrap
from types import CodeType

import numpy as np
import pytest

import autograph as ag
from autograph.common import bytecode, code_flags
from autograph.common.statics import module_of
from autograph.runtime.tracing.calls.modules import StandIns
from autograph.runtime.tracing.calls.stand_ins import Recorded
from autograph.runtime.tracing.state import staged_containers, undo_log

LINES = {
    "numbers": ("", "x = x + #", "x"),
    "items of a dict": ("d = {}", "d[#] = x + 1", "d"),
    "items of a list": ("xs = []", "xs.append(x + #)", "xs"),
    "branches that change lists": ("xs = []", "xs.append([x])\n    if x > #: xs[0][0] += 1", "xs"),
}

DIFFERENTIATED = {
    "operations": ("y = x", "y = y * x + 0.1", "y.sum()"),
    "items": ("y = 0.0", "y += x[# % 3] * y", "y"),
    "writes": ("y = x.copy()", "y[# % 3] = y[1] * x[0]", "y.sum()"),
    "lists": ("ys = [x]", "ys.append(ys[-1] * x)", "ys[-1].sum()"),
    "branches": ("y = x", "y = y * x if y[0] > # else y + x", "y.sum()"),
    "loops": ("y = x", "for _ in range(int(x[0] + 2)): y = y * x", "y.sum()"),
}


def program(tmp_path, kind: str, count: int):
    begin, line, result = {**LINES, **DIFFERENTIATED}[kind]
    lines = [begin or "pass", *(line.replace("#", str(number)) for number in range(count)), f"return {result}"]
    text = "def program(x):\n" + "".join(f"    {each}\n" for each in lines)
    path = tmp_path / f"{kind} {count}.py"
    path.write_text(text)
    names: dict[str, object] = {}
    exec(compile(text, str(path), "exec"), names)
    return names["program"]


def steps(function, *args) -> int:
    """How many functions are called and left in a first call."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.once
@pytest.mark.parametrize("kind", LINES)
def test_calls_grow_with_the_program(tmp_path, kind):
    few, many = (steps(ag.function(program(tmp_path, kind, count)), 1.5) for count in (50, 400))
    assert many < 10 * few


@pytest.mark.once
@pytest.mark.parametrize("kind", DIFFERENTIATED)
def test_calls_of_a_gradient_grow_with_the_program(tmp_path, kind):
    x = np.linspace(0.1, 0.5, 3)
    few, many = (steps(ag.grad(program(tmp_path, kind, count)), x) for count in (20, 120))
    assert many < 8 * few


OUTSIDE = {
    "objects": ("G# = Held(#.5)", "x = x + G#.value"),
    "numbers that are written": ("G# = #.5", "global G#; G# = x + #"),
    "classes": ("class G#(Held):\n    def more(self, x): return x + #", "x = G#(#).more(x)"),
    "lists that are compared": ("G# = [#]", "x = x + (G# is Held)"),
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_calls_grow_with_what_is_outside(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")

    def program(count: int):
        begin, line = ("\n".join(each.replace("#", str(n)) for n in range(count)) for each in OUTSIDE[kind])
        held = "class Held:\n    def __init__(self, value): self.value = value\n"
        text = f"{held}{begin}\ndef program(x):\n{textwrap.indent(line, '    ')}\n    return x"
        (path := tmp_path / f"{kind} {count}.py").write_text(text)
        names: dict[str, object] = {}
        exec(compile(text, str(path), "exec"), names)
        return names["program"]

    function = program(3)
    assert ag.function(function)(1.5) == function(1.5)
    few, many = (steps(ag.function(program(count)), 1.5) for count in (50, 300))
    assert many < 6.5 * few, many / few


def test_calls_do_not_grow_with_the_paths_through_nested_lists():
    def of_depth(depth: int):
        xs: list = [1.0, 2.0, 3.0]
        for _ in range(depth):
            xs = [xs] * 8
        return xs

    staged = ag.function(lambda xs: len(xs))
    assert staged(of_depth(5)) == 8
    assert steps(staged, of_depth(5)) < 200


def test_calls_grow_with_the_depth_of_loops(tmp_path, monkeypatch):
    """A body is not traced twice for each of the loops around it."""
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")  # the first conversion counts like the others

    def nested(depth: int):
        text = "def nested(x):\n    total = 0.0\n"
        for level in range(depth):
            text += f"{'    ' * (level + 1)}for i{level} in range(9):\n"
        text += f"{'    ' * (depth + 1)}if x > i0: total += x\n    return total"
        (path := tmp_path / f"nested {depth}.py").write_text(text)
        names: dict[str, object] = {}
        exec(compile(text, str(path), "exec"), names)
        return names["nested"]

    function = nested(2)
    assert ag.function(function)(4.5) == function(4.5)
    few, many = (steps(ag.function(nested(depth)), 0.0) for depth in (2, 6))
    assert many < 3 * few


def test_containers_of_the_functions_own_are_not_copied_again_and_again(tmp_path, monkeypatch):
    from autograph.runtime.tracing import write_back

    copied = 0

    def contents(thing, real=write_back.contents):
        nonlocal copied
        found = real(thing)
        copied += len(found) if isinstance(found, (list, dict)) else 0
        return found

    monkeypatch.setattr(write_back, "contents", contents)
    function = program(tmp_path, "items of a dict", 300)
    assert ag.function(function)(1.5) == function(1.5)
    assert copied < 1000


def code_of(text: str) -> CodeType:
    names: dict[str, object] = {}
    exec(text, names)
    return names["f"].__code__  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x):\n    y = x + 1\n    return y", [("y",)]),
        ("def f(x):\n    a, b = x\n    return a", [("a", "b")]),
        ("def f(x):\n    a, b, c = x\n    return (lambda: b), c", [("a", "b", "c")]),
        ("def f(x):\n    global y, z\n    y, z = x", [("y", "z")]),
        ("def f(x):\n    def g():\n        nonlocal x\n        x = x + 1\n    return g", []),
    ],
)
def test_stored_names(text, names):
    found = list(bytecode.stored_names(code_of(text)).values())
    assert [each for each in names if each in found] == names


def test_names_of_many_variables_need_extended_arguments():
    lines = "".join(f"    v{number} = x + {number}\n" for number in range(600))
    found = bytecode.stored_names(code_of(f"def f(x):\n{lines}    return v599")).values()
    assert list(dict.fromkeys(found)) == [(f"v{number}",) for number in range(600)]


def test_facts_about_code_are_kept_by_identity_and_forgotten():
    one, other = (code_of("def f(x):\n    return x") for _ in range(2))
    assert one == other
    known: code_flags.OfCode[str] = code_flags.OfCode()
    known.put(one, "one")
    assert known.get(one) == "one" and known.get(other) is None
    del one
    gc.collect()
    assert len(known) == 0


def test_decorating_imports_what_the_first_call_needs(tmp_path):
    text = """
        import sys
        import autograph as ag

        @ag.function
        def f(x):
            return x + 1 if x > 0 else x - 1

        before = set(sys.modules)
        f(1.5)
        print([name for name in set(sys.modules) - before if name.startswith("autograph")], len(f.traces))
    """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(text))
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert run.stdout == "[] 1\n"


class Board:
    def __init__(self):
        self.notes = []


def test_what_python_put_there_is_not_looked_into(monkeypatch):
    """Stand-ins and Python's builtins hold nothing of the program's; what the program put into builtins is its own."""
    board = Board()
    monkeypatch.setattr(builtins, "board", board, raising=False)
    looked_into = []
    inside = undo_log.inside
    monkeypatch.setattr(undo_log, "inside", lambda value: (looked_into.append(value), inside(value))[1])
    found = undo_log.reached([vars(builtins), Recorded(None, print)], undo_log.Changes())
    assert {id(board), id(board.notes), id(print), id(int)} <= found.keys()
    assert all(value is not print and value is not int and value is not Recorded for value in looked_into)


def test_a_class_of_stand_ins_has_a_module_and_its_instances_that_of_what_they_stand_for():
    assert module_of(Recorded) == Recorded.__module__ == "autograph.runtime.tracing.proxies.stand_in"
    assert Recorded(None, np.sum).__module__ == "numpy"


def test_builtins_are_looked_at_once(monkeypatch):
    """Only those that code names; the first trace that names one finds out if traced code gets it as it is."""
    made = []
    make = StandIns._make
    monkeypatch.setattr(StandIns, "_make", lambda self, value: (made.append(value), make(self, value))[1])

    def named(x):
        return abs(x) + len("ab")

    assert ag.function(named)(2.0) == 4.0
    made.clear()
    assert ag.function(lambda x: named(x) + isinstance(x, float))(-3.0) == 6.0
    assert isinstance in made and len not in made and abs not in made and print not in made


def in_sets(grid, count):
    sets = [set() for _ in range(count)]
    for r in range(len(grid)):
        for c in range(len(grid[r])):
            if grid[r][c]:
                sets[r].add(c)
                sets[c].add(r)
            elif grid[c][r]:
                sets[c].add(grid[r][c])
    return [len(each) for each in sets]


def test_calls_grow_with_the_containers_that_a_loop_changes():
    """A loop is not traced again for each container that has to be an object of the graph before it."""
    grid = [[1 if (r * c) % 3 else 0 for c in range(20)] for r in range(20)]
    few, many = ag.function(in_sets), ag.function(in_sets)
    assert few(grid, 20) == in_sets(grid, 20)
    short = steps(ag.function(lambda grid: in_sets(grid, 20)), grid)
    long = steps(ag.function(lambda grid: in_sets(grid, 80)), grid)
    assert many(grid, 80) == in_sets(grid, 80)
    assert long < 5 * short, long / short


def placed(n):
    columns, ups, downs, found = set(), set(), set(), []

    def place(row, board):
        if row == n:
            found.append(board[:])
            return
        for c in range(n):
            if c not in columns and row + c not in ups and row - c not in downs:
                columns.add(c), ups.add(row + c), downs.add(row - c), board.append(c)
                place(row + 1, board)
                board.pop(), columns.remove(c), ups.remove(row + c), downs.remove(row - c)

    place(0, [])
    return found


def test_no_search_for_references_to_containers_of_recursive_functions(monkeypatch):
    def referrers(*things):
        raise AssertionError("all objects are looked through")

    monkeypatch.setattr(staged_containers, "referrers", referrers)
    assert ag.function(placed, engine="native")(5) == placed(5)
