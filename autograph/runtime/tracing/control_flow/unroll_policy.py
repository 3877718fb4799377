"""The policy of unrolling: the options of `ag.set_loop_options(…)` for the graph runtime.

`unroll`: True for all iterations, False for none, a number for at most so many; otherwise a few.
`budget`: how many operations unrolling may record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograph.runtime.graph.graph import Place
from autograph.runtime.tracing.proxies.graph_break import Unstageable

UNROLL = 8  # iterations that are unrolled without a second thought
SHORT = 128  # operations that these may record; loops in one another soon come to more
FREE = 5_000  # operations that unrolling may record for which nobody has asked
BUDGET = 20_000  # the same where somebody has


@dataclass(frozen=True)
class Unrolling:
    """How far a loop is unrolled.

    Attributes:
        limit: how many iterations are; None for all.
        wanted: whether the user asked for all iterations.
        asked: whether the user said how many.
        budget: how many operations that may record.
        is_strict: whether it is an error if it takes more; otherwise the function runs as plain Python.
    """

    limit: int | None = UNROLL
    wanted: bool = False
    asked: bool = False
    budget: int = FREE
    is_strict: bool = False

    def spend(self, operations: int, place: Callable[[], Place]) -> None:
        """Unroll no further if so many operations are too many."""
        if operations > self.budget:
            raise Unstageable(
                f"unrolling this loop takes more than {self.budget} operations, and it cannot be staged as a loop of "
                "the graph, because its body needs the value of what it iterates over, or carries what cannot be "
                "carried. Iterate over an array or a range, and index arrays rather than lists with the loop's "
                "variable, or allow more with ag.set_loop_options(budget=…) in the body",
                place(),
                asked=self.is_strict,
            )


def unrolling(options: Mapping[str, Any] | None, place: Callable[[], Place]) -> Unrolling:
    """What the options of a loop come to."""
    if not options:
        return _DEFAULT
    unknown = [name for name in options if name not in ("unroll", "budget")]
    unroll = options.get("unroll")
    is_strict = bool(unroll) or "budget" in options
    budget = options.get("budget", BUDGET if is_strict else FREE)
    if unknown:
        problem = f"there is no option {unknown[0]!r}; there are unroll= and budget="
    elif not (unroll is None or isinstance(unroll, int)) or (unroll is not None and unroll < 0):
        problem = f"unroll= is True, False or how many iterations are unrolled at most, not {unroll!r}"
    elif not isinstance(budget, int) or budget < 1:
        problem = f"budget= is how many operations unrolling may take, not {budget!r}"
    else:
        limit = UNROLL if unroll is None else None if unroll is True else int(unroll)
        return Unrolling(limit, unroll is True, unroll is not None, budget, is_strict)
    raise Unstageable(f"set_loop_options: {problem}", place(), asked=True)


_DEFAULT = Unrolling()
