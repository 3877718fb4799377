"""Law 6: the order of imports, as the table in docs/design.md has it; and the length of files and functions.

A module may import what stands in the rows its own row names, and, within its own row, what stands before it:
left of a `→`. Modules between the same two arrows do not import each other; the files that one `*` stands for
may, but never in a circle. Imports inside functions count, and so do those for type checking only.
"""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

PACKAGE = Path(__file__).parent.parent / "autograph"

#  row | may import from | modules, by their path below autograph/ (a package is its __init__.py)
TABLE = """
-- |               | syntax converters runtime backends
0  |               | statics → errors marks codefacts libraries wording disk forking → packages → nest defects

R1 | 0             | runtime/types runtime/keys runtime/naming runtime/callables runtime/classes runtime/texts
   |               | runtime/cpython_internals
   |               | → runtime/graph runtime/spec runtime/operands → runtime/opdef runtime/signature runtime/recorder
   |               | → runtime/notation runtime/effects → runtime/printing runtime/reading
   |               | → runtime/check runtime/parsing runtime/aliasing → runtime/drawing
   |               | → runtime/listing runtime/schema → runtime/view
R2 | 0 R1          | runtime/ops*
R3 | 0 R1 R2       | runtime/passes* runtime/protocols runtime/signals runtime/sources runtime/making runtime/standing
   |               | runtime/appearance runtime/instructions runtime/written runtime/contents
   |               | → runtime/tensor runtime/whereabouts runtime/blocks
   |               | → runtime/holding → runtime/traced_iterators → runtime/journal → runtime/known runtime/blame
   |               | → runtime/trace runtime/forms runtime/parts → runtime/settings
   |               | → runtime/finding runtime/guards
   |               | → runtime/environment runtime/class_facts
   |               | → runtime/outside runtime/raising runtime/refs runtime/recursion
   |               | runtime/derivative_budget
   |               | → runtime/regions
   |               | → runtime/branches runtime/watching runtime/unrolling runtime/keyed runtime/identity
   |               | → runtime/standins runtime/loops runtime/instrument runtime/handed
   |               | → runtime/turns runtime/constructing runtime/named
   |               | → runtime/while_loop runtime/for_loop runtime/calling runtime/lowering runtime/objects
   |               | runtime/warned runtime/verdicts runtime/ways
   |               | → runtime/generators runtime/writing → runtime/lazy_builtins runtime/tracing
   |               | → runtime/activity runtime/sharing → runtime/moves → runtime/shadows runtime/residuals
   |               | → runtime/zeros
   |               | → runtime/frames → runtime/reverse runtime/roots
   |               | → runtime/reverse_operations
   |               | → runtime/reverse_blocks runtime/reverse_containers runtime/reverse_writes
   |               | → runtime/gradients → runtime/custom
R4 | 0 R1 R2 R3    | runtime/engines*
R5 | 0 R1 R2 R3 R4 | runtime/arguments runtime/options runtime/report runtime/collecting runtime/lowered
   |               | runtime/patience runtime/pickling
   |               | → runtime/entry runtime/learning
   |               | → runtime/traces runtime/specified → runtime/dispatch runtime/kept → runtime/compilation
   |               | → runtime/specialise → runtime/concrete → runtime/function → runtime/decorator

S1 | 0             | syntax/trees syntax/lines syntax/bridge syntax/literals syntax/precedence
   |               | → syntax/origin syntax/names syntax/codes syntax/relabelling syntax/unparse_expr
   |               | → syntax/source syntax/unparse → syntax/splice → syntax/reprint
S2 | 0 S1          | syntax/template syntax/loader syntax/scope
   |               | → syntax/cfg syntax/hoist syntax/inline → syntax/binding → syntax/liveness
S3 | 0 S1 S2       | converters/base → converters/*
S4 | 0 S1 S2 S3    | syntax/pipeline

D1 | 0             | operators/state operators/tracebacks → operators/backend
D2 | 0 D1          | operators/* → operators backends/*
DR | 0 D1 D2 R     | backends/graph

A1 | 0 R S D       | explanation keeping → conversions → api surroundings → importing staging → derivatives → jacobians
   |               | → variables → modules → numpy* random nn* optim* → compat* → __init__
A2 | 0 R S D A1    | cli/* → cli → __main__
"""
CONTINUED = "\n   |               |"


class Row:
    """A line of the table: its name, the rows it sees, and its stages, each a list of patterns."""

    def __init__(self, line: str) -> None:
        self.name, sees, stages = (part.strip() for part in line.split("|"))
        self.sees = sees.split()
        self.stages = [stage.split() for stage in stages.split("→")]

    def sees_row(self, other: Row) -> bool:
        return other.name in self.sees or other.name[0] in self.sees        # R stands for R1, R2, …


ROWS = [Row(line) for line in TABLE.replace(CONTINUED, "").splitlines() if line]


def place(module: str) -> tuple[Row, int, str] | None:
    """The row, stage and pattern of `module`; where several patterns fit, the longest counts."""
    found = [
        (row, number, pattern)
        for row in ROWS
        for number, stage in enumerate(row.stages)
        for pattern in stage
        if fnmatchcase(module, pattern)
    ]
    return max(found, key=lambda candidate: len(candidate[2].rstrip("*")), default=None)


def objection(importer: str, imported: str) -> str | None:
    """Why `importer` must not import `imported`, or None."""
    here, there = place(importer), place(imported)
    if here is None or there is None:
        return f"{importer if here is None else imported} is in no row of the table"
    (row, stage, pattern), (other_row, other_stage, other_pattern) = here, there
    if row is not other_row:
        return None if row.sees_row(other_row) else f"row {row.name} does not see row {other_row.name}"
    if other_stage < stage or (pattern == other_pattern and "*" in pattern):
        return None
    return f"in row {row.name}, {imported} does not stand before it"


def modules(package: Path) -> dict[str, Path]:
    """Each module's file, by its name in the table."""
    named = {}
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).with_suffix("").as_posix()
        named[name.removesuffix("/__init__")] = path
    return named


def dotted_imports(tree: ast.AST, package: str) -> Iterator[tuple[int, str, list[str]]]:
    """Line, module and imported names of each import in a file of `package`, wherever it stands."""
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
    """Line and table name of each module of this package that `text`, the file of `module`, imports."""
    is_package = known[module].name == "__init__.py"
    parts = ["autograph", *module.split("/")]
    package = ".".join(parts if is_package and module != "__init__" else parts[:-1])
    for line, dotted, names in dotted_imports(ast.parse(text), package):
        if dotted.split(".")[0] != "autograph":
            continue
        base = "/".join(dotted.split(".")[1:])
        below = [f"{base}/{name}".lstrip("/") for name in names]
        yield from {(line, name if name in known else base or "__init__"): None for name in below or [base]}


def violations(texts: dict[str, str], known: dict[str, Path]) -> list[str]:
    return [
        f"{module} line {line} imports {imported}: {reason}"
        for module, text in texts.items()
        for line, imported in imports(text, module, known)
        if (reason := objection(module, imported))
    ]


KNOWN = modules(PACKAGE)
TEXTS = {module: path.read_text(encoding="utf-8") for module, path in KNOWN.items()}


# what the examples of right and wrong imports below take to be there
EXAMPLE = {
    **dict.fromkeys(["__init__", "syntax", "operators", "cli", "converters", "runtime"], Path("__init__.py")),
    **dict.fromkeys(["errors", "api", "stray", "converters/base", "converters/calls"], Path("file.py")),
    **dict.fromkeys(["syntax/source", "syntax/names", "syntax/template", "syntax/pipeline"], Path("file.py")),
    **dict.fromkeys(["syntax/cfg", "syntax/liveness"], Path("file.py")),
    **dict.fromkeys(["operators/backend", "operators/control", "operators/cells"], Path("file.py")),
    **dict.fromkeys(["runtime/graph", "backends/graph", "backends/jax"], Path("file.py")),
}


def test_every_module_is_in_the_table():
    assert [module for module in KNOWN if place(module) is None] == []


def test_imports_follow_the_table():
    assert violations(TEXTS, KNOWN) == []


def test_no_circles():
    graph = {module: {name for _, name in imports(TEXTS[module], module, KNOWN)} for module in KNOWN}
    graphlib.TopologicalSorter(graph).prepare()         # raises CycleError, which shows the circle


@pytest.mark.parametrize(
    "module, line",
    [
        ("errors", "import autograph"),
        ("syntax/source", "from autograph.converters import base"),
        ("syntax/source", "from .. import api"),
        ("syntax/source", "from ..operators.backend import Backend"),
        ("syntax/pipeline", "def f():\n    import autograph.operators as ag__"),
        ("syntax/pipeline", "import importlib\nimportlib.import_module('autograph.cli')"),
        ("converters/base", "from .calls import Calls"),
        ("operators/control", "from autograph.syntax.names import fresh"),
        ("operators/control", "if TYPE_CHECKING:\n    from autograph.runtime import graph"),
        ("operators/backend", "from autograph.operators import control"),
        ("runtime/graph", "from autograph.syntax import names"),
        ("backends/jax", "from autograph.runtime.graph import Graph"),
        ("api", "from autograph.cli import main"),
        ("stray", "from autograph import errors"),
    ],
)
def test_a_wrong_import_is_caught(module, line):
    assert len(violations({module: line}, EXAMPLE)) == 1


@pytest.mark.parametrize(
    "module, line",
    [
        ("syntax/source", "from autograph.errors import SourceError"),
        ("syntax/liveness", "from .cfg import build"),
        ("converters/calls", "from autograph.converters import base\nfrom ..syntax import names, template"),
        ("operators/control", "from autograph.operators.cells import read"),
        ("backends/graph", "from autograph.runtime import graph"),
        ("api", "from autograph import operators, errors\nfrom autograph.syntax.pipeline import convert"),
        ("operators", "from .control import if_stmt"),
        ("__init__", "from .api import convert"),
        ("cli", "def main():\n    from autograph import to_code"),
    ],
)
def test_a_right_import_is_not(module, line):
    assert violations({module: line}, EXAMPLE) == []


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
