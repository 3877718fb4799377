"""What the calls of tests/corpus_staged do under `jax.jit(ag.convert(f))`, beside the plain ones.

    python -m tests.backends.jax.corpus loops branches      # lists the calls that are not the same, and counts

Calls whose arguments and results have types that JAX has are compared; the others are skipped.
"""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jax._src.lax.lax import _convert_element_type

import autograph as ag
from autograph.backends.jax.lines import is_of_jax
from autograph.operators.tracebacks import is_library
from tests import corpus_staged
from tests.backends.jax.fuzzing import Differs
from tests.backends.jax.running import Ran, run, same, same_text
from tests.outcomes import time_limit

PAGE = Path(__file__).parent.parent.parent.parent / "docs" / "jax.md"
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
ENTRIES = list(corpus_staged.entries())     # before any runs: some set attributes of functions
SHARED = "that are one object, or share memory"

# JAX's rules; docs/jax.md tells them. It raises no such exception:
UNCHECKED = {"IndexError", "ZeroDivisionError", "LinAlgError", "OverflowError"}
# What is JAX's own in these calls, or not to be compared.
DIFFERS = {
    "found_in_libraries.a_keyword_like_a_parameter": "`jax.jit` has no keywords named like parameters",
    "dtypes.numpy_functions_of_anything": "NumPy computes functions of bools with 16 bits",
    "indexing.write_in_a_while": "an index beyond the end, so the loop has none",
    "numpy_numbers.nan_ordering": "`sorted` with NaN",
    "printing.shows_arrays(np.array(5))": "JAX's numbers are arrays without axes",
    "printing.shows_values(True)": "a bool is one of NumPy's once it is JAX's",
    "printing.types_show": "the class of a staged value",
    "programs_corners.rounding": "`round` to decimals, in the last digit",
}
# How many calls of each theme are refused, at most.
REFUSED = dict(
    aliasing=37, arrays=38, branches=28, classes=6, comprehensions=31, constants_by_identity=23,
    consumed_iterators=120, containers=40, dtypes=8, effects=6, errors=13, found=15, found_by_reading=7,
    found_in_libraries=2, functions=31, generator_expressions=58, indexing=24, is_instance=3, iterators=58,
    learning_numpy=26, library_objects=4, loops=26, models=15, mutation=35, mutation_aliases=44,
    mutation_iterated=46, mutation_methods=56, mutation_places=93, mutation_programs=105, nesting=14, numbers=23,
    numpy_aliases=15, numpy_corners=21, numpy_features=41, numpy_indexing=36, numpy_numbers=32, numpy_programs=14,
    numpy_settings=3, objects=10, printing=7, programs_aliases=28, programs_branches=43, programs_classes=18,
    programs_contests=47, programs_corners=39, programs_digits=42, programs_dynamic=36, programs_everyday=36,
    programs_graphs=43, programs_library=18, programs_numbers=57, programs_puzzles=39, programs_states=47,
    programs_structures=27, raising=1, randomness=7, recipes_arrays=26, recipes_learning=23, recipes_numbers=29,
    recipes_search=29, recipes_signals=17, recipes_text=6, searching=31, shared_containers=69, signals=23,
    solvers=5, sorting=11, statistics_numpy=13, tables=22, unbound=19, walruses=33,
)


class Call(NamedTuple):
    """A call of the corpus, as a text of arguments."""

    entry: corpus_staged.Entry
    arguments: str

    def values(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, made anew."""
        names = {**vars(self.entry.module), "_arguments": lambda *args, **kwargs: (args, kwargs)}
        return eval(f"_arguments({self.arguments})", names)

    def __str__(self) -> str:
        return f"{self.entry}({self.arguments})"


def calls(theme: str | None = None) -> Iterator[Call]:
    """The calls of a theme, or all."""
    for entry in ENTRIES:
        if theme in (None, entry.theme):
            yield from (Call(entry, arguments) for arguments in entry.calls)


@cache
def kinds() -> dict[str, re.Pattern[str]]:
    """The kinds of refusals in the table of docs/jax.md, with patterns of their messages."""
    rows = ROW.findall(PAGE.read_text(encoding="utf-8").partition("| the error says |")[2])
    return {
        kind: re.compile("|".join(re.escape(text).replace("…", ".*") for text in says.split(" · ")), re.DOTALL)
        for kind, says, instead in rows
    }


# The verdict on a call ------------------------------------------------------------------------------------------------


def verdict(call: Call) -> str:
    """What came of a call: `same`, `widened`, `raised`, `as JAX: …`, `skipped: …` or `refused: …`.

    Raises:
        Differs: it did something else.
    """
    args, kwargs = call.values()
    if (why := DIFFERS.get(str(call), DIFFERS.get(str(call.entry)))) is not None:
        return f"skipped: {why}"
    if (why := unfit([args, kwargs])) is not None:
        return f"skipped: arguments {why}"
    with time_limit():
        wanted = run(call.entry.function, *call.values())
        if wanted.error is None and (why := unfit(wanted.value)) not in (None, SHARED):
            return f"skipped: results {why}"
        actual = run(jax.jit(ag.convert(call.entry.function)), args, kwargs)
    try:
        return judged(actual, wanted)
    except Differs:
        if as_jax_alone(call, actual):
            return "as JAX: without conversion"
        if actual.error is None:
            raise
        said = summary(actual.error).replace("`", "")
        kind = next((kind for kind, pattern in kinds().items() if pattern.search(said)), None)
        if kind is None:
            raise
        return f"refused: {kind}"


def judged(actual: Ran, wanted: Ran) -> str:
    """The verdict on a call that is not refused."""
    if wanted.error is not None:
        return judged_error(actual, wanted.error)
    if actual.error is not None:
        raise Differs(f"raised {summary(actual.error)}")
    try:
        same_text(actual.printed, wanted.printed)
        same(actual.value, wanted.value)
    except AssertionError as error:
        try:
            same_text(actual.printed, wanted.printed)
            same(widened(actual.value), widened(wanted.value))
        except AssertionError:
            raise Differs(str(error)) from error
        return "widened"
    return "same"


def judged_error(actual: Ran, wanted: BaseException) -> str:
    name = type(wanted).__name__
    if actual.error is None:
        if name not in UNCHECKED:
            raise Differs(f"returned {actual.value}; the plain run raised {name}: {wanted}")
        return f"as JAX: no {name}"
    if name in summary(actual.error) or (name == "NameError" and "UnboundLocalError" in summary(actual.error)):
        return "raised"
    codes = [frame.f_code for frame, _ in traceback.walk_tb(actual.error.__traceback__)]
    is_jaxs = bool(codes) and (is_of_jax(codes[-1]) or is_library(codes[-1]))
    if isinstance(actual.error, (TypeError, ValueError)) and is_jaxs:
        return f"as JAX: {type(actual.error).__name__} for {name}"
    raise Differs(f"raised {summary(actual.error)}; the plain run raised {name}: {wanted}")


def summary(error: BaseException) -> str:
    """The class and text of an exception; of one that a callback raised, for which JAX makes another one."""
    lines = [line for line in str(error).splitlines() if re.match(r"[A-Za-z_.]*(Error|Exception|Iteration)\b", line)]
    return lines[-1] if isinstance(error, jax.errors.JaxRuntimeError) and lines else f"{type(error).__name__}: {error}"


def as_jax_alone(call: Call, actual: Ran) -> bool:
    """Whether a call did what it does on JAX's arrays without conversion."""
    alone = run(call.entry.function, *jax.tree.map(weakly_typed, call.values()))
    try:
        return alone.error is None and judged(actual, alone) in ("same", "widened")
    except Differs:
        return False


def weakly_typed(leaf: Any) -> Any:
    """An argument as an array of JAX, as `jax.jit` makes it of a number."""
    is_python = type(leaf) in (int, float, complex)
    return _convert_element_type(jax.numpy.asarray(leaf), weak_type=is_python)


def widened(value: Any) -> Any:
    """A result with all numbers of one type: in JAX a variable has one type on all paths."""
    return jax.tree.map(lambda leaf: np.asarray(leaf).astype(complex), value)


# What JAX takes and returns -------------------------------------------------------------------------------------------


def unfit(value: Any) -> str | None:
    """Why JAX does not take or return such a value, if it does not."""
    try:
        parts = reached(value)
    except RecursionError:
        return "that contain themselves"
    if not all(map(has_type_of_jax, parts)):
        return "of other types"
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    overlap = any(np.shares_memory(a, b) for at, a in enumerate(arrays) for b in arrays[:at])
    containers = [id(part) for part in parts if type(part) in (list, dict)]
    return SHARED if overlap or len(set(containers)) < len(containers) else None


def reached(value: Any) -> list[Any]:
    """A value, and what it contains."""
    inside = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return [value, *(each for part in inside for each in reached(part))]


def has_type_of_jax(value: Any) -> bool:
    if type(value) is dict:
        return len(set(map(type, value))) < 2
    if type(value) is int:
        return -(2**63) <= value < 2**63
    if isinstance(value, (np.generic, np.ndarray)):
        return type(value) is not np.ma.MaskedArray and value.dtype.kind in "biufc" and value.dtype.char not in "gG"
    return value is None or type(value) in (list, tuple, bool, float, complex)


def main() -> None:
    """Run the calls of themes, and print those that are not the same."""
    jax.config.update("jax_enable_x64", True)
    for theme in sys.argv[1:] or corpus_staged.themes():
        tally: Counter[str] = Counter()
        begun = time.process_time()
        for call in calls(theme):
            try:
                found = verdict(call)
            except Differs as error:
                found = f"DIFFERS: {error}"
            except BaseException as error:      # the time limit
                found = f"DIFFERS: {error!r}"
            tally[found if ":" not in found or "DIFFERS" not in found else "DIFFERS"] += 1
            if found not in ("same", "raised"):
                print(f"{call}: {found}".replace("\n", " ")[:600], flush=True)
        print(f"{theme}, {time.process_time() - begun:.0f} s: {dict(tally)}", flush=True)


if __name__ == "__main__":
    main()
