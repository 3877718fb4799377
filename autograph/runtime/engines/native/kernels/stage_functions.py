"""The functions of the innermost loops: a stage of a nest, for elements side by side, or for several rows at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from autograph.runtime.engines.native.kernels.inner_loop import Rows, iterations
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.reduction import Combining
from autograph.runtime.engines.native.kernels.schedule import Each
from autograph.runtime.engines.native.llvm.syntax import ONCE, RARE
from autograph.runtime.graph.graph import Place

_NAME = re.compile(r"%[\w.]+")
LANES = """!508 = distinct !{!508, !3, !509}
!509 = !{!"llvm.loop.vectorize.width", i32 8}
!516 = distinct !{!516, !3, !517}
!517 = !{!"llvm.loop.vectorize.width", i32 16}
"""


def stage_function(nest: Nest, each: Each) -> tuple[str, str, list[Place]]:
    """The function of an innermost loop: its name, its text, and the places in the user's code that are behind it."""
    rows = _copying(nest) if each.stage is None else nest.stages[each.stage]
    kind = "_jammed" * (each.rows > 1) + "_vector" * bool(each.width) + "_few" * each.few
    name = f"{nest.name}{'copy' if each.stage is None else f'row{each.stage}'}{kind}"
    outs, streams, blocks = len(nest.dtypes), len(nest.streams), len(nest.scratch)
    hints = f", !llvm.loop !5{_combined(nest):02}" if nest.reduction else ONCE
    hints = RARE if each.few else hints if each.width else ""
    inlined = "alwaysinline" if hints else "noinline"
    if each.rows > 1:
        names = {place: f"%b{number}" for number, place in enumerate(nest.rows(each.rows))}
        lines = _Jammed()
        for row in range(each.rows):
            begins = [f"ptr {names[leader, at]}, i64 {by}" for leader, at, by in nest.neighbors(row)]
            entry = [f"  %s{stream} = getelementptr i8, {begin}" for stream, begin in enumerate(begins)]
            lines.add([*entry, *rows.parts[0]], rows.parts[1])
        params = [f"ptr {'noalias ' * (leader < outs)}{name}" for (leader, _), name in names.items()]
        parts: Any = lines.entry, lines.iteration
    else:
        kinds = ["ptr noalias"] * outs + ["ptr"] * (streams - outs) + ["ptr noalias"] * blocks
        params, parts = [f"{kind} %s{place}" for place, kind in enumerate(kinds)], rows.parts
    head = f"define internal i64 @{name}({', '.join(params)}, ptr %frame, i64 %n) {inlined} {{"
    pinned = {} if each.rows > 1 else rows.pinned
    return name, iterations(head, parts[0], parts[1], hints, pinned), rows.origins * each.rows


def _combined(nest: Nest) -> int:
    """How many elements are combined at a time."""
    assert nest.reduction is not None
    return Combining(nest.reduction.how, nest.dtypes[-1]).lanes


def _copying(nest: Nest) -> Rows:
    rows = Rows("copy")
    for place, out in nest.carried.items():
        dtype = nest.dtypes[out]
        rows.store_next(dtype, rows.load_next(dtype, f"%s{place}", True), f"%s{out}")
    return rows


class _Jammed:
    """The text of several rows, in which each value is computed once; stores change nothing that is loaded.

    Attributes:
        entry: what is done before the first iteration.
        iteration: what is done in each.
    """

    def __init__(self) -> None:
        self.entry: list[str] = []
        self.iteration: list[str] = []
        self._known: dict[str, str] = {}

    def add(self, entry: Sequence[str], iteration: Sequence[str]) -> None:
        """Add what is done for one more row."""
        names: dict[str, str] = {}
        for lines, into in ((entry, self.entry), (iteration, self.iteration)):
            for line in lines:
                name, is_value, text = line.rpartition(" = ")
                text = _NAME.sub(lambda found: names.get(found[0], found[0]), text)
                if is_value and text not in self._known:
                    self._known[text] = f"%v{len(self._known)}"
                    into.append(f"  {self._known[text]} = {text}")
                if is_value:
                    names[name.strip()] = self._known[text]
                else:
                    into.append(text)
