"""`autograph convert`: modules that can be imported."""

import os
import stat

import pytest

PART = "def part(xs):\n    for x in xs:\n        if x:\n            return x\n"


@pytest.fixture
def package(write, tmp_path):
    write("src/pack/__init__.py", "from pack.sub.part import part\n")
    write("src/pack/sub/__init__.py", "")
    write("src/pack/sub/part.py", PART)
    write("src/pack/data.txt", "data\n")
    write("src/pack/.hidden/x.py", PART)
    write("src/pack/__pycache__/x.py", PART)
    return tmp_path / "src" / "pack"


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_package_keeps_its_structure_and_can_be_imported(cli, package, tmp_path, spawn):
    result = cli("convert", "src/pack", "--out-dir", "out")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "3 converted, 1 copied, in out\n"
    assert files(tmp_path / "out") == ["pack/__init__.py", "pack/data.txt", "pack/sub/__init__.py", "pack/sub/part.py"]
    ran = spawn("-c", "import pack; print(pack.part([0, 3]), pack.__file__)", command=False, path=tmp_path / "out")
    assert ran.stdout == f"3 {tmp_path / 'out' / 'pack' / '__init__.py'}\n"


def test_files(cli, write, tmp_path):
    write("a.py", PART)
    write("script", f"#!/usr/bin/env python\n{PART}").chmod(0o755)
    result = cli("convert", "a.py", "script", "--out-dir", "out")
    assert result.stdout == "2 converted, in out\n"
    assert files(tmp_path / "out") == ["a.py", "script"]
    assert (tmp_path / "out" / "script").stat().st_mode & stat.S_IXUSR


def test_a_script_remains_one(cli, write, tmp_path):
    write("script", f"#!/usr/bin/env python\n# coding: latin-1\n\n# about part\n{PART}")
    cli("convert", "script", "--out-dir", "out")
    lines = (tmp_path / "out" / "script").read_text().splitlines()
    assert lines[:3] == ["#!/usr/bin/env python", "# coding: latin-1", "import autograph.operators as ag__"]


def test_the_working_folder_without_what_is_written_into_it(cli, write, tmp_path):
    write("a.py", PART)
    for _ in range(2):
        assert cli("convert", ".", "--out-dir", "out").stdout == "1 converted, in out\n"
    assert files(tmp_path) == ["a.py", "out/a.py"]


def test_what_fails_is_told_and_the_rest_is_done(cli, write, tmp_path):
    write("src/a.py", "if\n")
    write("src/b.py", PART)
    write("src/c.py", "# coding: none-such\n")
    result = cli("convert", "src", "--out-dir", "out")
    assert result.exit_code == 1
    assert result.stdout == "1 converted, 2 failed, in out\n"
    assert 'File "src/a.py", line 1' in result.stderr
    assert "cannot read 'src/c.py': " in result.stderr
    assert files(tmp_path / "out") == ["src/b.py"]


@pytest.mark.parametrize(
    "args, message",
    [
        (["a.py", "--out-dir", "."], "'a.py' is a source, which is not overwritten: choose another --out-dir"),
        (["src", "--out-dir", "."], "'src/a.py' is a source, which is not overwritten: choose another --out-dir"),
        (["a.py", "src/a.py", "--out-dir", "out"], "'a.py' and 'src/a.py' would both be written to 'out/a.py'"),
        (["a.py"], "Missing option '--out-dir' (see autograph convert --help)"),
        (["--out-dir", "out"], "Missing argument 'PATH...' (see autograph convert --help)"),
        (["b.py", "--out-dir", "out"], "Invalid value for 'PATH...': Path 'b.py' does not exist"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_nothing_is_written(cli, write, tmp_path, args, message):
    write("a.py", PART)
    write("src/a.py", PART)
    result = cli("convert", *args)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"autograph: {message}")
    assert files(tmp_path) == ["a.py", "src/a.py"]
    assert (tmp_path / "a.py").read_text() == PART


def test_a_folder_that_cannot_be_written(cli, write):
    write("a.py", PART)
    write("out/a.py/file", "")
    result = cli("convert", "a.py", "--out-dir", "out")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"autograph: cannot write '{os.path.join('out', 'a.py')}': ")
