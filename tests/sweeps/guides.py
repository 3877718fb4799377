"""Run the cells of notebooks written for TensorFlow with only the import changed, and say which of them run.

    python tests/sweeps/guides.py FOLDER [--markdown] [--json FILE] [--beside FILE] [--module tensorflow]

Each notebook of the folder runs in a process and a temporary folder of its own, cell by cell, as IPython runs them: the
value of a last expression is shown. TensorFlow's guides are `site/en/guide/*.ipynb` of its documentation.

Every cell counts but these: cells of comments; shell commands and magics other than `%%writefile`; cells that download
data, or that use a name which such a cell would have bound; and, without `--saving`, cells that write or read models.
With `--module tensorflow` and `--json`, TensorFlow itself runs the cells and its outcomes are kept; with `--beside`, a
cell that raises an error there must raise one of the same class here.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = "autograph.compat.tensorflow"
SAVING = re.compile(r"saved_model|Checkpoint|\bckpt\b|\.save\(|load_model|save_weights|load_weights|restore\(")
DOWNLOADS = ("URLError", "gaierror", "ConnectionError", "DownloadError", "HTTPError")


def cells(notebook: Path) -> Iterator[str]:
    """The code of the cells that are not only comments."""
    for cell in json.loads(notebook.read_text())["cells"]:
        code = "".join(cell["source"])
        if cell["cell_type"] == "code" and any(line.strip() and line[0] != "#" for line in code.splitlines()):
            yield code


class Session:
    """Runs cells one after another in one namespace."""

    def __init__(self, module: str, saving: bool) -> None:
        self.module, self.saving = module, saving
        self.namespace: dict[str, Any] = {"__name__": "__main__", "display": repr}
        self.missing: set[str] = set()  # names that cells which count apart would have bound

    def outcome(self, code: str, number: int) -> tuple[str, str]:
        """What comes of a cell: its kind (`runs`, `error`, or why it counts apart), and the error."""
        if code.startswith("%%writefile"):
            first, _, text = code.partition("\n")
            Path(first.split()[1]).write_text(text)
            return "runs", ""
        if re.search(r"^\s*[!%]", code, re.MULTILINE):
            kept = "\n".join(line for line in code.splitlines() if not re.match(r"\s*[!%]", line))
            self._run_quietly(kept, number)
            return "shell or magic", ""
        if not self.saving and SAVING.search(code):
            self._miss(code)
            return "saving", ""
        try:
            self.run(code, number)
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
            unbound = isinstance(error, NameError) and error.name in self.missing
            if unbound or any(name in text for name in DOWNLOADS):
                self._miss(code)
                return "download", text
            return "error", text
        self.missing -= self._bound(code)
        return "runs", ""

    def run(self, code: str, number: int) -> None:
        """Run a cell, and show the value of its last expression; its text is in a file, as AutoGraph needs it."""
        code = re.sub(r"^(\s*(?:import|from)) tensorflow\b", rf"\1 {self.module}", code, flags=re.MULTILINE)
        code = re.sub(r"^(\s*)(?=.)", "", code) if code[:1] == " " else code  # IPython takes an indented cell, too
        path = Path(f"cell_{number}.py").resolve()
        path.write_text(code)
        tree = ast.parse(code, str(path))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(path), "exec"), self.namespace)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), str(path), "eval"), self.namespace)
            if shown is not None:
                print(repr(shown))

    def _run_quietly(self, code: str, number: int) -> None:
        try:
            self.run(code, number)
        except Exception:
            self._miss(code)

    def _miss(self, code: str) -> None:
        self.missing |= {name for name in self._bound(code) if name not in self.namespace}

    @staticmethod
    def _bound(code: str) -> set[str]:
        try:
            nodes = list(ast.walk(ast.parse(code)))
        except SyntaxError:
            return set()
        stored = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        return stored | {each.name for each in nodes if isinstance(each, (ast.FunctionDef, ast.ClassDef))}


def run_here(notebook: Path, module: str, saving: bool) -> None:
    """Run a notebook in this process, and print the outcomes as the last line."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    session = Session(module, saving)
    builtins.display = repr  # type: ignore[attr-defined]
    found = [(code, *session.outcome(code, number)) for number, code in enumerate(cells(notebook))]
    sys.stdout.flush()
    print("\n" + json.dumps(found))


def run(notebook: Path, module: str, saving: bool) -> list[tuple[str, str, str]]:
    """The cells of a notebook, and what came of them."""
    flags = ["--saving"] if saving else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, str(notebook.resolve()), "--here", "--module", module, *flags], cwd=folder,
            capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    try:
        return [tuple(each) for each in json.loads(done.stdout.splitlines()[-1])]
    except (IndexError, ValueError):
        return [("", "error", f"the process ended with {done.returncode}: {done.stderr[-500:]}")]


def agreeing(found: list[tuple[str, str, str]], wanted: list[Any]) -> list[tuple[str, str, str]]:
    """The outcomes, where an error of the class that TensorFlow raises is right, too."""
    expected = {code: text.partition(":")[0] for code, kind, text in wanted if kind == "error"}
    return [
        (code, "runs" if kind == "error" and expected.get(code) == text.partition(":")[0] else kind, text)
        for code, kind, text in found
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--module", default=HERE)
    parser.add_argument("--saving", action="store_true", help="run cells that write or read models, too")
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/tensorflow.md")
    parser.add_argument("--json", type=Path, help="keep the outcomes in this file")
    parser.add_argument("--beside", type=Path, help="the outcomes of TensorFlow, kept by --json")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        run_here(options.folder, options.module, options.saving)
        return 0
    beside = json.loads(options.beside.read_text()) if options.beside else {}
    outcomes, total = {}, Counter[str]()
    print("| guide | cells | run | apart |\n|---|---|---|---|")
    for notebook in sorted(options.folder.glob("*.ipynb")):
        found = agreeing(run(notebook, options.module, options.saving), beside.get(notebook.stem, []))
        outcomes[notebook.stem] = found
        count = Counter(kind for _, kind, _ in found)
        total += count
        print(row(notebook.stem, count), flush=True)
        if not options.markdown:
            for code, kind, text in found:
                if kind not in ("runs", "saving", "shell or magic"):
                    print(f"    {kind}: {text[:300]}\n        " + code.strip().replace("\n", "\n        "))
    print(row("all", total))
    if options.json:
        options.json.write_text(json.dumps(outcomes, indent=1))
    return 0 if total["runs"] >= 0.97 * (total["runs"] + total["error"]) else 1


def row(name: str, count: Counter[str]) -> str:
    """A row of the table."""
    apart = ", ".join(f"{number} {kind}" for kind, number in count.items() if kind not in ("runs", "error"))
    cells = count["runs"] + count["error"]
    return f"| {name} | {cells} | {count['runs']} ({count['runs'] / max(cells, 1):.0%}) | {apart} |"


if __name__ == "__main__":
    sys.exit(main())
