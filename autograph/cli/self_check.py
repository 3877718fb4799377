"""The part of `autograph doctor` that runs in a process of its own, so that a crash is a result like any other.

    python self_check.py RESULTS             writes facts: the engines, the default engine, what LLVM knows
    python self_check.py RESULTS ENGINE      writes for each check its name, and the traceback if it failed

RESULTS is a file, which gets a line of JSON for each result. A copy of this program is run, outside of the package:
autograph does not stage its own code.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

AVAILABLE, UNAVAILABLE, BROKEN = "available", "not available", "broken"


def squares(xs: Any, limit: float) -> Any:
    """The sum of the squares of the numbers before the first one above the limit."""
    total = 0.0
    for x in xs:
        if x > limit:
            break
        total += x * x
    return total


def check_conversion(engine: str) -> None:
    import autograph as ag

    expect("ag__.for_stmt" in ag.to_code(squares), f"the loop was not converted:\n{ag.to_code(squares)}")
    agree(ag.convert(squares), [1, 2.5, 3], 2.5)
    agree(ag.convert(squares), None, 2.5)


def check_staging(engine: str) -> None:
    import numpy as np

    import autograph as ag

    staged = ag.function(squares, engine=engine)
    for dtype in ("f8", "f4", "i8"):
        xs = np.arange(-3, 9).astype(dtype)
        agree(staged, xs, 6)
        expect(staged.traces[-1].engine == engine, f"another engine ran it:\n{staged.explain(xs, 6)}")
    agree(staged, [1, 2.5, 3], 2.5)
    agree(staged, None, 2.5)


def check_gradient(engine: str) -> None:
    import numpy as np

    import autograph as ag

    xs = np.linspace(-2, 4, 13)
    found, right = ag.grad(ag.function(squares, engine=engine))(xs, 2.2), np.where(xs > 2.2, 0, 2 * xs)
    expect(np.array_equal(found, right), f"{found!r} is not {right!r}")


CHECKS: dict[str, Callable[[str], None]] = {
    "converted code gives what plain Python gives": check_conversion,
    "staged code gives what plain Python gives": check_staging,
    "a gradient is what its formula gives": check_gradient,
}


def agree(function: Callable[..., Any], *args: Any) -> None:
    """Expect a form of `squares` to return, or raise, the same as `squares` itself."""
    found, right = outcome(function, args), outcome(squares, args)
    expect(found == right, f"{found} is not {right}")


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    try:
        result = function(*args)
    except Exception as error:
        return f"raises {error!r}"
    return f"{type(result).__name__} {result!r}"


def expect(condition: bool, failure: str) -> None:
    """An `assert` that PYTHONOPTIMIZE leaves in."""
    if not condition:
        raise AssertionError(failure)


def results(engine: str) -> Iterator[list[str]]:
    for name, check in CHECKS.items():
        try:
            check(engine)
        except Exception:
            yield [name, traceback.format_exc()]
        else:
            yield [name, ""]


def facts() -> dict[str, dict[str, str]]:
    """The engines, the default engine, facts of LLVM, and whether internals are as expected."""
    from autograph.runtime.dispatch.options import ENGINES, can_compile

    engines = {name: engine_fact(name) for name in ENGINES}
    llvm = llvm_facts() if can_compile() else {}
    return {"engines": engines | {"default": engine_fact(None)}, "llvm": llvm, "internals": internals()}


def engine_fact(name: str | None) -> str:
    """Whether an engine is available, or why not; of the default (None) its name, and where that comes from."""
    import numpy as np

    import autograph as ag
    from autograph.errors import EngineError
    from autograph.runtime.dispatch.options import can_compile, check_options

    try:
        options = check_options((), engine=name)
        ag.function(squares, engine=name)(np.ones(3), 2)
    except Exception as error:
        is_missing = isinstance(error, EngineError) and not can_compile()
        return f"{UNAVAILABLE if is_missing else BROKEN}: {error}"
    return AVAILABLE if name else f"{options.engine} ({options.chosen})"


def internals() -> dict[str, str]:
    """Whether the internals of CPython and NumPy that this library relies on are as it expects."""
    import numpy as np

    from autograph.common import bytecode, cpython_internals, line_tables, numpy_internals

    sums = numpy_internals.sums_are_known, numpy_internals.sums_of_rows_are_known
    known = *sums, numpy_internals.sums_of_parts_are_known, numpy_internals.deviations_are_known
    are_summed = all(is_known(np.dtype(char)) for is_known in known for char in "fd")
    has_numbers = cpython_internals.HAS_DIGITS and cpython_internals.HAS_SIMPLE_COUNTS
    problems = {
        "CPython's objects": cpython_internals.LAYOUT_PROBLEM,
        "integers and counts of references": "" if has_numbers else "machine code takes longer for lists",
        "versions of classes": "" if cpython_internals.HAS_TAGS else "guards are slower",
        "bytecode": "" if bytecode.IS_KNOWN else "messages say less",
        "lines of code": "" if line_tables.IS_KNOWN else "tracebacks show generated lines",
        "references": "" if cpython_internals.COUNTS else "all objects are taken for ones that others know",
        "NumPy's arrays": numpy_internals.LAYOUT_PROBLEM,
        "NumPy's sums": "" if are_summed else "no machine code for sums",
        "NumPy's products": "" if numpy_internals.matmul_loop("d") else "loops call Python for products of vectors",
        "NumPy's settings": "" if numpy_internals.SETTINGS else "calls of machine code are slower",
    }
    return {name: f"not as expected: {problem}" if problem else "as expected" for name, problem in problems.items()}


def llvm_facts() -> dict[str, str]:
    try:
        import llvmlite.binding as llvm
    except Exception as error:
        return {"LLVM": f"{BROKEN}: {error!r}"}
    features = llvm.get_host_cpu_features()
    return {
        "LLVM": ".".join(map(str, llvm.llvm_version_info)),
        "LLVM target": llvm.get_process_triple(),
        "CPU for LLVM": llvm.get_host_cpu_name(),
        "CPU features": " ".join(sorted(name for name in features if features[name])),
    }


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        for result in results(sys.argv[2]) if sys.argv[2:] else [facts()]:
            print(json.dumps(result), file=file, flush=True)
