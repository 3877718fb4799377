"""`autograph graph`."""

import json
import os
import shutil
import textwrap
from importlib.util import find_spec

import numpy as np
import pytest

from autograph.cli.examples import arguments, example
from autograph.cli.failure import Failure
from autograph.runtime.graph.tensor_spec import TensorSpec
from autograph.runtime.graph_text.parser import parse

needs_llvmlite = pytest.mark.skipif(find_spec("llvmlite") is None, reason="needs llvmlite")
TEXT = """
    import autograph as ag

    print("importing")

    def double(x):
        print("tracing")
        return 2 * x

    @ag.function
    def largest(xs, *, least=0.0):
        for x in xs:
            if x > least:
                least = x
        return least

    class Model:
        def step(self, x):
            return x + 1

        async def wait(self):
            pass

    model = Model()
"""


def program(text):
    return textwrap.dedent(text).strip("\n")


@pytest.fixture
def module(write, request):
    """A module with functions, of a name that no other test has imported."""
    name = f"module_{request.node.name.replace('[', '_').replace(']', '')}".replace(".", "_")
    write(f"{name}.py", TEXT)
    return f"{name}.py"


def test_the_text_of_a_plain_function(cli, module):
    result = cli("graph", f"{module}:double", "--arg", "f64[3,?]")
    assert result.exit_code == 0, result.output
    assert result.stdout == program("""
        graph double(x: f64[3,?]):
            print('tracing')
            %0: f64[3,?] = 2 * x
            -> %0
    """) + "\n"
    assert result.stderr == "importing\n"


def test_a_staged_function_and_arguments_by_name(cli, module):
    result = cli("graph", f"{module}:largest", "--arg", "f64[?]", "--arg", "least=py.float", "--places")
    graph = parse(result.stdout)
    assert [str(param.type) for param in graph.params] == ["f64[?]", "py.float"]
    assert f"# {module}:12" in result.stdout


def test_a_bound_method(cli, module):
    result = cli("graph", f"{module}:model.step", "--arg", "3")
    assert "x + 1" in result.stdout and result.exit_code == 0


def test_other_formats(cli, module):
    def shown(form):
        return cli("graph", f"{module}:double", "--arg", "f64", "--format", form).stdout

    assert shown("dot").startswith('digraph "double" {')
    assert shown("html").startswith('<div class="autograph-graph">')
    assert json.loads(shown("json"))["name"] == "double"
    compile(shown("source"), "source", "exec")
    assert "return 2 * x" in shown("source")


@needs_llvmlite
def test_machine_code(cli, module, tmp_path):
    def shown(*options):
        return cli("graph", f"{module}:largest", "f64[?]", "least=py.float", *options).stdout

    assert "i64 @loop(ptr" in shown("--format", "llvm") and f"{module}:13" not in shown("--format", "llvm")
    assert f"{module}:13: if x > least:\n" in shown("--format", "llvm", "--places")
    assert f"{module}:13: if x > least:\n" in shown("--format", "asm", "--places")
    assert "region(" in shown("--format", "source", "--engine", "native")
    assert "region(" not in shown("--format", "source", "--engine", "numpy")
    for name in ("a.ll", "a.s"):
        assert cli("graph", f"{module}:largest", "f64[?]", "least=py.float", "-o", name).exit_code == 0
    assert "@loop" in (tmp_path / "a.ll").read_text() and "\tret" in (tmp_path / "a.s").read_text()


@needs_llvmlite
def test_where_there_is_no_machine_code(cli, module):
    result = cli("graph", f"{module}:double", "f64", "--format", "llvm")
    assert result.exit_code == 2
    assert "double has no loop of which there is machine code for such a call: see autograph explain" in result.stderr
    result = cli("graph", f"{module}:largest", "f64[?]", "--format", "asm", "--engine", "numpy")
    assert "for such a call; the engine numpy makes none" in result.stderr


def test_the_name_of_the_output_tells_the_format(cli, module, tmp_path):
    for name, start in {"a.dot": "digraph", "b/c.json": "{", "d.txt": "graph double", "e.py": "def double"}.items():
        result = cli("graph", f"{module}:double", "--arg", "f64", "-o", name)
        assert result.exit_code == 0 and result.stdout == ""
        assert (tmp_path / name).read_text().startswith(start)
    cli("graph", f"{module}:double", "--arg", "f64", "-o", "f.txt", "--format", "dot")
    assert (tmp_path / "f.txt").read_text().startswith("digraph")


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_a_picture(cli, module, tmp_path):
    cli("graph", f"{module}:double", "--arg", "f64", "-o", "a.svg")
    assert "</svg>" in (tmp_path / "a.svg").read_text()


@pytest.fixture
def dot(tmp_path, monkeypatch):
    """A program that stands in for Graphviz's: it writes its options."""
    program = tmp_path / "bin" / "dot"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\ncat >/dev/null\nprintf "drawn by dot %s\\377" "$*"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
@pytest.mark.parametrize(
    "name, drawn", [("a.png", "-Tpng"), ("a.PDF", "-Tpdf"), ("sub/a.svg", "-Tsvg"), ("a.v1.png", "-Tpng")]
)
def test_the_ending_of_the_output_says_what_is_drawn(cli, module, dot, tmp_path, name, drawn):
    result = cli("graph", f"{module}:double", "f64", "-o", name)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert (tmp_path / name).read_bytes() == f"drawn by dot {drawn}".encode() + b"\xff"


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
def test_a_picture_in_a_pipe(cli, module, dot):
    assert cli("graph", f"{module}:double", "f64", "--format", "png").stdout_bytes == b"drawn by dot -Tpng\xff"


@pytest.mark.parametrize("name", ["a.png", "a.PDF", "sub/a.svg"])
def test_no_file_where_nothing_is_drawn(cli, module, monkeypatch, tmp_path, name):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    result = cli("graph", f"{module}:double", "f64", "-o", name)
    assert result.exit_code == 2 and "(.txt, .html, .dot)" in result.stderr
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["a.jpg", "a.docx", "a.python", "sub/a.Tiff"])
def test_an_ending_that_is_no_format(cli, module, tmp_path, name):
    result = cli("graph", f"{module}:double", "f64", "-o", name)
    assert result.exit_code == 2 and not (tmp_path / name).exists()
    assert "let it end in .txt, .dot, .gv, .html, .json, .py, .ll, .s, .svg, .png, .pdf, or say" in result.stderr
    assert cli("graph", f"{module}:double", "f64", "-o", name, "--format", "dot").exit_code == 0


def test_without_graphviz(cli, module, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    result = cli("graph", f"{module}:double", "--arg", "f64", "--format", "svg")
    assert result.exit_code == 2
    assert "needs the program `dot` of Graphviz" in result.stderr


def test_raw_shows_what_was_traced(cli, write):
    write("twice.py", "def f(x):\n    return x * 2 + x * 2\n")
    assert cli("graph", "twice.py:f", "--arg", "f64[3]").stdout.count("x * 2") == 1
    assert cli("graph", "twice.py:f", "--arg", "f64[3]", "--raw").stdout.count("x * 2") == 2


def test_colors(cli, module, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in cli("graph", f"{module}:double", "--arg", "f64").stdout


def test_a_module_in_a_package(cli, write):
    write("pack_of_graphs/__init__.py", "FACTOR = 3\n")
    write("pack_of_graphs/inner/__init__.py", "")
    write("pack_of_graphs/inner/part.py", "from .. import FACTOR\n\ndef f(x):\n    return FACTOR * x\n")
    result = cli("graph", "pack_of_graphs/inner/part.py:f", "--arg", "f64")
    assert "3 * x" in result.stdout, result.output


def test_a_module_named_as_another_one(cli, write):
    write("json.py", "def f(x):\n    return x + 1\n")
    assert "x + 1" in cli("graph", "json.py:f", "--arg", "f64").stdout
    assert json.loads("1") == 1


@pytest.mark.parametrize(
    "args, problem",
    [
        (["{}"], "name a function, as in model.py:step"),
        (["{}:duble"], "there is no 'duble' in {}. Did you mean double?"),
        (["{}:Model.stop"], "there is no 'stop' in Model in {}. Did you mean Model.step?"),
        (["{}:double"], "double cannot be called so: double() missing 1 required positional argument: 'x'"),
        (["{}:double", "--arg", "f99"], "cannot make an argument of 'f99': write a type (f64[3,?], py.int)"),
        (["{}:double", "--arg", "x=1", "--arg", "2"], "--arg '2' has no name: put it before the arguments"),
        (["{}:double", "--arg", "no.npy"], "cannot read the array 'no.npy'"),
        (["{}:Model", "--arg", "1"], "Model is a class"),
        (["{}:model.wait"], "is a coroutine"),
        (["{}:double", "--format", "gif"], "'gif' is not one of"),
        (["{}:double", "-o", "x.gif"], "'x.gif' does not tell its format: let it end in .txt, .dot,"),
        (["{}:double", "--engine", "cuda"], "'cuda' is not one of 'auto', 'numpy', 'native'"),
    ],
)
def test_errors_are_one_clear_line(cli, module, args, problem):
    result = cli("graph", *[arg.replace("{}", module) for arg in args])
    assert result.exit_code == 2 and result.stdout == ""
    (told,) = [line for line in result.stderr.splitlines() if line not in ("importing", "tracing")]
    assert told.startswith("autograph: ") and problem.replace("{}", module) in told


def test_a_module_that_cannot_be_imported(cli, write):
    write("broken.py", "def f(x):\n    return x\n\nf(1, 2)\n")
    result = cli("graph", "broken.py:f", "--arg", "1")
    assert result.exit_code == 2
    assert result.stderr.startswith("autograph: broken.py cannot be imported:\nTraceback")
    assert 'broken.py", line 4' in result.stderr and "autograph/cli" not in result.stderr
    write("unfinished.py", "def f(:\n")
    assert "SyntaxError" in cli("graph", "unfinished.py:f").stderr


def test_examples():
    assert example("f32[3,?]") == TensorSpec((3, None), "f4")
    assert example("~f64[]") == TensorSpec((), "f8")
    assert example("5") == 5 and example("-0.5") == -0.5 and example("'a=1'") == "a=1"
    assert example("None") is None and example("True") is True
    assert type(example("i8")) is np.int8 and type(example("bool")) is np.bool_
    assert example("[f64[3, ?], {'w': (f32[2], 1)}]") == [
        TensorSpec((3, None), "f8"), {"w": (TensorSpec((2,), "f4"), 1)},
    ]  # fmt: skip
    assert str(example("py.int").leaf.type) == "py.int"


def test_a_file_of_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("xs.npy", np.arange(3))
    assert example("xs.npy").tolist() == [0, 1, 2]


@pytest.mark.parametrize("text", ["", "f99", "f64[", "g(1)", "[x]", "{**a}", "object", "lambda: 0", "1 +"])
def test_what_is_no_example(text):
    with pytest.raises(Failure, match="cannot make an argument of"):
        example(text)


def test_arguments():
    assert arguments(("1", "x=2", "y='a'")) == ([1], {"x": 2, "y": "a"})


@pytest.mark.skipif(os.name == "nt", reason="completion is for Unix shells")
def test_completion_of_formats(spawn):
    words = {"COMP_WORDS": "autograph graph model.py:f --format s", "COMP_CWORD": "4"}
    assert spawn(env={"_AUTOGRAPH_COMPLETE": "bash_complete", **words}).stdout == "plain,svg\nplain,source\n"
    words = {"COMP_WORDS": "autograph graph model.py:f --engine n", "COMP_CWORD": "4"}
    assert spawn(env={"_AUTOGRAPH_COMPLETE": "bash_complete", **words}).stdout == "plain,numpy\nplain,native\n"


def test_the_engines_are_those_of_the_options():
    from autograph.cli.files import ENGINES
    from autograph.runtime.dispatch import options

    assert ENGINES == ("auto", *options.ENGINES)


@pytest.mark.parametrize("engine", ["auto", "numpy", pytest.param("native", marks=needs_llvmlite)])
def test_engines(cli, module, engine):
    assert cli("graph", f"{module}:largest", "f64[?]", "--engine", engine).stdout.startswith("graph largest(")
    told = cli("explain", f"{module}:largest", "f64[?]", "--engine", engine).stdout
    assert "runs on the engine" in told and ("asked for by engine=" in told) == (engine != "auto")
    assert cli("explain", module, "--engine", engine).exit_code == 2


def test_arguments_may_stand_behind_the_function(cli, module):
    wanted = cli("graph", f"{module}:largest", "--arg", "f64[?]", "--arg", "least=1.5")
    assert wanted.exit_code == 0
    assert cli("graph", f"{module}:largest", "f64[?]", "least=1.5").stdout == wanted.stdout
    assert cli("graph", f"{module}:largest", "f64[?]", "--arg", "least=1.5").stdout == wanted.stdout
