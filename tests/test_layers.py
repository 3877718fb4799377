"""Law 6: the order of imports by rooms, as the table in docs/design.md has it; sizes of rooms, files and functions.

A room is a folder of the package, or a file beside `__init__.py`. It uses the rooms that its row names, with those
inside them, and `errors` and `common`; where the row says *above*, also the rows above it that begin with the same
folder. Imports inside functions count, and so do those for type checking only. No module imports itself indirectly.
"""

from __future__ import annotations

import ast
import graphlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.once

REPOSITORY = Path(__file__).parent.parent
PACKAGE = REPOSITORY / "autograph"
FREE = ["errors", "common"]     # to every room
BIG = 22                        # modules in a room
METHODS, DEEP = 40, 3           # of a class, with those that it inherits; classes of this package in a line of bases


class Room(NamedTuple):
    """A row of the table: the rooms that it uses with those inside them, and those above it."""

    uses: list[str]
    above: list[str]

    def sees(self, other: str) -> bool:
        return other in self.above or any(f"{other}/".startswith(f"{name}/") for name in self.uses)


def read_table(text: str) -> dict[str, Room]:
    """The rows of the table of rooms, from the bottom up."""
    rooms: dict[str, Room] = {}
    for name, uses in re.findall(r"^\| `([\w/]+)` \|.*\| ?([^|]*) ?\|$", text, re.MULTILINE):
        top = name.split("/")[0]
        above = [row for row in rooms if row.split("/")[0] == top] if "above" in uses else []
        rooms[name] = Room([*FREE, *re.findall(r"`([\w/]+)`", uses)], above)
    return rooms


def room_of(module: str, known: dict[str, Path]) -> str:
    """The room of a module, by its path below autograph/."""
    is_package = known[module].name == "__init__.py"
    return module if is_package or "/" not in module else module.rpartition("/")[0]


def modules(package: Path) -> dict[str, Path]:
    """Each module's file, by its path below autograph/."""
    named = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).with_suffix("").as_posix()
        named[name.removesuffix("/__init__")] = path
    return named


def dotted_imports(tree: ast.AST, package: str) -> Iterator[tuple[int, str, list[str]]]:
    """Line, module and imported names of each import in a file of `package`, wherever it is."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                yield from ((node.lineno, alias.name, []) for alias in names)
            case ast.ImportFrom(module, names, level):
                base = package.rsplit(".", level - 1)[0] if level else ""
                yield node.lineno, ".".join(filter(None, [base, module])), [alias.name for alias in names]
            case ast.Call(
                ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"),
                [ast.Constant(str(module)), *_],
            ):
                yield node.lineno, module, []


def imports(text: str, module: str, known: dict[str, Path]) -> Iterator[tuple[int, str]]:
    """Line and path of each module of this package that `text`, the file of `module`, imports."""
    is_package = known[module].name == "__init__.py"
    parts = ["autograph", *module.split("/")]
    package = ".".join(parts if is_package and module != "__init__" else parts[:-1])
    for line, dotted, names in dotted_imports(ast.parse(text), package):
        if dotted.split(".")[0] != "autograph":
            continue
        base = "/".join(dotted.split(".")[1:])
        below = [f"{base}/{name}".lstrip("/") for name in names]
        yield from {(line, name if name in known else base or "__init__"): None for name in below or [base]}


def violations(texts: dict[str, str], known: dict[str, Path], rooms: dict[str, Room]) -> list[str]:
    found = []
    for module, text in texts.items():
        here = room_of(module, known)
        for line, imported in imports(text, module, known):
            there = room_of(imported, known)
            if here != there and (here not in rooms or not rooms[here].sees(there)):
                found.append(f"{module} line {line} imports {imported}: `{here}` does not use `{there}`")
    return found


KNOWN = modules(PACKAGE)
TEXTS = {module: path.read_text(encoding="utf-8") for module, path in KNOWN.items()}
ROOMS = read_table((REPOSITORY / "docs" / "design.md").read_text(encoding="utf-8"))
GRAPH = {module: {name for _, name in imports(TEXTS[module], module, KNOWN)} for module in KNOWN}


def test_every_room_is_in_the_table():
    assert {room_of(module, KNOWN) for module in KNOWN} == set(ROOMS)


def test_a_room_uses_rooms_above_it_in_the_table():
    """So the order of the rows shows where there can be no cycle of rooms."""
    seen = {name for name in ROOMS if name.split("/")[0] in FREE}
    for name, room in ROOMS.items():
        assert {each for each in ROOMS if room.sees(each)} <= seen, name
        seen.add(name)


def test_imports_follow_the_table():
    assert violations(TEXTS, KNOWN, ROOMS) == []


def test_no_cycles():
    graphlib.TopologicalSorter({name: used - {name} for name, used in GRAPH.items()}).prepare()     # or a CycleError


# what the examples of right and wrong imports below take to be there
EXAMPLE = {
    **dict.fromkeys(["__init__", "syntax", "operators", "cli", "converters", "runtime"], Path("__init__.py")),
    "common": Path("__init__.py"),
    **dict.fromkeys(["runtime/graph", "runtime/passes", "runtime/tracing", "backends"], Path("__init__.py")),
    **dict.fromkeys(["errors", "api", "stray", "common/pytree"], Path("file.py")),
    **dict.fromkeys(["converters/base", "converters/calls"], Path("file.py")),
    **dict.fromkeys(["syntax/source", "syntax/names", "converters/pipeline", "syntax/cfg"], Path("file.py")),
    **dict.fromkeys(["operators/backend", "operators/control", "operators/cells", "cli/main"], Path("file.py")),
    **dict.fromkeys(["runtime/graph/types", "runtime/passes/cse", "runtime/tracing/state"], Path("file.py")),
    **dict.fromkeys(["backends/graph", "conversion/conversions"], Path("file.py")),
}


@pytest.mark.parametrize(
    "module, line",
    [
        ("errors", "import autograph"),
        ("common/pytree", "from autograph.syntax import names"),
        ("syntax/source", "from autograph.converters import base"),
        ("syntax/source", "from .. import api"),
        ("syntax/source", "from ..operators.backend import Backend"),
        ("converters/pipeline", "def f():\n    import autograph.operators as ag__"),
        ("converters/pipeline", "import importlib\nimportlib.import_module('autograph.cli')"),
        ("operators/control", "from autograph.syntax.names import fresh"),
        ("operators/control", "if TYPE_CHECKING:\n    from autograph.runtime.graph import types"),
        ("runtime/graph/types", "from autograph.syntax import names"),
        ("runtime/graph/types", "from autograph.runtime.passes.cse import cse"),
        ("runtime/passes/cse", "from ..tracing.state import Trace"),
        ("api", "from autograph.cli.main import main"),
        ("stray", "from autograph import errors"),
    ],
)
def test_a_wrong_import_is_caught(module, line):
    assert len(violations({module: line}, EXAMPLE, ROOMS)) == 1


@pytest.mark.parametrize(
    "module, line",
    [
        ("syntax/source", "from autograph.errors import SourceError\nfrom autograph.common import pytree"),
        ("syntax/source", "from .cfg import build"),
        ("converters/calls", "from autograph.converters import base\nfrom ..syntax import names"),
        ("operators/control", "from autograph.operators.cells import read"),
        ("runtime/tracing/state", "from autograph.runtime.passes.cse import cse\nfrom ..graph.types import Type"),
        ("backends/graph", "from autograph.runtime.graph import types"),
        ("api", "from autograph import operators, errors\nfrom autograph.conversion.conversions import convert"),
        ("operators", "from .control import if_stmt"),
        ("__init__", "from .api import convert"),
        ("cli/main", "def main():\n    from autograph import to_code"),
    ],
)
def test_a_right_import_is_not(module, line):
    assert violations({module: line}, EXAMPLE, ROOMS) == []


def test_rooms_are_small():
    sizes = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in KNOWN.values())
    assert {room: size for room, size in sizes.items() if size > BIG} == {}
    assert sizes["runtime"] <= 3


def test_each_room_says_what_is_in_it():
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_files_are_short():
    lengths = {module: text.count("\n") for module, text in TEXTS.items()}
    assert {module: length for module, length in lengths.items() if length > 600} == {}


def test_functions_are_short():
    lengths = {
        f"{module}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for module, text in TEXTS.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length > 50} == {}


class Class(NamedTuple):
    """A class of the package: the names of its bases, as its module has them, and of its own methods."""

    module: str
    bases: list[str]
    methods: set[str]


def classes_in(module: str, tree: ast.Module) -> Iterator[tuple[str, Class]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases]
            named = {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
            assigned = [each for each in node.body if isinstance(each, ast.Assign)]
            made = [each for each in assigned if isinstance(each.value, ast.Lambda | ast.Call | ast.Name)]
            named |= {target.id for each in made for target in each.targets if isinstance(target, ast.Name)}
            yield node.name, Class(module, bases, named)


def names_in(module: str, tree: ast.Module, known: dict[str, Path]) -> dict[str, tuple[str, str]]:
    """What a module imports from this package: for each of its names a module, and a name there (none: the module)."""
    found = {}
    package = ".".join(["autograph", *module.split("/")][: None if known[module].name == "__init__.py" else -1])
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            ((_, dotted, _),) = dotted_imports(node, package)
            base = "/".join(dotted.split(".")[1:])
            for alias in node.names:
                inner = f"{base}/{alias.name}".lstrip("/")
                found[alias.asname or alias.name] = (inner, "") if inner in known else (base or "__init__", alias.name)
    return found


class Classes:
    """All classes of some modules, by module and name."""

    def __init__(self, texts: dict[str, str], known: dict[str, Path]) -> None:
        trees = {module: ast.parse(text) for module, text in texts.items()}
        self.all = {(module, name): each for module, tree in trees.items() for name, each in classes_in(module, tree)}
        self.names = {module: names_in(module, tree, known) for module, tree in trees.items()}

    def bases(self, each: Class) -> list[Class]:
        """Those bases that are of this package."""
        found = [self.find(each.module, *base.split(".")) for base in each.bases]
        return [base for base in found if base is not None]

    def find(self, module: str, name: str, *rest: str) -> Class | None:
        """The class that a module knows by a name, or by that of a module and its name there."""
        if (module, name) in self.all:
            return self.all[module, name]
        if module not in self.names or name not in self.names[module]:
            return None
        there, other = self.names[module][name]
        path = [*filter(None, [other]), *rest]
        return self.find(there, *path) if path else None

    def methods(self, each: Class) -> set[str]:
        return each.methods.union(*map(self.methods, self.bases(each)))

    def depth(self, each: Class) -> int:
        return 1 + max(map(self.depth, self.bases(each)), default=0)

    def too_large(self) -> set[str]:
        return {
            f"{module}:{name}"
            for (module, name), each in self.all.items()
            if len(self.methods(each)) > METHODS or self.depth(each) > DEEP
        }


def test_classes_are_small_and_not_deep():
    """Inheritance is for kinds of things; what has many jobs is made of objects and functions with one each."""
    assert not Classes(TEXTS, KNOWN).too_large()


def test_a_large_or_deep_class_is_found():
    known = {name: Path("file.py") for name in ("one", "two")} | {"pack": Path("__init__.py")}
    defs = "\n".join(f"    def f{number}(self): ..." for number in range(METHODS))
    texts = {
        "one": f"class A:\n{defs}\nclass B(A): ...\nclass C(B, list): ...",
        "pack": "from autograph.one import A as Base",
        "two": "from . import pack, one\nclass D(pack.Base):\n    def g(self): ...\nclass E(one.C): ...",
    }
    assert Classes(texts, known).too_large() == {"two:D", "two:E"}
