"""`autograph doctor`."""

import json
import os
import re
from pathlib import Path

import pytest

import autograph
from autograph.cli import doctor, self_check
from autograph.runtime.dispatch.options import ENGINES, can_compile

REPOSITORY = Path(__file__).parent.parent.parent


@pytest.fixture
def quick(monkeypatch):
    """Leave the checks of each engine out, which take seconds."""
    monkeypatch.setattr(doctor, "_check_engine", lambda engine: [])


def checks(result):
    """The status of each check, by its name."""
    return {check["name"]: check["status"] for check in json.loads(result.stdout)["checks"]}


def detail(result, name):
    return {check["name"]: check["detail"] for check in json.loads(result.stdout)["checks"]}[name]


def test_a_sound_installation(cli):
    result = cli("doctor")
    assert result.exit_code == 0 and result.stderr == ""
    report, _, made = result.stdout.partition("\n\nOK ")
    for section in ("Versions", "Machine", "Cache", "Engines", "Environment"):
        assert f"{section}\n" in report
    assert re.search(rf"^  autograph +{re.escape(autograph.__version__)}, in ", report, re.MULTILINE)
    lines = f"OK {made}".splitlines()
    assert {line[:8].rstrip() for line in lines[:-2] if not line.startswith(" ")} <= {"OK", "SKIPPED"}
    for engine in [name for name in ENGINES if name != "native" or can_compile()]:
        for name in self_check.CHECKS:
            assert f"OK      {engine}: {name}" in lines
        assert f"OK      {engine}: a second process reads the cache, with the same results" in lines
    assert lines[-1] == "no checks failed"


def test_as_json(cli, quick):
    found = json.loads(cli("doctor", "--json").stdout)
    assert list(found) == ["versions", "machine", "cache", "engines", "internals", "environment", "checks"]
    assert set(found["internals"].values()) == {"as expected"}
    assert {"autograph", "Python", "numpy", "gast"} <= found["versions"].keys()
    assert found["engines"]["numpy"] == "available"
    assert found["environment"]["AUTOGRAPH_DEBUG"] == "1"
    assert ("CPU for LLVM" in found["machine"]) == can_compile()


@pytest.mark.once
def test_neither_home_nor_name_is_shown(cli, quick, monkeypatch, tmp_path):
    home = tmp_path / "anna"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("LOGNAME", "berta")
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(home / "cache"))
    monkeypatch.setenv("AUTOGRAPH_ENGINE", "/scratch/berta/x")
    for options in ([], ["--json"]):
        shown = cli("doctor", *options).stdout
        assert "anna" not in shown and "berta" not in shown
        assert os.path.join("~", "cache").replace("\\", "\\\\" if options else "\\") in shown
        assert "/scratch/~/x" in shown


def test_a_name_inside_of_a_word_stays(monkeypatch):
    monkeypatch.setenv("LOGNAME", "num")
    assert doctor.private("numpy of num in /tmp/num-cache") == "numpy of ~ in /tmp/~-cache"


def test_variables_are_those_that_autograph_reads():
    package = Path(autograph.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    assert {name for text in texts for name in re.findall(r"\bAUTOGRAPH_[A-Z_]+\b", text)} == doctor.VARIABLES


def test_variables_are_documented():
    page = (REPOSITORY / "docs/functions.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(AUTOGRAPH_\w+)` \|", page, re.MULTILINE)) == doctor.VARIABLES


@pytest.mark.once
def test_a_misspelled_variable(cli, quick, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHEDIR", "here")
    hint = "here, which autograph does not read. Did you mean AUTOGRAPH_CACHE_DIR?"
    assert json.loads(cli("doctor", "--json").stdout)["environment"]["AUTOGRAPH_CACHEDIR"] == hint


@pytest.mark.once
@pytest.mark.parametrize("as_json", [False, True])
def test_a_default_engine_that_is_not_there(cli, quick, monkeypatch, as_json):
    monkeypatch.setenv("AUTOGRAPH_ENGINE", "steam")
    result = cli("doctor", *["--json"] * as_json)
    assert result.exit_code == 1
    assert "there is no engine 'steam'" in result.stdout
    if as_json:
        assert checks(result)["default: the engine can be used"] == "FAILED"
    else:
        assert "\nFAILED  default: the engine can be used\n        broken: " in result.stdout
        assert result.stdout.endswith("\n1 check failed\n")


@pytest.mark.once
def test_a_cache_that_cannot_be_written(cli, quick, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "file" / "cache"))
    result = cli("doctor", "--json")
    assert result.exit_code == 1
    assert checks(result)["the cache can be written"] == "FAILED"
    assert "AUTOGRAPH_CACHE_DIR names another folder" in detail(result, "the cache can be written")


@pytest.mark.once
def test_the_cache_is_not_made(cli, quick, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "deep" / "cache"))
    assert checks(cli("doctor", "--json"))["the cache can be written"] == "OK"
    assert [*tmp_path.iterdir()] == []


@pytest.mark.once
def test_no_cache(cli, quick, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    result = cli("doctor", "--json")
    assert (result.exit_code, checks(result)["the cache can be written"]) == (0, "SKIPPED")
    assert json.loads(result.stdout)["cache"] == {"folder": "none"}


@pytest.mark.once
def test_the_self_check_has_a_cache_of_its_own(cli, monkeypatch, tmp_path):
    """Also where the user has none, or one that is full."""
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    monkeypatch.setenv("AUTOGRAPH_CACHE_SIZE", "0")
    assert {check.status for check in doctor._check_engine("numpy")} == {"OK"}


@pytest.mark.once
def test_a_cache_that_forgets(monkeypatch):
    real = doctor._self_check

    def forgetting(folder, *engine):
        for file in Path(folder, "cache").glob("*.*"):
            file.unlink()
        return real(folder, *engine)

    monkeypatch.setattr(doctor, "_self_check", forgetting)
    *_, last = doctor._check_engine("numpy")
    assert (last.status, last.detail) == ("FAILED", "*.converted was written again\n*.traced was written again")


@pytest.mark.once
def test_without_llvmlite(spawn, write):
    write("sitecustomize.py", "import sys\nsys.modules['llvmlite'] = None\n")
    result = spawn("doctor", "--json", path=write("empty", "").parent)
    assert result.returncode == 0
    assert checks(result)["native: the engine can be used"] == "SKIPPED"
    assert "needs llvmlite" in detail(result, "native: the engine can be used")


@pytest.mark.once
def test_a_broken_llvmlite(spawn, write):
    folder = write("llvmlite/__init__.py", "raise OSError('libllvm.so: cannot open')\n").parent.parent
    result = spawn("doctor", "--json", path=folder)
    assert result.returncode == 1
    assert [name for name, status in checks(result).items() if status == "FAILED"] == ["native: the engine can be used"]
    assert detail(result, "native: the engine can be used").startswith(
        "broken: engine='native' cannot load llvmlite (libllvm.so: cannot open)"
    )


@pytest.mark.parametrize(
    "text, shown", [("raise ImportError('no numpy')", "no numpy"), ("import os; os.abort()", "numpy.py")]
)
def test_a_numpy_that_cannot_be_imported(spawn, write, text, shown):
    """The process of the command itself does not import it, and so lives to tell."""
    result = spawn("doctor", "--json", path=write("numpy.py", text).parent)
    assert result.returncode == 1
    failure = detail(result, "autograph and NumPy can be imported")
    assert failure.startswith("the process ended with status ") and shown in failure


def test_what_a_process_does_before_it_dies_is_shown(monkeypatch):
    program = "import sys, os\nopen(sys.argv[1], 'w').write('[\"the first\", \"\"]\\n')\nos._exit(3)\n"
    monkeypatch.setattr(doctor.pkgutil, "get_data", lambda *names: program.encode())
    found = [(check.name, check.status) for check in doctor._check_engine("numpy")]
    assert found == [
        ("numpy: the first", "OK"),
        ("numpy: the process ends normally", "FAILED"),
        ("numpy: a second process reads the cache, with the same results", "SKIPPED"),
    ]


def test_a_process_that_hangs(monkeypatch):
    monkeypatch.setattr(doctor.pkgutil, "get_data", lambda *names: b"import time\ntime.sleep(60)\n")
    monkeypatch.setattr(doctor, "PATIENCE", 0.2)
    assert doctor._ask_engines() == ({}, "the process gave no answer in 0.2 seconds")


@pytest.mark.parametrize("form", [lambda xs, limit: 10, lambda xs, limit: 10.0 + 1e-12, None])
def test_a_wrong_answer_is_noticed(form):
    with pytest.raises(AssertionError):
        self_check.agree(form, [1, 3, 4], 3)


def test_a_check_that_fails_is_reported_with_its_traceback(monkeypatch):
    monkeypatch.setitem(self_check.CHECKS, "never", lambda engine: self_check.expect(False, f"not on {engine}"))
    monkeypatch.setattr(self_check, "CHECKS", {"never": self_check.CHECKS["never"], "always": lambda engine: None})
    (name, failure), passed = self_check.results("steam")
    assert name == "never" and failure.endswith("AssertionError: not on steam\n")
    assert passed == ["always", ""]
