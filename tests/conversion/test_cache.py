"""Conversions on disk: found by whoever has the same function, and by nobody else."""

import importlib.util
import itertools
import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest

import autograph as ag
from autograph import operators
from autograph.common import disk_cache
from autograph.conversion import cache, conversions
from autograph.errors import SourceError
from autograph.importing import compile_converted
from autograph.syntax import codes, source

REPOSITORY = Path(__file__).parent.parent
TEXT = '''
import numpy as np
from math import floor


def clip(xs, limit):
    found = []
    for x in xs:
        if x in {"a", "b", 1.5, 10**40} or x > limit:
            continue
        found.append(np.abs(x) * floor(2.5))
    return found


class Of:
    def __init__(self, n):
        self.__n = n

    def count(self):
        while self.__n > 3:
            self.__n -= 1
        return (lambda: self.__n)()
'''


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def module(tmp_path):
    """Give a file a text, and import it."""
    times = itertools.count(1_000_000_000)

    def load(text=TEXT):
        path = tmp_path / "cached_program.py"
        path.write_text(text)
        os.utime(path, (next(times),) * 2)
        linecache.checkcache(str(path))
        spec = importlib.util.spec_from_file_location("cached_program", path)
        made = importlib.util.module_from_spec(spec)
        exec(compile(text, str(path), "exec"), made.__dict__)
        return made

    return load


def history():
    return "".join(sorted(disk_cache.contents(disk_cache.folder()).history.elements()))


def test_it_is_converted_once(module, place):
    first, second = module(), module()
    one, other = ag.to_graph(first.clip), ag.to_graph(second.clip)
    assert one.__code__ is not other.__code__ and one.__code__ == other.__code__
    assert history() == "HW"
    assert one([-1, "a", 5, 7], 6) == other([-1, "a", 5, 7], 6) == [2, 10]
    assert str(ag.explain(first.clip)) == str(ag.explain(second.clip))
    assert ag.to_code(first.clip) == ag.to_code(second.clip)


def test_methods(module):
    for _ in range(2):
        of = module().Of(9)
        assert ag.to_graph(of.count)() == 3
    assert history() == "HW"


def test_closures_and_lambdas_of_one_line(module):
    text = "def make(n):\n    return (lambda x: x if x > n else n), (lambda x: x if x < n else n)\n"
    for _ in range(2):
        for each, wanted in zip(module(text).make(3), (5, 3), strict=True):
            assert ag.to_graph(each)(5) == wanted
    assert history() == "HHWW"


@pytest.mark.parametrize(
    "changed",
    [
        TEXT.replace("2.5", "3.5"),
        TEXT.replace("if x in", "if  x in"),
        TEXT.replace("import floor", "import ceil as floor"),
        TEXT.replace("import numpy as np", "import numpy.linalg as np; np.abs = abs"),
        TEXT + "np = type('np', (), {'abs': staticmethod(abs)})\n",
        TEXT + "def floor(x):\n    import sys\n    return sys._getframe(1).f_lineno\n",
        "\n" + TEXT,
    ],
)
def test_what_it_depends_on(module, changed):
    """Its text, its place, and what its globals are to converters."""
    ag.to_graph(module().clip)
    ag.to_graph(module(changed).clip)
    assert history() == "WW"


def test_what_all_depend_on(module, monkeypatch):
    def convert():
        ag.to_graph(module().clip)
        return history()

    assert convert() == "W"
    monkeypatch.setattr(cache, "_VERSION", cache._VERSION + " ")
    assert convert() == "WW"
    monkeypatch.setenv("AUTOGRAPH_FULL_TRACEBACK", "1")
    assert convert() == "WWW"
    monkeypatch.setattr("builtins.of_this_test", 1, raising=False)
    assert convert() == "WWWW"
    monkeypatch.setattr(sys, "version", "4.0")
    assert convert() == "WWWWW"
    assert convert() == "HWWWWW"


@pytest.mark.parametrize("damage", [lambda data: data[:9], lambda data: data[:-1], lambda data: data[:50] + b"?" * 9])
def test_a_damaged_file_is_made_anew(module, place, damage):
    ag.to_graph(module().clip)
    (path,) = place.glob("*.converted")
    good = path.read_bytes()
    path.write_bytes(damage(good))
    assert ag.to_graph(module().clip)([4], 6) == [8]
    assert history() == "DWW" and path.read_bytes() == good


def test_not_kept(module, place, monkeypatch):
    names = {}
    exec(compile("f = lambda x: x if x else 1", "<typed>", "exec"), names)
    with pytest.raises(SourceError):
        ag.to_graph(names["f"])
    monkeypatch.setattr("linecache.cache", {"<typed>": (27, None, ["f = lambda x: x if x else 1"], "<typed>")})
    assert ag.to_graph(names["f"])(0) == 1
    (reason,) = why_not_kept(names["f"], 1)
    assert reason == "the conversion of `<lambda>` is not kept: its source '<typed>' is not a file"
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    assert ag.to_graph(module().clip)([4], 6) == [8]
    monkeypatch.delenv("AUTOGRAPH_CACHE")
    monkeypatch.setattr(cache, "_VERSION", "")
    ag.to_graph(module().clip)
    assert not place.exists()


def test_where_nothing_can_be_written(module, place, caplog):
    """`explain` says so; only for machine code, which takes long to make, there is a warning."""
    place.write_text("a file, not a folder")
    for _ in range(2):
        clip = module().clip
        assert ag.to_graph(clip)([4], 6) == [8]
        (reason,) = why_not_kept(clip, [4], 6)
        assert reason.startswith(f"the conversion of `clip` is not kept: nothing can be written in {str(place)!r}: ")
    assert not caplog.messages


def test_a_function_with_lines_that_are_not_indented(module):
    multiply = module("def multiply(x):\n    return (x *\n2)\n").multiply
    (reason,) = why_not_kept(multiply, 4)
    assert reason == "the conversion of `multiply` is not kept: a line of it is not indented"


def why_not_kept(function, *args):
    """The reasons in `explain` for a conversion that is not on disk."""
    report = ag.function(function).explain(*args).where(kind="disk", text="conversion")
    assert {event.place for event in report} <= {(function.__code__.co_filename, function.__code__.co_firstlineno)}
    return [event.message for event in report]


def test_a_file_that_was_edited(module, tmp_path):
    first = module()
    ag.to_graph(first.clip)
    second = module()
    module(TEXT.replace("2.5", "3.5"))
    with pytest.raises(SourceError):
        ag.to_graph(second.clip)


def test_whole_files(tmp_path):
    path = tmp_path / "whole.py"
    path.write_text(TEXT)
    made = [compile_converted(path.read_bytes(), str(path)) for _ in range(2)]
    assert history() == "HW"
    assert made[0][0] == made[1][0] and str(made[0][1]) == str(made[1][1])
    names = {}
    exec(made[1][0], names)
    assert names["clip"]([4], 6) == [8] and "ag__" not in names
    compile_converted(path.read_bytes(), str(path) + "x")
    compile_converted(path.read_bytes() + b"\n", str(path))
    assert history() == "HWW"           # the second stands in no file


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import autograph as ag, cached_program
print(ag.to_graph(cached_program.clip)([4], 6) == [8])
"""


def test_other_processes(module, tmp_path):
    """So no order of sets is in the key."""
    module()
    for seed in "123":
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONHASHSEED": seed},
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip
        assert run.stdout == "True\n"
    assert history() == "HHW"


def test_what_is_read_is_what_was_written():
    """Of all functions of some modules."""
    import fractions
    import statistics
    import textwrap

    functions = [
        each for module in (fractions, statistics, textwrap) for owner in (module, *vars(module).values())
        for each in getattr(owner, "__dict__", {}).values()
        if type(each) is type(ag.convert) and each.__code__.co_filename == module.__file__
    ]  # fmt: skip
    assert len(functions) > 50
    for function in functions:
        made = conversions._convert(function)
        key = cache.key_of_function(function, source.block_of(function, made.lines))
        if cache.load(key) is None:
            continue
        code, decisions = cache.load(key)
        assert code == made.code and decisions == made.decisions
        assert [each.co_consts.count(operators) for each in codes.nested_codes(code)] == [
            each.co_consts.count(operators) for each in codes.nested_codes(made.code)
        ]
