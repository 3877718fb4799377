"""The passes over a graph, in order. Each is a module with a function `run(graph)` that returns an `Outcome`.

No pass changes the results, output, exceptions or side effects of a program, nor which of the returned arrays are
identical or share memory. One difference is visible: an operation that is computed once instead of twice warns once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.common import budget
from autograph.runtime.graph.graph import Graph
from autograph.runtime.passes import (
    buffer_reuse,
    constant_folding,
    cse,
    dce,
    hoist_constants,
    licm,
    list_repetition,
    prune_branches,
    redundant_broadcasts,
    simplify,
    sink_stores,
)
from autograph.runtime.passes.rewriter import Note, Outcome

__all__ = ["PASSES", "Outcome", "Report", "optimize"]

PASSES: dict[str, Callable[[Graph], Outcome]] = {
    "simplify": simplify.run,                           # operations that give one of their operands
    "redundant_broadcasts": redundant_broadcasts.run,   # broadcasts that arithmetic does by itself
    "constant_folding": constant_folding.run,           # operations on constants
    "prune_branches": prune_branches.run,               # branches and loops that run always or never
    "list_repetition": list_repetition.run,             # loops that append one constant
    "hoist_constants": hoist_constants.run,             # lists that are only read
    "cse": cse.run,                                     # common subexpressions
    "licm": licm.run,                                   # loop-invariant code motion
    "dce": dce.run,                                     # dead code
    "sink_stores": sink_stores.run,                     # attributes that loops set
    "buffer_reuse": buffer_reuse.run,                   # memory of values that are no longer needed
}
LAST = frozenset({"sink_stores", "buffer_reuse"})      # run once, after the others


@dataclass(slots=True)
class Report:
    """The changes that the passes made.

    Attributes:
        changed: the names of the passes that changed it.
        notes: for `explain`: what happened to a node, and its place in the user's program.
    """

    changed: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def optimize(graph: Graph, without: Collection[str] = (), check: Callable[[Graph], object] | None = None) -> Report:
    """Run the passes over a graph, in place.

    Args:
        graph: the graph.
        without: the names of passes to leave out.
        check: called with the graph after each pass; raises if something is wrong with it.
    """
    unknown = [name for name in without if name not in PASSES]
    if unknown:
        raise ValueError(f"there is no pass {unknown[0]!r}; the passes are {', '.join(PASSES)}")
    names = [name for name in PASSES if name not in without]
    last = [name for name in names if name in LAST]
    most = [name for name in names if name not in LAST]
    graph.analysis = []
    report = Report()
    _round(graph, most, check, report)
    if "prune_branches" in report.changed:            # now more is known
        _round(graph, most, check, report)
    _round(graph, last, check, report)
    graph.analysis = None
    return report


def _round(graph: Graph, names: list[str], check: Callable[[Graph], object] | None, report: Report) -> None:
    for name in names:
        budget.current().check("optimizing")
        outcome = PASSES[name](graph)
        report.notes += outcome.notes
        if outcome.changed and name not in report.changed:
            report.changed.append(name)
        if outcome.changed:
            graph.analysis = []
        if check is not None:
            check(graph)
