"""The emitter that puts several iterations of a short loop into one.

LLVM would do so, too, but only together with passes that take twice the time. An iteration that is one block is copied,
with other names; what is left over at the end are single iterations.
"""

from __future__ import annotations

import re

from autograph.runtime.engines.native.emit.simd import Lanes
from autograph.runtime.engines.native.llvm.function_builder import Origin

ITERATIONS = 4       # in one
SHORT = 24      # instructions of an iteration, at most, besides those that move values to cells and back
_CELLS = re.compile(r"  (store .*|%t\d+ = load .*), ptr %c\d+$|;")
_NAME = re.compile(r"%t\d+\b")


class Unrolling(Lanes):
    """See `autograph.runtime.graph.operands.Emitter`."""

    def several(self, head: str, iteration: str, step: str) -> str:
        """Put several iterations into one. Gives the block to go to instead of the head, if that can be done.

        Args:
            head: the block that loads the item and the end, and compares the two.
            iteration: the block that follows it, if there is another iteration.
        """
        begin, body = self._lines[head], self._lines[iteration]
        size = sum(_CELLS.match(line) is None for line in body)
        if not body[-1].startswith(f"  br label %{head}") or size > SHORT or not step.lstrip("-").isdigit():
            return head
        item, end, compared, _ = (line for line in begin if not isinstance(line, Origin))
        many, inside = self.label("many"), self.label("several")
        self.begin(many)
        now = self._emit(item.partition(" = ")[2])
        last = self._emit(f"sub i64 {self._emit(end.partition(' = ')[2])}, {(ITERATIONS - 1) * int(step)}")
        how = compared.partition(" = ")[2].partition("%")[0]
        self._now.append(f"  br i1 {self._emit(f'{how}{now}, {last}')}, label %{inside}, label %{head}")
        self.begin(inside)
        lines = [item, *body[:-1]]
        names = {line.split()[0] for line in lines if line.startswith("  %t")}
        for copy in range(ITERATIONS):
            for line in lines:
                other = _NAME.sub(lambda found: f"{found[0]}.{copy}" if found[0] in names else found[0], line)   # noqa: B023
                self._now.append(line if isinstance(line, Origin) else other)
        self._now.append(f"  br label %{many}")
        return many
