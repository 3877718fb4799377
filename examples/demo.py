"""What `make demo` shows: plain functions, decorated, and modules of the standard library, converted; all at work.

All functions have default options. Every answer is compared to that of the plain code. On a terminal in color, piped
as plain text; exit status 1 if any answer differs. `--short` leaves out most of the repetition, for the tests.
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
from computing import COMPUTING, julia
from programs import PROGRAMS, Program, board, collatz, life, square_root
from rich.console import Console
from rich.table import Table
from rich.text import Text
from workloads import JOBS, Job

import autograph as ag
from autograph.cli import display
from autograph.conversion.explain import Explanation
from autograph.runtime.dispatch.explain import TIERS
from autograph.runtime.graph_text.printer import lines

SHORT = "--short" in sys.argv
SECONDS = 0.02 if SHORT else 0.4  # to measure each short function for
CALLS = 3 if SHORT else 30  # of each longer one
HOT = 2000  # calls of `collatz`, which become machine code by then
ACCELERATORS = "_bisect _heapq _json _statistics".split()  # in C; without them, the modules are all Python
SHOWN = [job for job in JOBS if not SHORT or job.modules[0] in ("heapq", "textwrap")]
MODULES = [*dict.fromkeys(name for job in SHOWN for name in job.modules)]

console = Console(highlight=False, soft_wrap=True, file=sys.__stdout__)  # also while what is printed is caught
STAGED: dict[Callable[..., Any], Any] = {}  # the functions that compute for a while
LIMIT = 200  # steps of `julia`
differences: list[str] = []  # what did not come out as it should


def main() -> None:
    start = time.perf_counter()
    show_what_becomes_of(collatz, 837799)
    parts = [show_programs()]
    show_traceback()
    draw_life()
    parts.append(show_modules())
    parts.insert(0, show_computing())
    draw_julia()
    heading("All in all, beside plain Python")
    table("|answers>|equal|times as fast>", parts)
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
    for _ in range(HOT):
        staged(*arguments)
    equal = expect(outcome(staged, arguments) == outcome(function, arguments), name)
    heading(f"Decorated with @ag.function, {name}({told}) gives {staged(*arguments)}, the plain one's: {equal}")
    console.print(f"After {HOT:,} calls, it has become this graph:\n")
    display.graph(lines(staged.graph(*arguments).graph))
    console.print("\nwhich is compiled to machine code, or else runs as this function:\n")
    display.code(staged.with_options(engine="numpy").lower(*arguments).source.rstrip() + "\n")
    console.print("\nand explains itself:\n")
    console.print(str(staged.explain(*arguments)).replace(os.getcwd() + os.sep, ""), markup=False)


def plain_source(function: Callable[..., Any]) -> str:
    """The text of a function, without its decorators."""
    text = inspect.getsource(function)
    return text[text.index(f"def {function.__name__}") :]


# Many functions, plain and staged -------------------------------------------------------------------------------------


def show_programs() -> list[str]:
    heading(f"{len(PROGRAMS)} short functions (examples/programs.py), and the same with @ag.function")
    console.print("Compared: values, types and dtypes, what is printed, errors and their lines, arguments changed.\n")
    rows, compared, gains, before = [], 0, [], len(differences)
    for program in progress(PROGRAMS):
        staged: Any = ag.function(program.function)
        first = seconds(staged, [next(program.calls())])
        wanted = [outcome(program.function, args) for args in program.calls()]
        found = [outcome(staged, args) for _ in range(2) for args in program.calls()]
        equal = expect(wanted * 2 == found, program.function.__name__)
        plain, fast = measured(program, staged)
        compared += len(found)
        gains.append(plain / fast)
        rows.append([
            f"[cyan]{program.function.__name__}[/]", program.title, str(len(found)), equal, duration(plain),
            duration(first), duration(fast), f"{plain / fast:.1f}",
        ])  # fmt: skip
    table("|what it does|calls>||plain>|first call>|later>|times as fast>", rows)
    console.print("\nThe time of a call, plain and decorated. Calls run the function as it was typed until they have")
    console.print("taken 20 ms; then they run as a graph or machine code, if that is faster.")
    return [f"{len(PROGRAMS)} short functions", f"{compared:,}", all_equal(before), middle(gains)]


def progress(programs: list[Program]) -> Iterator[Program]:
    for number, program in enumerate(programs, 1):
        with console.status(f"{number} of {len(programs)}: {program.title}"):
            yield program


def middle(gains: list[float]) -> str:
    return f"{sorted(gains)[len(gains) // 2]:.1f} (median)"


def all_equal(before: int) -> str:
    """Whether there have been no differences since there were so many."""
    return "[green]all[/]" if len(differences) == before else "[bold red]NOT ALL[/]"


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


# Functions that compute for a while -----------------------------------------------------------------------------------


def show_computing() -> list[str]:
    heading(f"{len(COMPUTING)} functions that compute for a while (examples/computing.py), and with @ag.function")
    rows, gains, before = [], [], len(differences)
    for program in progress(COMPUTING):
        function, name = program.function, program.function.__name__
        staged: Any = STAGED.setdefault(function, ag.function(function))
        wanted, plain = timed(function, *program.calls())
        answers = []
        for number in range(CALLS):
            answers.append(timed(staged, *program.calls()))
            if number % 6 == 5:
                plain = min(plain, timed(function, *program.calls())[1])
        equal = expect(all(answer == wanted for answer, _ in answers), name)
        first, fast = answers[0][1], min(took for _, took in answers)
        gains.append(plain / fast)
        rows.append([
            f"[cyan]{name}[/]", program.title, str(CALLS), equal, duration(plain), duration(first), duration(fast),
            f"{plain / fast:,.1f}", tier(staged, *program.calls()),
        ])  # fmt: skip
    table("|what it does|calls>||plain>|first call>|later>|times as fast>|now runs as", rows)
    console.print("\nA long first call is traced and compiled while it runs, unless an earlier run has left its")
    console.print("machine code on disk. docs/performance.md says what becomes faster, and what does not.")
    return [f"{len(COMPUTING)} longer functions", f"{CALLS * len(COMPUTING):,}", all_equal(before), middle(gains)]


def timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, float]:
    """The outcome of a call, and how long it takes."""
    took = 0.0

    def call(*values: Any) -> Any:
        nonlocal took
        begin = time.perf_counter()
        try:
            return function(*values)
        finally:
            took = time.perf_counter() - begin

    return outcome(call, arguments), took


def tier(staged: Any, arguments: tuple[Any, ...]) -> str:
    """What runs the calls of a function, or at least its loops."""
    report = staged.explain(*arguments)
    return TIERS[max([report.summary.tier, *(loop.tier for loop in report.loops)])]


# Pictures -------------------------------------------------------------------------------------------------------------


def draw_life() -> None:
    iterations = 40 if SHORT else 120
    heading(f"Gosper's gun after {iterations} iterations of a decorated `life`")
    cells = ag.function(life)(board(), iterations)
    for upper, lower in zip(cells[::2].tolist(), cells[1::2].tolist()):
        console.print("    " + "".join(" ▀▄█"[over + 2 * under] for over, under in zip(upper, lower)).rstrip())


def draw_julia() -> None:
    """A picture by a function that has become machine code, for calls with other numbers have compiled it."""
    width = max(32, min(console.width - 8, 96)) // 8 * 8
    arguments = width, width * 5 // 8, LIMIT
    (wanted, plain), (found, fast) = timed(julia, arguments), timed(STAGED[julia], arguments)
    equal = expect(wanted == found, "the picture")
    heading(f"Drawn by `julia` in {duration(fast)}; plain Python takes {duration(plain)}: {equal}")
    steps = STAGED[julia](*arguments)
    light = np.log(steps + 1) / np.log(LIMIT + 1)
    if not console.is_terminal:
        for row in light[::2]:
            console.print("    " + "".join(" .:-=+*%@"[int(8 * value)] for value in row).rstrip(), markup=False)
        return
    # red, green, blue
    glow = (255 * np.where(steps == LIMIT, 0, light)[..., None] ** np.array([1.0, 1.8, 0.6])).astype(int)
    for upper, lower in zip(glow[::2], glow[1::2]):
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
    console.print("\nConversion alone makes nothing faster: it lets each statement ask whether it is to be staged.")
    gain = f"{times[0] / times[1]:.1f}"
    return [f"{len(MODULES)} standard modules, converted", f"{count:,}", all_equal(before), gain]


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
