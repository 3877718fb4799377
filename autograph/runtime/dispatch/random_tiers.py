"""The tiers by which functions run, by chance if tests ask for that."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Sequence
from typing import Any

from autograph.common.call_counter import Pace
from autograph.runtime.dispatch.options import TIERS
from autograph.runtime.dispatch.tiers import KNOWN, Tiers, Trial
from autograph.runtime.dispatch.trace_cache import Trace


def make_tiers(*args: Any) -> Tiers:
    """The `Tiers` of a function, which change by chance if tests ask for that."""
    kind, _, seed = os.environ.get(TIERS, "").partition(":")
    if not kind:
        return Tiers(*args)
    if kind != "random":
        raise ValueError(f"{TIERS}: expected 'off', 'random' or 'random:SEED', not {kind!r}")
    return RandomTiers(random.Random(seed), *args)


class RandomTiers(Tiers):
    """Changes tiers by chance at each call, for tests that all of them do the same.

    Args:
        chance: the source of random numbers.
        args: those of `Tiers`.
    """

    def __init__(self, chance: random.Random, *args: Any) -> None:
        self._chance = chance
        self._review, self._gamble = chance.randrange(4), math.inf
        self._loop_settings = 0.0, chance.randrange(4)      # loops are staged after so many iterations
        super().__init__(*args)

    def _happens(self, probability: float) -> bool:
        return self._chance.random() < probability

    def _wait(self, pace: Pace, calls: int) -> None:
        super()._wait(pace, self._chance.randrange(3))

    def _is_long(self, values: Sequence[Any], is_first: bool) -> bool:
        if self._is_hot(self._trial(values), 0.0, 0.0):    # here, since a call that raises is not timed
            self._promote()
        return self._happens(0.2)

    def _timed(self, pace: Pace, values: tuple[Any, ...], trial: Trial | None = None) -> tuple[Any, float, bool]:
        result, seconds, is_hot = super()._timed(pace, values, trial)
        return result, seconds, is_hot or self._happens(0.5)

    def _watch(self, values: tuple[Any, ...], seconds: float) -> None:
        self._small = KNOWN - 1 if self._happens(0.05) else -1
        super()._watch(values, 0.0)

    def _is_hot(self, trial: Trial | None, seconds: float, heat: float) -> bool:
        if trial is None or self._happens(0.6):
            return False
        trial.calls += 1
        if trial.faster == "plain":
            self._reopen(trial)
        return True

    def wants_trace(self, values: tuple[Any, ...]) -> bool:
        return self._happens(0.7)

    def seconds_allowed(self, values: Sequence[Any]) -> float | None:
        return 0.0 if self._happens(0.2) else None

    def _is_next_staged(self, trial: Trial) -> bool:
        return self._happens(0.5)

    def _compared(self, trial: Trial, trace: Trace, is_staged: bool, seconds: float) -> None:
        if self._happens(0.2):
            self._demote()
        elif self._happens(0.2):
            self._use_staged(trial, trace)
        elif self._happens(0.2):
            self._use_plain(trial, trace)
