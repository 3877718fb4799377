"""`autograph profile`: the program does not notice, and its staged functions are listed by time."""

import json
import re

import pytest

from autograph.cli.profiles import Row
from autograph.runtime.profiling.function_calls import Record

PROGRAM = """
    import sys
    import autograph as ag

    @ag.function
    def total(xs):
        result = 0.0
        for x in xs:
            result += x
        return result

    @ag.do_not_convert
    def again(n):
        return fall(n - 1) if n else 0

    @ag.function
    def fall(n):
        return again(n)

    @ag.function
    def never(x):
        return x

    class Model:
        @ag.function
        def step(self, xs):
            return 2 * total(xs)

    if __name__ == "__main__":
        print(sys.argv, __name__)
        for _ in range(3):
            total([1.0, 2.0])
            Model().step([1.0])
        fall(4)
        sys.exit(3)
"""


ENGINE = {"AUTOGRAPH_ENGINE": "numpy"}  # staged at once, so that a call in another one is part of it


@pytest.fixture
def profile(write, spawn):
    """Profile the program above, or another text."""

    def profile(*args, text=PROGRAM, **options):
        write("program.py", text)
        return spawn("profile", *args, **options)

    return profile


def functions(stderr):
    """The names in the last column of the table."""
    return re.findall(r"^ *\d.* (\S+)  program\.py:\d+$", stderr, re.MULTILINE)


def test_arguments_output_and_exit_status_are_those_of_the_program(profile):
    done = profile("program.py", "a", "--top", "b")
    assert (done.returncode, done.stdout) == (3, "['program.py', 'a', '--top', 'b'] __main__\n")
    assert re.match(r"program\.py: [\d.]+ m?s, of these [\d.]+ .?s in 3 staged functions\n\n", done.stderr)
    assert sorted(functions(done.stderr)) == ["Model.step", "fall", "total"]


def test_modules(profile, tmp_path):
    done = profile("-m", "program")
    assert (done.returncode, done.stdout) == (3, f"['{tmp_path / 'program.py'}'] __main__\n")
    assert len(functions(done.stderr)) == 3


def test_json(profile, tmp_path):
    text = PROGRAM.replace("sys.exit(3)", "import os; os.chdir('..')")
    done = profile("--json", "-o", "out.json", "program.py", text=text, env=ENGINE)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads((tmp_path / "out.json").read_text())
    assert (told["version"], told["program"]) == (1, "program.py")
    found = {each["name"]: each for each in told["functions"]}
    assert {name: each["calls"] for name, each in found.items()} == {"total": 3, "Model.step": 3, "fall": 5}
    assert found["total"]["file"] == str(tmp_path / "program.py") and found["total"]["line"] == 5
    assert found["total"]["reports"][0]["summary"]["calls"] == 3
    assert found["fall"]["seconds"] == pytest.approx(found["fall"]["own_seconds"])
    assert 0 < sum(each["own_seconds"] for each in told["functions"]) < told["seconds"]


def test_order_and_number(profile):
    assert functions(profile("--sort", "name", "program.py").stderr) == ["Model.step", "fall", "total"]
    done = profile("--sort", "calls", "--top", "1", "program.py", env=ENGINE)
    assert functions(done.stderr) == ["fall"]
    assert done.stderr.endswith("\n... and 2 more: --top 0 shows all\n")


def test_an_exception_ends_the_program_as_without_a_profile(profile, spawn):
    text = PROGRAM.replace("sys.exit(3)", "1 / 0")
    done = profile("program.py", text=text)
    plain = spawn("program.py", command=False)
    assert done.returncode == plain.returncode == 1
    trace, _, table = done.stderr.partition("ZeroDivisionError: division by zero\n")
    assert f"{trace}ZeroDivisionError: division by zero\n" == plain.stderr
    assert len(functions(table)) == 3


def test_programs_without_staged_functions(profile):
    done = profile("program.py", text="print(1)")
    assert done.stdout == "1\n"
    assert re.fullmatch(r"program\.py: \S+ .?s, no staged function was called\n", done.stderr)


def test_functions_that_look_at_their_caller_find_it(profile):
    text = """
        import sys
        import autograph as ag

        @ag.function
        def caller():
            return sys._getframe(1).f_code.co_name

        def me():
            return caller()

        print(me())
    """
    assert profile("program.py", text=text).stdout == "me\n"


def test_only_the_process_of_the_program_reports(profile):
    text = """
        import os, sys
        import autograph as ag
        double = ag.function(lambda x: 2 * x)
        print(double(1))
        sys.stdout.flush()
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        else:
            print(double(2))
    """
    done = profile("program.py", text=text)
    assert sorted(done.stdout.split()) == ["2", "4"]
    assert done.stderr.count("staged function") == 1


def test_little_is_imported_before_the_program(profile):
    done = profile("program.py", text="import sys; print('numpy' in sys.modules, 'rich' in sys.modules)")
    assert done.stdout == "False False\n"


def test_colors_and_advice_change_no_text(profile):
    done = profile("--sort", "name", "program.py", env={"FORCE_COLOR": "1", "COLUMNS": "120"})
    assert "\x1b[" in done.stderr
    plain = re.sub(r"\x1b\[[\d;]*m", "", done.stderr)
    assert [line.split()[-2] for line in plain.splitlines() if "program.py:" in line][1:] == [
        "Model.step", "fall", "total"
    ]  # fmt: skip


def test_wrong_options(cli):
    assert cli("profile", "--sort", "color", "x.py").exit_code == 2
    assert cli("profile").exit_code == 2
    assert "--json" in cli("profile", "--help").stdout


def test_completion(spawn):
    def completed(*words):
        env = {"_AUTOGRAPH_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        return [line.partition(",")[2] for line in spawn(env=env).stdout.splitlines()]

    assert completed("autograph", "prof") == ["profile"]
    assert completed("autograph", "profile", "--sort", "o") == ["own"]
    assert "json" in completed("autograph", "profile", "-m", "js")
    assert "json" in completed("autograph", "run", "-m", "js")


def test_functions_that_are_too_short_are_told_apart():
    def notes(seconds):
        row = Row("f", "f.py", 1, Record(500, 0, seconds, seconds), [])
        return [f"{each.cause}. {each.remedy}" for each in row.advice]

    about = "about as long as entering a staged function. Decorate its caller instead"
    assert notes(500 * 2e-7) == [f"a call takes 0.2 µs, {about}"]
    assert notes(500 * 1e-3) == []


LINES = """
    import autograph as ag

    @ag.function
    def total(xs):
        result = 0.0
        for x in xs:
            result += x
        return result

    for _ in range(3):
        total([1.0, 2.0] * 50)
"""


def test_lines(profile):
    without = profile("program.py", text=LINES, env=ENGINE).stderr
    done = profile("--lines", "program.py", text=LINES, env=ENGINE)
    assert functions(done.stderr) == functions(without) == ["total"] and "result" not in without
    rows = re.findall(r"^.* ([\d,]+)  (\w+) +program\.py:(\d+) +(.*)$", done.stderr, re.MULTILINE)
    assert {("300", "NumPy", "7", "for x in xs:"), ("300", "NumPy", "8", "result += x")} <= {*rows}
    assert ("1", "tracing", "4", "def total(xs):") in rows
    top = profile("--lines", "--top", "1", "program.py", text=LINES, env=ENGINE).stderr
    assert re.search(r"\n\.\.\. and \d+ more lines\n$", top)


def test_lines_as_json(profile):
    found = json.loads(profile("--lines", "--format", "json", "program.py", text=LINES, env=ENGINE).stderr)
    assert {"functions", "lines", "nodes"} <= set(found)
    assert {(node["op"], node["calls"]) for node in found["nodes"]} >= {("for", 300)}
    assert "lines" not in json.loads(profile("--json", "program.py", text=LINES, env=ENGINE).stderr)


@pytest.mark.parametrize("format, key", [("speedscope", "profiles"), ("chrome", "traceEvents")])
def test_files_for_viewers(profile, tmp_path, format, key):
    done = profile("--format", format, "-o", "out.json", "program.py", text=LINES, env=ENGINE)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "out.json").read_text(encoding="utf-8")
    assert json.loads(text)[key] and "total" in text and "program.py" in text
