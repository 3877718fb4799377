"""Folders with files that cannot be read or parsed, links, and progress: the other files are always done."""

import ast
import json
import os
import pty
import subprocess
import sys

import pytest

GOOD = "def f(x):\n    if x:\n        return 1\n"
BAD = {
    "syntax": "def f(:\n",
    "deep_sum": "x = " + "+".join(["1"] * 20_000),
    "deep_parentheses": "x = " + "(" * 500 + "1" + ")" * 500,
    "deep_operators": "x = " + "-" * 100_000 + "1",
    "deep_lambdas": "x = " + "lambda: " * 3_000 + "1",
    "deep_elifs": "if x == 0:\n    y = 0\n" + "".join(f"elif x == {n}:\n    y = {n}\n" for n in range(5_000)),
    "deep_blocks": "".join(f"{' ' * n}if x:\n" for n in range(120)) + " " * 120 + "pass\n",
    "digits": f"x = {'9' * 5_000}\n",
    "null": "x = 1\0\n",
    "indentation": "  x = 1\n y = 2\n",
    "unknown_encoding": "# coding: none-such\n",
    "no_text_encoding": "# coding: rot13\n",
    "binary_encoding": "# coding: zlib\n",
    "undefined_encoding": "# coding: undefined\n",
    "wrong_bytes": b"x = '\xff'\n",
    "wide": GOOD.encode("utf-16"),
    "two_encodings": b"\xef\xbb\xbf# coding: latin-1\n",
}


def _is_parsed(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError):
        return False
    return True


for _name in [name for name in BAD if name.startswith("deep_") and _is_parsed(BAD[name])]:
    del BAD[_name]  # how deep a file may be depends on Python's version


@pytest.fixture(params=BAD)
def folder(request, write, tmp_path):
    write("src/a.py", GOOD)
    write("src/z.py", GOOD)
    content = BAD[request.param]
    (tmp_path / "src" / "bad.py").write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path / "src"


def assert_only_bad_is_reported(result):
    assert result.exit_code == 1
    assert "bad.py" in result.stderr and "a.py" not in result.stderr and "Traceback" not in result.stderr


def test_explain(cli, folder):
    result = cli("explain", "src")
    assert_only_bad_is_reported(result)
    assert [line for line in result.stdout.splitlines() if line.endswith(".py")] == ["src/a.py", "src/z.py"]
    found = cli("explain", "src", "--format", "json")
    assert {entry["file"] for entry in json.loads(found.stdout)} == {"src/a.py", "src/z.py"} and found.exit_code == 1


def test_to_code(cli, folder, tmp_path):
    result = cli("to-code", "src")
    assert_only_bad_is_reported(result)
    assert [line for line in result.stdout.splitlines() if line[0:1] == "#"] == ["# src/a.py", "# src/z.py"]
    found = cli("to-code", "src", "-o", "out.py")
    assert_only_bad_is_reported(found)
    assert (tmp_path / "out.py").read_text().count("def f(x):") == 2


def test_convert(cli, folder, tmp_path):
    result = cli("convert", "src", "--out-dir", "out")
    assert_only_bad_is_reported(result)
    assert result.stdout == "2 converted, 1 failed, in out\n"
    assert sorted(os.listdir(tmp_path / "out" / "src")) == ["a.py", "z.py"]


def test_a_bad_file_by_itself_is_an_error(cli, folder, tmp_path):
    for args in (["explain"], ["to-code"], ["to-code", "-o", "out.py"]):
        result = cli(args[0], "src/bad.py", *args[1:])
        assert (result.exit_code, result.stdout) == (2, "") and "bad.py" in result.stderr
    assert not (tmp_path / "out.py").exists()


def test_a_folder_of_bad_files_only(cli, write, tmp_path):
    write("src/bad.py", BAD["syntax"])
    assert cli("to-code", "src", "-o", "out.py").exit_code == 1 and not (tmp_path / "out.py").exists()


@pytest.mark.skipif("deep_sum" not in BAD, reason="this Python parses it")
def test_a_function_that_is_nested_too_deeply_is_one_line(cli, write):
    write("deep.py", BAD["deep_sum"])
    result = cli("to-code", "deep.py")
    assert result.stderr.startswith("autograph: deep.py is nested too deeply to be parsed: ")


def test_text_that_its_encoding_cannot_hold(cli, tmp_path):
    (tmp_path / "old.py").write_bytes(b"# coding: unicode_escape\ndef f(x):\n    return not '\\ud800'\n")
    result = cli("to-code", "old.py", "-o", "new.py")
    assert result.exit_code == 2 and result.stderr.startswith("autograph: cannot read 'old.py': ")


# Links ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def linked(write, tmp_path):
    write("outside/secret.py", "SECRET = 1\n")
    write("outside/data.txt", "SECRET\n")
    write("src/a.py", GOOD)
    for name, target in {
        "file.py": "../outside/secret.py", "data.txt": "../outside/data.txt", "folder": "../outside", "up": "..",
        "nowhere.py": "gone", "absolute.py": tmp_path / "outside" / "secret.py", "itself": "itself", "inner.py": "a.py",
    }.items():  # fmt: skip
        (tmp_path / "src" / name).symlink_to(target)
    return tmp_path


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_links_are_not_followed_out_of_the_source(cli, linked):
    result = cli("convert", "src", "--out-dir", "out")
    assert result.exit_code == 0 and result.stdout == "2 converted, in out\n"
    assert files(linked / "out") == ["src", "src/a.py", "src/inner.py"]
    left_out = [line.split("'")[1] for line in result.stderr.splitlines()]
    assert left_out == [f"src/{name}" for name in "absolute.py data.txt file.py folder itself nowhere.py up".split()]
    for command in ("explain", "to-code"):
        result = cli(command, "src")
        assert result.exit_code == 0 and "SECRET" not in result.stdout and "inner.py" in result.stdout


@pytest.mark.parametrize("link", ["out/src/a.py", "out/src"])
def test_nothing_is_written_through_a_link(cli, write, tmp_path, link):
    write("src/a.py", GOOD)
    victim = write("victim/a.py", "mine = 1\n")
    place = tmp_path / link
    place.parent.mkdir(parents=True)
    place.symlink_to(victim if link.endswith(".py") else victim.parent)
    result = cli("convert", "src", "--out-dir", "out")
    assert result.exit_code == 2 and f"'{link}' is a link, through which nothing is written" in result.stderr
    assert victim.read_text() == "mine = 1\n" and os.listdir(victim.parent) == ["a.py"]


@pytest.mark.parametrize("target", ["victim.py", "not_there.py"])
def test_an_output_that_is_a_link(cli, write, tmp_path, target):
    write("model.py", GOOD)
    victim = write("victim.py", "mine = 1\n")
    (tmp_path / "out.py").symlink_to(target)
    for args in (["to-code", "model.py"], ["graph", "model.py:f", "f64"]):
        result = cli(*args, "-o", "out.py")
        assert result.exit_code == 2 and "'out.py' is a link, through which nothing is written" in result.stderr
    assert victim.read_text() == "mine = 1\n" and not (tmp_path / "not_there.py").exists()


def test_a_source_is_not_overwritten_by_another_name_of_it(cli, write, tmp_path):
    source = write("src/a.py", GOOD)
    (tmp_path / "out" / "src").mkdir(parents=True)
    os.link(source, tmp_path / "out" / "src" / "a.py")
    result = cli("convert", "src", "--out-dir", "out")
    assert result.exit_code == 2 and "is a source, which is not overwritten" in result.stderr
    assert cli("graph", "src/a.py:f", "f64", "-o", "out/src/a.py").exit_code == 2
    assert source.read_text() == GOOD


def test_the_folder_of_the_output_may_be_a_link(cli, write, tmp_path):
    write("src/a.py", GOOD)
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    assert cli("convert", "src", "--out-dir", "out").exit_code == 0
    assert files(tmp_path / "real") == ["src", "src/a.py"]


# Progress -------------------------------------------------------------------------------------------------------------


def in_terminal(tmp_path, *args):
    """What a command writes to a terminal as standard error; standard output is a file."""
    main, side = pty.openpty()
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    environment = {**os.environ, "PYTHONPATH": root, "TERM": "xterm-256color", "COLUMNS": "80"}
    environment.pop("NO_COLOR", None)
    with open(tmp_path / "stdout", "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "autograph", *args], cwd=tmp_path, env=environment, stdout=output, stderr=side
        )
        os.close(side)
        written = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:     # the other side is closed
                break
            if not part:
                break
            written += part
    os.close(main)
    assert process.wait() == 0
    return written.decode(), (tmp_path / "stdout").read_text()


@pytest.mark.parametrize("args", [["explain", "src"], ["to-code", "src"], ["convert", "src", "--out-dir", "out"]])
def test_progress_is_shown_in_a_terminal(write, tmp_path, args):
    for name in "abc":
        write(f"src/{name}.py", GOOD)
    progress, output = in_terminal(tmp_path, *args)
    assert "Converting" in progress and "3/3" in progress
    assert "Converting" not in output and output


def test_no_progress_for_one_file_or_in_a_pipe(cli, write, tmp_path):
    write("src/a.py", GOOD)
    assert in_terminal(tmp_path, "explain", "src/a.py")[0] == ""
    assert cli("explain", "src").stderr == ""
