"""`autograph run`: the program does not notice."""

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SIGN = """
def sign(x):
    if x < 0:
        return -1
    return 1


def is_converted(function):
    return any(getattr(value, "__name__", None) == "autograph.operators" for value in function.__code__.co_consts)
"""

ENVIRONMENT = """
import json, sys
names = {k: repr(v) for k, v in globals().items() if k not in ("json", "sys", "__loader__", "__builtins__")}
print(json.dumps([names, sys.argv, sys.path, __name__, sys.modules["__main__"].__dict__ is globals()]))
"""


def shown(text):
    """What a printed traceback says; on Python 3.10 the last of several entries that are one and the same call.

    There, a branch or loop body that became a function has an entry of its own, behind that of its function.
    """
    if sys.version_info >= (3, 11):
        return text.splitlines()
    found = re.findall(r'^  File "(.*)", line (\d+), in (.*)$|^(\w+)(?:: .*)?$', text, re.MULTILINE)
    return [here for here, after in zip(found, [*found[1:], None]) if not after or here[::2] != after[::2]]


def without_loader(text):
    """What ENVIRONMENT printed, the loader of a converted module not looked at, nor the way to this library."""
    names, *rest = json.loads(text)
    names["__spec__"] = names.get("__spec__", "").split("loader=")[0]
    return names, rest


# it is where it would be


@pytest.mark.parametrize("args", [["program.py"], ["./program.py", "-x", "--convert", "y"], ["sub/inner.py", "--help"]])
def test_a_script_finds_all_as_under_python(spawn, write, args):
    write("program.py", ENVIRONMENT)
    write("sub/inner.py", ENVIRONMENT)
    expected, found = spawn(*args, command=False), spawn("run", *args)
    assert found.stderr == ""
    assert without_loader(found.stdout) == without_loader(expected.stdout)


@pytest.mark.parametrize("args", [["-m", "program", "-v", "x"], ["-m", "pack.part"], ["-m", "pack", "-m", "y"]])
def test_a_module_finds_all_as_under_python(spawn, write, args):
    for name in ("program.py", "pack/__main__.py", "pack/part.py"):
        write(name, ENVIRONMENT)
    write("pack/__init__.py", "")
    expected, found = spawn(*args, command=False), spawn("run", *args)
    assert found.stderr == ""
    assert without_loader(found.stdout) == without_loader(expected.stdout)


def test_a_program_from_standard_input(spawn):
    expected, found = spawn("-", "a", command=False, input=ENVIRONMENT), spawn("run", "-", "a", input=ENVIRONMENT)
    assert without_loader(found.stdout) == without_loader(expected.stdout)


def test_a_folder_and_an_archive(spawn, write, tmp_path):
    write("folder/__main__.py", "import beside, sys\nprint(beside.name, sys.argv, sys.path[0])\n")
    write("folder/beside.py", "name = 'found'\n")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        for name in ("__main__.py", "beside.py"):
            archive.write(tmp_path / "folder" / name, name)
    for target in ("folder", "packed.zip"):
        expected, found = spawn(target, "a", command=False), spawn("run", target, "a")
        assert found.stdout == expected.stdout
        assert found.returncode == 0
    assert "nothing was converted for '__main__' (__main__: it is imported from a zip archive)" in found.stderr


def test_a_script_behind_a_link_finds_the_modules_beside_it(spawn, write, tmp_path):
    write("real/script.py", "import beside")
    write("real/beside.py", "print('found')")
    (tmp_path / "link.py").symlink_to(tmp_path / "real" / "script.py")
    assert spawn("run", "link.py").stdout == "found\n"


def test_the_program_reads_standard_input(spawn, write):
    write("echo.py", "import sys\nfor line in sys.stdin:\n    print(line.upper(), end='')\n")
    assert spawn("run", "echo.py", input="a\nb\n").stdout == "A\nB\n"


def test_flags_of_the_interpreter_are_heeded(spawn, write):
    write("flags.py", "def f(x):\n    '''doc'''\n    assert x, 'no'\n    return f.__doc__, __debug__\nprint(f(0))\n")
    assert spawn("run", "flags.py", flags=("-OO",)).stdout == "(None, False)\n"
    write("warns.py", "def f(x):\n    return x is 'a'\n")
    found = spawn("run", "warns.py", flags=("-W", "error"))
    assert found.stderr == spawn("warns.py", flags=("-W", "error"), command=False).stderr
    assert found.returncode == 1


# it ends as it would


ENDS = {"": 0, "sys.exit()": 0, "sys.exit(7)": 7, "sys.exit('why')": 1, "1/0": 1, "import threading as t; t.x": 1}


@pytest.mark.parametrize("end, status", ENDS.items())
def test_the_exit_status_is_the_program_s(spawn, write, end, status):
    write("ends.py", f"import sys, atexit\natexit.register(print, 'at exit')\nprint('here')\n{end}\n")
    expected, found = spawn("ends.py", command=False), spawn("run", "ends.py")
    assert (found.returncode, found.stdout, found.stderr) == (status, expected.stdout, expected.stderr)


def test_an_interrupt_ends_it_as_under_python(spawn, write):
    write("interrupted.py", "def f(x):\n    if x:\n        raise KeyboardInterrupt\nf(1)\n")
    expected, found = spawn("interrupted.py", command=False), spawn("run", "interrupted.py")
    assert shown(found.stderr) == shown(expected.stderr)
    assert found.returncode in (130, -signal.SIGINT)


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_it_can_be_interrupted(tmp_path, write):
    write("waits.py", "import time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
    command = [sys.executable, "-m", "autograph", "run", "waits.py"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # who runs in the background ignores it
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=20) in (130, -signal.SIGINT)
        finally:
            process.kill()
        assert process.stderr.read().endswith("KeyboardInterrupt\n")


RAISING = """
import helper

class Trouble(Exception):
    pass

def inner(x):
    while x:
        if x == 2:
            raise Trouble(x)
        x -= 1

def outer(xs):
    for x in xs:
        try:
            inner(x)
        except Trouble as error:
            raise KeyError(x) from error

helper.call(outer, [1, 3])
"""


@pytest.mark.parametrize("args", [[], ["--convert", "helper"], ["--convert", "helper", "--convert", "__main__"]])
def test_a_traceback_shows_only_the_program_s_frames(spawn, write, args):
    write("raising.py", RAISING)
    write("helper.py", "def call(f, x):\n    if x:\n        return f(x)\n")
    expected, found = spawn("raising.py", command=False), spawn("run", *args, "raising.py")
    assert shown(found.stderr) == shown(expected.stderr)
    assert found.returncode == 1


def test_all_frames_can_be_had(spawn, write):
    write("raising.py", RAISING)
    write("helper.py", "def call(f, x):\n    if x:\n        return f(x)\n")
    found = spawn("run", "raising.py", env={"AUTOGRAPH_FULL_TRACEBACK": "1"})
    assert "operators/loops.py" in found.stderr
    assert "program.py" in found.stderr


def test_errors_before_the_program_begins(spawn, write):
    write("broken.py", "x = 1\nif x\n    pass\n")
    write("imports.py", "import broken\n")
    write("bad/__init__.py", "import nowhere_to_be_found\n")
    write("bad/part.py", "")
    for args in (["broken.py"], ["--convert", "broken", "imports.py"], ["-m", "bad.part"]):
        plain = [arg for arg in args if arg not in ("--convert", "broken")]
        expected, found = spawn(*plain, command=False), spawn("run", *args)
        assert shown(found.stderr) == [line for line in shown(expected.stderr) if "runpy" not in "".join(line)]
        assert found.returncode == 1


def test_the_program_s_own_excepthook_is_called(spawn, write):
    write("hooked.py", """
        import sys, traceback
        sys.excepthook = lambda kind, error, trace: print(kind.__name__, len(traceback.extract_tb(trace)))
        raise ValueError
    """)
    assert spawn("run", "hooked.py").stdout == "ValueError 1\n"


# what is converted


TELLING = f"""{SIGN}
import beside, pack.part
print(*map(is_converted, [sign, beside.sign, pack.part.sign, pack.sign]))
"""


@pytest.mark.parametrize(
    "patterns, converted",
    [
        ([], "True False False False"),
        (["beside"], "False True False False"),
        (["pack"], "False False True True"),
        (["pack.*"], "False False True False"),
        (["__main__", "beside"], "True True False False"),
        (["__main__", "[bp]*"], "True True True True"),
    ],
)
@pytest.mark.parametrize("program", [["telling.py"], ["-m", "telling"]])
def test_what_is_converted(spawn, write, patterns, converted, program):
    write("telling.py", TELLING)
    for name in ("beside.py", "pack/__init__.py", "pack/part.py"):
        write(name, SIGN)
    found = spawn("run", *(part for pattern in patterns for part in ("--convert", pattern)), *program)
    assert found.stdout == converted + "\n"
    assert found.returncode == 0


def test_a_module_that_is_run_matches_by_its_own_name_too(spawn, write):
    write("telling.py", f"{SIGN}\nprint(is_converted(sign))\n")
    assert spawn("run", "--convert", "telling", "-m", "telling").stdout == "True\n"
    assert spawn("run", "--convert", "math", "-m", "telling").stdout == "False\n"


def test_a_pattern_for_which_nothing_is_converted_is_told(spawn, write):
    write("empty.py", "import math\n")
    found = spawn("run", "--convert", "math", "--convert", "mathh", "empty.py")
    first, second = found.stderr.splitlines()
    assert first.startswith("autograph: nothing was converted for 'math' (math: it is ")
    assert second == "autograph: nothing was converted for 'mathh' (no module of this name was imported)"
    assert (found.returncode, found.stdout) == (0, "")


def test_no_bytecode_of_converted_modules_is_written(spawn, write, tmp_path):
    write("main.py", "import beside")
    write("beside.py", SIGN)
    assert spawn("run", "--convert", "beside", "--convert", "__main__", "main.py").returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.py", "main.py"]


@pytest.mark.slow
@pytest.mark.versions
def test_everything_that_python_has_imported_can_be_converted(spawn, write):
    functions = "os.walk, re.match, typing.cast, sign"
    write("main.py", f"{SIGN}\nimport os, re, typing\nprint(*map(is_converted, [{functions}]))\n")
    found = spawn("run", "--convert", "*", "main.py")
    assert (found.stdout, found.stderr) == ("True True False True\n", "")


@pytest.mark.parametrize("name", ["bisect", "heapq", "shlex", "textwrap"])
def test_python_s_own_tests_of_a_module(spawn, name):
    pytest.importorskip(f"test.test_{name}")
    found = spawn("run", "--convert", name, "-m", "test", f"test_{name}")
    assert found.returncode == 0, found.stderr


# what cannot be run


@pytest.mark.parametrize(
    "args, message",
    [
        (["missing.py"], "autograph: cannot open 'missing.py': No such file or directory"),
        (["-m", "missing"], "autograph: cannot run 'missing': there is no module of this name"),
        (["-m", "missing.part"], "autograph: cannot run 'missing.part': No module named 'missing'"),
        (["-m", ".relative"], "autograph: cannot run '.relative': give the full name of a module"),
        (["-m", "json"], "autograph: cannot run the package 'json': it has no module __main__"),
        (["-m", "math"], "autograph: cannot run 'math': it has no Python code"),
        (["."], "autograph: cannot run the folder '.': there is no __main__.py in it"),
        (["--convert"], "autograph: Option '--convert' requires an argument"),
        (["--unknown", "x.py"], "autograph: No such option '--unknown' (see autograph run --help)"),
        ([], "autograph: Missing argument 'SCRIPT|MODULE' (see autograph run --help)"),
    ],
)
def test_what_cannot_be_run_is_one_clear_line(spawn, args, message):
    found = spawn("run", *args)
    assert found.stderr.splitlines() == [message]
    assert (found.returncode, found.stdout) == (2, "")
