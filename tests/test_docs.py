"""README.md and the pages in docs/ are true: programs print what is said, tables are those that hold."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from autograph.converters import functions, pipeline
from autograph.converters.context.known import module_context
from autograph.syntax import liveness, source
from autograph.syntax.printing import reprint

pytestmark = pytest.mark.usefixtures("default_engine")

ROOT = Path(__file__).parent.parent


def blocks(page: str, *languages: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.finditer(r"^```(\w+)\n((?:.*\n)*?)```$", text, re.MULTILINE)
    return [block[2] for block in found if block[1] in languages]


PROGRAMS, SAID = blocks("docs/tour.md", "python"), blocks("docs/tour.md", "text", "console")
TIMES = re.compile(r"[\d.]+ (ms|µs)")
# What programs of the pages print on Python 3.10, and on later versions, which the pages show.
ON_3_10 = {
    "Function clip_sum": "function clip_sum",
    "Function BoundFunction": "function method",
    "this is a dict": "`counts` is a dict",
    '  File "tour.py", line 4, in normalize\n    @ag.function\n': "",
}


def python(folder: Path, *arguments: str) -> str:
    """What Python 3.11 prints, errors included, without the marks below the lines of a traceback."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "examples")])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    printed = re.sub(r"^ *[\^~]+\n", "", done.stdout, flags=re.MULTILINE).replace(f"{folder}{os.sep}", "")
    for before, after in ON_3_10.items() if sys.version_info < (3, 11) else ():
        printed = printed.replace(before, after)
    return printed


def test_readme(tmp_path: Path) -> None:
    (program,), (said,) = blocks("README.md", "python"), blocks("README.md", "text")
    (tmp_path / "excess.py").write_text(program, encoding="utf-8")
    assert python(tmp_path, "excess.py") == said


def test_picture_of_the_readme() -> None:
    drawing = runpy.run_path(str(ROOT / "docs" / "picture.py"))
    assert drawing["draw"]() == drawing["SVG"].read_text(encoding="utf-8"), "run python docs/picture.py"


def test_support() -> None:
    """The tables are those of the registry; other versions of Python and NumPy have other operations."""
    tables = runpy.run_path(str(ROOT / "docs" / "support.py"))
    page, families = tables["PAGE"].read_text(encoding="utf-8"), tables["all_facts"]()
    told, known = (dict(chain(*map(dict.items, each.values()))) for each in (tables["read"](page), families))
    shared = told.keys() & known.keys()
    assert len(shared) > 1000
    assert {op: told[op] for op in shared} == {op: known[op] for op in shared}, "run python docs/support.py"
    assert tables["VERSIONS"] not in page or tables["written"](page) == tables["tables"](families)


@pytest.mark.parametrize("number", [0, 1])
def test_tour(number: int, tmp_path: Path) -> None:
    (tmp_path / "tour.py").write_text(PROGRAMS[number], encoding="utf-8")
    assert TIMES.sub("… ms", python(tmp_path, "tour.py")) == TIMES.sub("… ms", SAID[number])


def test_commands(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(PROGRAMS[-1], encoding="utf-8")
    _, *parts = re.split(r"^\$ autograph (.*)\n", SAID[-1], flags=re.MULTILINE)
    for command, said in zip(parts[::2], parts[1::2], strict=True):
        if sys.version_info < (3, 11) and "Traceback" in said:
            continue  # there, it has more lines: docs/limits.md
        assert python(tmp_path, "-m", "autograph", *command.split()) == said


PAGES = """backends functions gradients performance saving tensorflow training""".split()
PAGES += ["tensorboard"] if importlib.util.find_spec("tensorboard") else []
PAGES += ["jax"] if importlib.util.find_spec("jax") else []


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str, tmp_path: Path) -> None:
    """The examples of a page, in one program, print what is said below each."""
    found = blocks(f"docs/{page}.md", "python", "text")
    programs, said = found[::2], found[1::2]
    (tmp_path / "page.py").write_text("print('<<<>>>')\n".join(programs), encoding="utf-8")
    printed = python(tmp_path, "page.py").split("<<<>>>\n")
    assert [each.rstrip("\n") for each in printed] == [each.rstrip("\n") for each in said]


def test_pages_quote_files() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        quoted = re.finditer(r"^```python (\S+\.py)\n((?:.*\n)*?)```$", page.read_text(encoding="utf-8"), re.MULTILINE)
        for file, text in (each.groups() for each in quoted):
            assert text in (ROOT / file).read_text(encoding="utf-8"), f"{page.name}: {file}"


def test_the_text_of_a_graph(tmp_path: Path) -> None:
    (program,), (said,) = blocks("docs/graphs.md", "python"), blocks("docs/graphs.md", "text")
    (tmp_path / "model.py").write_text(program, encoding="utf-8")
    assert python(tmp_path, "model.py") == said


def test_life_of_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    typed, prepared, rewritten, _ = blocks("docs/design.md", "python")
    read = source.parse(typed, "total.py")
    seen: list[str] = []

    def analyze(function: object) -> list[str]:
        seen.append(reprint.to_text(function, read))
        return liveness.analyze(function)

    monkeypatch.setattr(functions, "liveness", type(pipeline)("liveness"))
    functions.liveness.analyze = analyze
    pipeline.convert(read.tree, module_context(read.tree, "total.py"))
    assert seen[0].strip() == prepared.strip()
    assert reprint.to_text(read.tree, read) == rewritten


def test_life_of_a_staged_call(tmp_path: Path) -> None:
    program = blocks("docs/design.md", "python")[-1]
    call = "(np.array([0.5, 3.0, 1.5]), 2)"
    calls = "".join(f"print(clip_sum.with_options(engine='numpy').{form}{call})\n" for form in ("graph", "lower"))
    (tmp_path / "staged.py").write_text(f"import numpy as np\nimport autograph as ag\n\n{program}\n{calls}")
    graph, code = blocks("docs/design.md", "text")[:2]
    assert python(tmp_path, "staged.py").rstrip() == f"{graph}{code}".rstrip()


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for link, _, heading in (link.partition("#") for link in re.findall(r"\]\(([^):]+)\)", prose(page))):
            to = page.parent / link if link else page
            assert to.exists(), f"{page.name}: {link}"
            assert not heading or heading in headings(to), f"{page.name}: {link}#{heading}"


def test_extras_that_are_named_are_there() -> None:
    extras = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        named = re.findall(r"(?:autograph-py|\.)\[(\w+)\]", page.read_text(encoding="utf-8"))
        assert extras.issuperset(named), page.name


def prose(page: Path) -> str:
    """A page without its programs."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def headings(page: Path) -> set[str]:
    """The headings of a page, as links name them on GitHub."""
    found = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_the_map_shows_the_rooms():
    drawing = runpy.run_path(str(ROOT / "docs" / "map.py"))
    assert drawing["draw"]() == drawing["SVG"].read_text(encoding="utf-8"), "run python docs/map.py"


def test_the_design_is_short() -> None:
    assert len((ROOT / "docs" / "design.md").read_text(encoding="utf-8").splitlines()) <= 500


def test_the_design_names_files_that_there_are() -> None:
    files = [path.as_posix() for folder in ("autograph", "tests") for path in (ROOT / folder).rglob("*.py")]
    for page in ("design.md", "native.md", "decisions.md"):
        for name in re.findall(r"`([\w/]+\.py)`", (ROOT / "docs" / page).read_text(encoding="utf-8")):
            assert any(file.endswith(f"/{name}") for file in files), f"{page}: {name}"
