"""Run the cells of notebooks written for TensorFlow with only the import changed, and say which of them run.

    python tests/sweeps/guides.py FOLDER [--markdown] [--json FILE] [--beside FILE] [--module tensorflow]

Each notebook of the folder runs in a process and a temporary folder of its own, cell by cell, as IPython runs them: the
value of a last expression is shown. TensorFlow's guides are `site/en/guide/*.ipynb` of its documentation.

Every cell counts but these: cells of comments; shell commands and magics other than `%%writefile`; cells that download
data or pretrained weights, or that use a name which such a cell would have bound; and, without `--saving`, cells that
write or read models. The files that the guide on data downloads are small stand-ins of the same form, which `stand_ins`
writes to where Keras keeps files.

With `--module tensorflow` and `--json`, TensorFlow itself runs the cells and its outcomes are kept; with `--beside`, a
cell that raises an error there must raise one of the same class here, and a cell that downloads there counts apart.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = "autograph.compat.tensorflow"
SAVING = re.compile(r"saved_model|Checkpoint|\bckpt\b|\.save\(|load_model|save_weights|load_weights|restore\(")
DOWNLOADS = ("URL fetch failure", "URLError", "gaierror", "ConnectionError", "HTTPError")


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
        code = "\n".join(line for line in code.splitlines() if not re.match(r"\s*[!%]", line))
        if not any(line.strip() and not line.lstrip().startswith("#") for line in code.splitlines()):
            return "shell or magic", ""
        if not self.saving and SAVING.search(code):
            self._miss(code)
            return "saving", ""
        if "keras.applications" in code:
            self._miss(code)
            return "download", "pretrained weights"
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
        if self.module == HERE:
            code = re.sub(r"^import keras$", f"from {HERE} import keras", code, flags=re.MULTILINE)
            code = re.sub(r"^from keras\b", f"from {HERE}.keras", code, flags=re.MULTILINE)
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

    def _miss(self, code: str) -> None:
        for name in self._bound(code):
            self.namespace.pop(name, None)
            self.missing.add(name)

    @staticmethod
    def _bound(code: str) -> set[str]:
        try:
            nodes = list(ast.walk(ast.parse(code)))
        except SyntaxError:
            return set()
        stored = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        return stored | {each.name for each in nodes if isinstance(each, (ast.FunctionDef, ast.ClassDef))}


def stand_ins(home: Path) -> None:
    """Write files of the form of those that the guide on data downloads."""
    folder = home / "datasets"
    folder.mkdir(parents=True)
    draw = random.Random(0)
    columns = "survived,sex,age,n_siblings_spouses,parch,fare,class,deck,embark_town,alone"
    rows = [
        f"{draw.randrange(2)},{draw.choice(['male', 'female'])},{draw.randrange(1, 80)}.0,{draw.randrange(3)},"
        f"{draw.randrange(3)},{draw.uniform(5, 90):.4f},{draw.choice(['First', 'Second', 'Third'])},unknown,"
        f"Southampton,{draw.choice('yn')}"
        for _ in range(627)
    ]
    (folder / "train.csv").write_text("\n".join([columns, *rows, ""]))
    for name in ("cowper.txt", "derby.txt", "butler.txt"):
        (folder / name).write_text("".join(f"{name} has a line {number}\n" for number in range(50)))
    names = ",".join(["Time", *(f"V{number}" for number in range(1, 29)), "Amount", "Class"])
    numbers = [
        ",".join([f"{draw.gauss(0, 1):.6f}" for _ in range(30)] + [f'"{int(draw.random() < 0.05)}"'])
        for _ in range(12_000)
    ]
    table = "\n".join([names, *numbers, ""])
    (folder / "creditcard.csv").write_text(table)
    with zipfile.ZipFile(folder / "creditcard.zip", "w") as archive:
        archive.writestr("creditcard.csv", table)
    _write_images(folder)


def _write_images(folder: Path) -> None:
    import numpy as np
    from PIL import Image

    draw = np.random.default_rng(0)
    for kind in ("daisy", "dandelion", "roses", "sunflowers", "tulips"):
        for top in (folder / "flower_photos", folder / "flower_photos_extracted" / "flower_photos"):
            (top / kind).mkdir(parents=True)
            for number in range(8):
                values = draw.integers(0, 256, (60, 80, 3), np.uint8)
                Image.fromarray(values).save(top / kind / f"{number}.jpg")
    (folder / "fashion-mnist").mkdir()
    for part, count in (("train", 640), ("t10k", 64)):
        images, labels = draw.integers(0, 256, (count, 28, 28), np.uint8), draw.integers(0, 10, count, np.uint8)
        for name, values, head in (("images-idx3", images, 16), ("labels-idx1", labels, 8)):
            path = folder / "fashion-mnist" / f"{part}-{name}-ubyte.gz"
            path.write_bytes(gzip.compress(bytes(head) + values.tobytes()))


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
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        stand_ins(Path(home, "keras"))
        done = subprocess.run(
            [sys.executable, __file__, str(notebook.resolve()), "--here", "--module", module, *flags], cwd=folder,
            capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL,
            env={**os.environ, "KERAS_HOME": str(Path(home, "keras"))},
        )  # fmt: skip
    try:
        return [tuple(each) for each in json.loads(done.stdout.splitlines()[-1])]
    except (IndexError, ValueError):
        return [("", "error", f"the process ended with {done.returncode}: {done.stderr[-500:]}")]


def agreeing(found: list[tuple[str, str, str]], wanted: list[Any]) -> list[tuple[str, str, str]]:
    """The outcomes, where an error of the class that TensorFlow raises is right, too."""
    expected = {code: (kind, text.partition(":")[0]) for code, kind, text in wanted}
    agreed: list[tuple[str, str, str]] = []
    for code, kind, text in found:
        theirs = expected.get(code, ("", ""))
        same = kind == "error" and theirs == ("error", text.partition(":")[0])
        apart = kind == "error" and theirs[0] == "download"
        agreed.append((code, "runs" if same else "download" if apart else kind, text))
    return agreed


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
