"""What `make demo` shows: plain functions, staged, and modules of the standard library, converted; all at work.

Every answer is compared to that of the plain code. On a terminal in color, piped as plain text; exit status 1 if any
answer differs. `--short` leaves out most of the repetition, for the tests.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from comparing import lines_of, outcome
from programs import PROGRAMS, Program, board, collatz, life, mandelbrot, square_root
from rich.console import Console
from rich.table import Table
from rich.text import Text
from workloads import JOBS, Job

import autograph as ag
from autograph.cli import display
from autograph.conversion.explain import Explanation
from autograph.runtime.graph_text.printer import lines

SHORT = "--short" in sys.argv
SECONDS = 0.02 if SHORT else 0.25  # to measure each program for, each way
ACCELERATORS = "_bisect _heapq _json _statistics".split()  # in C; without them, the modules are all Python
SHOWN = [job for job in JOBS if not SHORT or job.modules[0] in ("heapq", "textwrap")]
MODULES = [*dict.fromkeys(name for job in SHOWN for name in job.modules)]

console = Console(highlight=False, soft_wrap=True, file=sys.__stdout__)  # also while what is printed is caught
differences: list[str] = []  # what did not come out as it should


def main() -> None:
    start = time.perf_counter()
    show_what_becomes_of(collatz, 837799)
    parts = [show_programs()]
    show_traceback()
    draw()
    parts.append(show_modules())
    heading("All in all")
    table("|answers>|equal|time: plain time>", parts)
    count = sum(int(part[1].replace(",", "")) for part in parts)
    verdict = f"[bold red]Not equal: {', '.join(differences)}." if differences else "[bold green]All answers are equal."
    took = time.perf_counter() - start
    console.print(f"\n{verdict}[/] {count:,} were compared; this took {took:.0f} seconds. Try:\n")
    command = os.path.relpath(os.path.join(sys.prefix, "bin", "autograph"))
    programs = os.path.relpath(inspect.getsourcefile(collatz) or "")
    console.print(f"  {command} to-code {programs}:k_means --side-by-side", markup=False)
    console.print(f"  {command} graph {programs}:life 'i64[28,56]' 100", markup=False)
    console.print(f"  {command} run --convert json -m json.tool --help", markup=False)
    sys.exit(bool(differences))


def heading(text: str) -> None:
    console.print(f"\n[bold]{text}[/]\n[dim]{'-' * len(Text.from_markup(text))}[/]")


def expect(equal: object, what: str) -> str:
    """'equal', or a word that something differs, which is remembered."""
    if not equal:
        differences.append(what)
    return "[green]equal[/]" if equal else "[bold red]DIFFERENT[/]"


# A function, from its text to what runs -------------------------------------------------------------------------------


def show_what_becomes_of(function: Callable[..., Any], *arguments: Any) -> None:
    staged = ag.function(function)
    name = function.__name__
    heading(f"{name}, as it was typed, and converted: ag.to_code({name})")
    display.side_by_side(plain_source(function), ag.to_code(function))
    told = ", ".join(map(repr, arguments))
    equal = expect(outcome(staged, arguments) == outcome(function, arguments), name)
    heading(f"Decorated with @ag.function, {name}({told}) gives {staged(*arguments)}, the plain one's: {equal}")
    console.print("Called once, it has become this graph:\n")
    display.graph(lines(staged.graph(*arguments).graph))
    console.print("\nwhich runs as this function, on the engine numpy:\n")
    display.code(str(staged.lower(*arguments)).rstrip() + "\n")
    console.print("\nand explains itself:\n")
    console.print(str(staged.explain(*arguments)).replace(os.getcwd() + os.sep, ""), markup=False)


def plain_source(function: Callable[..., Any]) -> str:
    """The text of a function, without its decorators."""
    text = inspect.getsource(function)
    return text[text.index(f"def {function.__name__}") :]


# Many functions, plain and staged -------------------------------------------------------------------------------------


def show_programs() -> list[str]:
    heading(f"{len(PROGRAMS)} plain functions (examples/programs.py), and the same with @ag.function")
    console.print("Compared: values, types and dtypes, what is printed, errors and their lines, arguments changed.\n")
    rows, compared, ratios, before = [], 0, [], len(differences)
    for number, program in enumerate(PROGRAMS, 1):
        with console.status(f"{number} of {len(PROGRAMS)}: {program.title}"):
            staged: Any = ag.function(program.function)
            first = seconds(staged, [next(program.calls())])
            calls = [*range(len([*program.calls()]))] * 2  # again, so that each call finds a trace
            wanted = [outcome(program.function, args) for args in program.calls()] * 2
            found = [outcome(staged, args) for _ in range(2) for args in program.calls()]
            equal = expect(wanted == found, program.function.__name__)
            plain, fast = measured(program, staged)
        compared += len(calls)
        ratios.append(fast / plain)
        rows.append([
            f"[cyan]{program.function.__name__}[/]", program.title, str(len(calls)), equal, duration(plain),
            duration(fast), f"{fast / plain:.2f}", duration(first), traces(staged),
        ])  # fmt: skip
    table("|what it does|calls>||plain>|staged>|ratio>|first call>|traces", rows)
    console.print("\nratio: the time of a staged call, where the plain one takes 1; tracing is in the first call.")
    console.print("Traces that are called plain run the function as it was typed; `explain` says why.")
    told = f"{sorted(ratios)[len(ratios) // 2]:.2f} (median)"
    return [f"{len(PROGRAMS)} functions, staged", f"{compared:,}", all_equal(before), told]


def all_equal(before: int) -> str:
    """Whether there have been no differences since there were so many."""
    return "[green]all[/]" if len(differences) == before else "[bold red]NOT ALL[/]"


def traces(staged: Any) -> str:
    """How many there are, and how many of them had to be left plain Python."""
    plain = sum(1 for trace in staged.traces if trace.plain)
    return f"{len(staged.traces)}{f', {plain} plain' if plain else ''}"


def measured(program: Program, staged: Any) -> tuple[float, float]:
    """Seconds that a call takes, plain and staged, by turns, at best."""
    best, begin = [float("inf"), float("inf")], time.perf_counter()
    while time.perf_counter() - begin < SECONDS:
        for i, function in enumerate((program.function, staged)):
            calls = [*program.calls()]
            best[i] = min(best[i], seconds(function, calls) / len(calls))
    return best[0], best[1]


def seconds(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> float:
    """How long some calls take together."""
    with contextlib.redirect_stdout(io.StringIO()):
        begin = time.perf_counter()
        for arguments in calls:
            with contextlib.suppress(Exception):  # what it is, `outcome` has told
                function(*arguments)
        return time.perf_counter() - begin


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def table(columns: str, rows: list[list[str]]) -> None:
    """A table; names of columns that end in `>` are those of numbers. Where there is no room, its lines are wrapped."""
    if console.is_terminal:
        made = Table(box=None, header_style="dim")
        for name in columns.split("|"):
            made.add_column(name.rstrip(">"), justify="right" if name.endswith(">") else "left", no_wrap=True)
        for row in rows:
            made.add_row(*row)
        if console.measure(made, options=console.options.update_width(1000)).maximum <= console.width:
            console.print(made)
            return
    texts = [[Text.from_markup(cell).plain for cell in row] for row in [columns.replace(">", "").split("|"), *rows]]
    widths = [max(map(len, column)) for column in zip(*texts)]
    numbers = [name.endswith(">") for name in columns.split("|")]
    for text in texts:
        cells = (f"{c:>{w}}" if right else f"{c:{w}}" for c, w, right in zip(text, widths, numbers))
        console.print("  " + "  ".join(cells).rstrip(), markup=False)


def show_traceback() -> None:
    heading("An error in a staged function: the user's lines (and, first, the one where the call comes in)")
    staged = ag.function(square_root)
    staged(2.0)
    plain, error = raised_by(square_root), raised_by(staged)
    console.print("".join(traceback.format_exception(error)), markup=False)
    console.print(f"The lines of the plain function are {expect(lines_of(plain) == lines_of(error), 'tracebacks')}.")


def raised_by(function: Callable[..., Any]) -> BaseException:
    try:
        function(-1.0)
    except ValueError as error:
        return error
    raise AssertionError("it has not raised anything")


# Pictures -------------------------------------------------------------------------------------------------------------


def draw() -> None:
    iterations = 40 if SHORT else 120
    heading(f"Gosper's gun after {iterations} iterations of a staged `life`")
    cells = ag.function(life)(board(), iterations)
    for upper, lower in zip(cells[::2].tolist(), cells[1::2].tolist()):
        console.print("    " + "".join(" ▀▄█"[over + 2 * under] for over, under in zip(upper, lower)).rstrip())
    limit = 60
    heading("A staged `mandelbrot`")
    iterations = ag.function(mandelbrot)(72, limit)
    if not console.is_terminal:
        for row in iterations:
            console.print("    " + "".join(" .:-=+*%@"[int(n * 8 / limit)] for n in row).rstrip(), markup=False)
        return
    # red, green, blue
    glow = np.where(iterations == limit, 0, iterations / limit)[..., None] ** np.array([0.35, 0.7, 1.4])
    for upper, lower in zip((glow * 255).astype(int)[::2], (glow * 255).astype(int)[1::2]):
        line = Text("    ")
        for over, under in zip(upper, lower):
            line.append("▀", "rgb({},{},{}) on rgb({},{},{})".format(*over, *under))
        console.print(line)


# The standard library, converted --------------------------------------------------------------------------------------


def show_modules() -> list[str]:
    heading(f"{len(MODULES)} modules of the standard library, converted as they are imported, at work")
    with imported(converted=False) as (plain, _), imported(converted=True) as (converted, told):
        console.print(f"{told}. Compared to the modules as they are:\n")
        times, count, before = [0.0, 0.0], 0, len(differences)
        for job in SHOWN:
            with console.status(job.title):
                wanted, found = work(job, plain, times, 0), work(job, converted, times, 1)
            equal = expect(wanted == found, " ".join(job.modules))
            name = "json" if "json" in job.modules else " ".join(job.modules)
            console.print(f"  [cyan]{name:22}[/] {job.title:40} {len(wanted):6,} answers {equal}")
            count += len(wanted)
    ratio = f"{times[1] / times[0]:.1f}"
    return [f"{len(MODULES)} standard modules, converted", f"{count:,}", all_equal(before), ratio]


@contextmanager
def imported(converted: bool) -> Iterator[tuple[dict[str, Any], str]]:
    """The modules, imported anew, as they are or converted; and in a few words what was converted."""
    kept = dict(sys.modules)
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.modules.update(dict.fromkeys(ACCELERATORS))  # type: ignore[arg-type]
    with ag.importing.install(MODULES) if converted else nullcontext() as hook:
        begin = time.perf_counter()
        with console.status("Converting …"):
            modules = {name: importlib.import_module(name) for name in MODULES}
        told = ""
        if hook is not None:
            every = Explanation(d for made in hook.modules.values() for d in made.decisions)
            told = f"{every.summary()}, in {time.perf_counter() - begin:.1f} seconds"
        yield modules, told
    sys.modules.clear()
    sys.modules.update(kept)


def work(job: Job, modules: dict[str, Any], times: list[float], way: int) -> list[object]:
    begin = time.perf_counter()
    answers = [*job.work(*(modules[name] for name in job.modules))]
    times[way] += time.perf_counter() - begin
    return answers


if __name__ == "__main__":
    main()
