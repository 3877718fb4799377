"""`autograph to-code`."""

import pytest

MODEL = '''
    """A model."""
    import os


    class Model:
        # how far a step goes
        size = 1

        def step(self, x):
            """Make a step."""
            if x > self.size:
                x = x - 1  # back
            return x

        @property
        def name(self):
            return "a" if self.size else 'b'

        @name.setter
        def name(self, value):
            self.size = value


    def outer(x):
        if x:
            def inner(y):
                return not y
            return inner(x)
'''

STEP = '''\
def step(self, x):
    """Make a step."""

    def if_body():
        nonlocal x
        x = x - 1  # back
    ag__.if_stmt(x > self.size, if_body, None, ('x',))
    return x
'''


@pytest.fixture
def model(write):
    return write("model.py", MODEL)


def test_a_file(cli, model):
    result = cli("to-code", "model.py")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[:2] == ["", '"""A model."""']
    assert "import autograph.operators as ag__" in lines[2:4]
    assert "    # how far a step goes" in lines
    compile(result.stdout, "model.py", "exec")


def test_a_method(cli, model):
    assert cli("to-code", "model.py:Model.step").stdout == STEP


def test_a_class(cli, model):
    result = cli("to-code", "model.py:Model").stdout
    assert result.startswith("class Model:\n    # how far a step goes\n    size = 1\n")
    assert result.endswith("ag__.ref(self).size = value\n")


def test_an_inner_function_that_became_part_of_a_branch(cli, model):
    result = cli("to-code", "model.py:outer.inner").stdout
    assert result == "def inner(y):\n    return ag__.not_(y)\n"
    assert cli("to-code", "model.py:outer.<locals>.inner").stdout == result


def test_several_functions_of_one_name(cli, model):
    getter, setter = cli("to-code", "model.py:Model.name").stdout.split("\n\n")
    assert getter.startswith("@property\ndef name(self):")
    assert setter.startswith("@name.setter\ndef name(self, value):")


def test_standard_input(cli, model):
    assert cli("to-code", "-", input=model.read_text()).stdout == cli("to-code", "model.py").stdout
    assert cli("to-code", "-:Model.step", input=model.read_text()).stdout == STEP


def test_a_file_whose_name_has_a_colon(cli, write):
    write("a:b.py", "def f(x):\n    return not x\n")
    assert "ag__.not_(x)" in cli("to-code", "a:b.py:f").stdout


def test_a_folder_is_converted_file_by_file(cli, write):
    for name in ("pack/b.py", "pack/a.py", "pack/.hidden.py", "pack/__pycache__/c.py", "pack/data.txt"):
        write(name, "def f(x):\n    return not x\n")
    headers = [line for line in cli("to-code", "pack").stdout.splitlines() if line.startswith("#")]
    assert headers == ["# pack/a.py", "# pack/b.py"]


def test_the_difference(cli, model):
    result = cli("to-code", "--diff", "model.py:Model.step").stdout.splitlines()
    assert result[:2] == ["--- model.py", "+++ model.py (converted)"]
    assert "-    if x > self.size:" in result
    assert "+    ag__.if_stmt(x > self.size, if_body, None, ('x',))" in result
    assert "     return x" in result


def test_no_difference(cli, write):
    write("same.py", "x = 1\n")
    assert cli("to-code", "--diff", "same.py").stdout == ""


def test_side_by_side(cli, model):
    assert cli("to-code", "--side-by-side", "model.py:Model.step").stdout.splitlines() == [
        "def step(self, x):          def step(self, x):",
        '    """Make a step."""          """Make a step."""',
        "    if x > self.size:     |",
        "                          >     def if_body():",
        "                          >         nonlocal x",
        "        x = x - 1  # back           x = x - 1  # back",
        "                          >     ag__.if_stmt(x > self.size, if_body, None, ('x',))",
        "    return x                    return x",
    ]


def test_into_a_file(cli, model, tmp_path):
    result = cli("to-code", "model.py", "-o", "sub/out.py")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (tmp_path / "sub" / "out.py").read_text() == cli("to-code", "model.py").stdout


def test_a_file_keeps_its_encoding_and_line_ends(cli, tmp_path):
    (tmp_path / "old.py").write_bytes("# coding: latin-1\r\ndef f(x):\r\n    return not 'é'\r\n".encode("latin-1"))
    cli("to-code", "old.py", "-o", "new.py")
    written = (tmp_path / "new.py").read_bytes()
    assert "é".encode("latin-1") in written
    assert written.count(b"\r\n") == written.count(b"\n") >= 3


@pytest.mark.parametrize("options", [[], ["--diff"], ["--side-by-side"]])
def test_colors(cli, model, monkeypatch, options):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm-256color")
    colored = cli("to-code", "model.py:Model.step", *options).stdout
    assert "\x1b[" in colored
    assert "\x1b" not in cli("to-code", "model.py:Model.step", *options, "-o", "out.py").stdout


def test_colors_change_no_text(cli, model, monkeypatch):
    plain = cli("to-code", "model.py").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    import click

    assert click.unstyle(cli("to-code", "model.py").stdout) == plain


@pytest.mark.parametrize(
    "args, message",
    [
        (["missing.py"], "there is no file 'missing.py' (see autograph to-code --help)"),
        (["missing.py:f"], "there is no file 'missing.py' (see autograph to-code --help)"),
        (["model.py:Model.stop"], "model.py: there is no function or class 'Model.stop'. Did you mean Model.step?"),
        (["model.py:zzz"], "model.py: there is no function or class 'zzz'"),
        ([".:f"], "'.' is a folder: name the file that defines 'f' (see autograph to-code --help)"),
        (["model.py", "--diff", "--side-by-side"], "--diff and --side-by-side exclude each other (see autograph"),
        (["model.py", "-o", "model.py"], "'model.py' is the source, which is not overwritten: choose another file"),
        ([], "Missing argument 'FILE[:QUALNAME]' (see autograph to-code --help)"),
        (["model.py", "--bogus"], "No such option '--bogus'"),
    ],
)
def test_errors_are_one_line(cli, model, args, message):
    result = cli("to-code", *args)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("autograph: ")
    assert message in line


def test_a_syntax_error_points_at_the_place(cli, write):
    write("wrong.py", "x = 1\nif x = 2:\n    pass\n")
    result = cli("to-code", "wrong.py")
    assert result.exit_code == 2
    place, text, caret, message = result.stderr.splitlines()
    assert place.strip() == 'File "wrong.py", line 2'
    assert (text.strip(), caret.strip()[0]) == ("if x = 2:", "^")
    assert message.startswith("SyntaxError: ")


def test_a_file_that_is_no_text(cli, tmp_path):
    (tmp_path / "binary.py").write_bytes(b"x = '\xff'\n")
    result = cli("to-code", "binary.py")
    assert result.exit_code == 2
    assert result.stderr.startswith("autograph: cannot read 'binary.py': ")
