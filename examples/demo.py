"""What `make demo` shows: the standard library, converted, at work, and its answers checked.

On a terminal in colour, piped as plain text; exit status 1 if any answer differs.
"""

from __future__ import annotations

import heapq
import importlib
import inspect
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from lockstep import on_arrays
from rich.console import Console
from rich.text import Text
from workloads import JOBS

import autograph as ag
from autograph.cli import comparison, display
from autograph.explanation import Explanation

ACCELERATORS = "_bisect _heapq _json _statistics".split()  # in C; without them, the modules are all Python
MODULES = [*dict.fromkeys(name for job in JOBS for name in job.modules), "colorsys"]
LIMIT = 60  # turns, for the picture

console = Console(highlight=False, soft_wrap=True)
differences: list[str] = []  # what did not come out as it should


def main() -> None:
    start = time.perf_counter()
    show_conversion()
    show_reasons()
    with imported(converted=False) as plain, imported(converted=True) as converted:
        run_jobs(plain, converted)
        show_traceback(plain["json"], converted["json"])
        draw(plain["colorsys"], converted["colorsys"])
    verdict = f"[bold red]Not equal: {', '.join(differences)}." if differences else "[bold green]All answers are equal."
    command = os.path.relpath(os.path.join(sys.prefix, "bin", "autograph"))
    console.print(f"\n{verdict}[/] This took {time.perf_counter() - start:.0f} seconds. Try:\n")
    console.print(f"  {command} to-code {heapq.__file__}:merge --diff", markup=False)
    console.print(f"  {command} run --convert json -m json.tool --help", markup=False)
    sys.exit(bool(differences))


def heading(text: str) -> None:
    console.print(f"\n[bold]{text}[/]\n[dim]{'-' * len(Text.from_markup(text))}[/]")


def expect(equal: object, what: str) -> str:
    """'equal', or a word that something differs, which is remembered."""
    if not equal:
        differences.append(what)
    return "[green]equal[/]" if equal else "[bold red]DIFFERENT[/]"


# A function, before and after -----------------------------------------------------------------------------------------


def show_conversion() -> None:
    heading("heapq._siftdown, as it stands in the standard library, and converted")
    before, after = inspect.getsource(heapq._siftdown), ag.to_code(heapq._siftdown)  # type: ignore[attr-defined]
    width = max(map(len, comparison.side_by_side(before, after).splitlines()))
    if console.is_terminal and width > console.width:  # no room for two columns
        display.code(before + "\n")
        display.code(after)
    else:
        display.side_by_side(before, after)


def show_reasons() -> None:
    heading("heapq.merge is a generator, so some of it stays as it is: `autograph explain` says why")
    told = ag.explain(heapq.merge).decisions
    display.explanation(Explanation(d for d in told if d.construct in ("if", "for", "while")))


# The standard library at work -----------------------------------------------------------------------------------------


@contextmanager
def imported(converted: bool) -> Iterator[dict[str, Any]]:
    """The modules, imported anew: as they are, or converted."""
    kept = dict(sys.modules)
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.modules.update(dict.fromkeys(ACCELERATORS))  # type: ignore[arg-type]
    with ag.importing.install(MODULES) if converted else nullcontext() as hook:
        if hook is not None:
            heading(f"{len(MODULES)} modules of the standard library, converted as they are imported, at work")
        begin = time.perf_counter()
        with console.status("Converting …"):
            modules = {name: importlib.import_module(name) for name in MODULES}
        if hook is not None:
            every = Explanation(d for told in hook.modules.values() for d in told.decisions)
            console.print(f"{every.summary()}, in {time.perf_counter() - begin:.1f} seconds.")
            console.print("Each job is done by the modules as they are, and by the converted ones; their answers are\n")
        yield modules
    sys.modules.clear()
    sys.modules.update(kept)


def run_jobs(plain: dict[str, Any], converted: dict[str, Any]) -> None:
    compared, times = 0, [0.0, 0.0]
    for job in JOBS:
        answers: list[list[object]] = []
        with console.status(job.title):
            for i, modules in enumerate((plain, converted)):
                begin = time.perf_counter()
                answers.append([*job.work(*(modules[name] for name in job.modules))])
                times[i] += time.perf_counter() - begin
        name = "json" if "json" in job.modules else " ".join(job.modules)
        row(f"[cyan]{name:22}[/] {job.title:40}", len(answers[0]), expect(answers[0] == answers[1], name))
        compared += len(answers[0])
    row(f"{'':22} {f'converted, in {times[1] / times[0]:.1f} times the time':40}", compared, "in all")


def row(text: str, count: int, verdict: str) -> None:
    console.print(f"  {text} {count:6,} {verdict}")


def show_traceback(plain: Any, converted: Any) -> None:
    heading("An error in converted code: the user's lines only")
    document = '{"matrix": [[1, 2], [3,, 4]]}'
    one, other = raised_by(plain, document), raised_by(converted, document)
    console.print(other, markup=False)
    if sys.version_info >= (3, 11):  # in 3.10, the lines of the `if`s and loops on the way are told, too
        console.print(f"The traceback of the unconverted modules is {expect(one == other, 'tracebacks')}.")


def raised_by(json: Any, document: str) -> str:
    try:
        json.loads(document)
    except ValueError:
        return traceback.format_exc()
    return "nothing"


# A backend ------------------------------------------------------------------------------------------------------------


@ag.convert
def escape(x, y):
    """After how many turns the point (x, y) leaves the circle."""
    a, b = x, y
    for turn in range(LIMIT):
        if a * a + b * b > 4:
            return turn
        a, b = a * a - b * b + x, 2 * a * b + y
    return LIMIT


def draw(plain: Any, converted: Any) -> None:
    heading("A backend of a few lines (examples/lockstep.py) has the same code run on whole arrays at once")
    console.print(inspect.getsource(escape), markup=False)
    x, y = np.meshgrid(np.linspace(-2.2, 0.8, 256), np.linspace(-1.2, 1.2, 208))
    with on_arrays():
        turns = escape(x, y)
        pixels = np.stack(converted.hls_to_rgb(0.6 + turns / LIMIT, 0.5, 0.9), axis=-1)
    picture(turns[::4, ::4], pixels[::4, ::4])
    one_by_one = [escape(*point) for point in zip(x.ravel().tolist(), y.ravel().tolist())]
    colours = [plain.hls_to_rgb(0.6 + n / LIMIT, 0.5, 0.9) for n in one_by_one]
    verdict = expect((turns.ravel() == one_by_one).all() and (pixels.reshape(-1, 3) == colours).all(), "arrays")
    console.print(f"{x.size:,} points at once, in colours of colorsys.hls_to_rgb; one by one: {verdict}.")


def picture(turns: Any, pixels: Any) -> None:
    """In colour two pixels a character, as text one character for two."""
    if not console.is_terminal:
        for row in turns[::2]:
            console.print("    " + "".join(" .:-=+*%@"[int(n * 8 / LIMIT)] for n in row), markup=False)
        return
    colours = (np.where(turns[..., None] == LIMIT, 0, pixels) * 255).astype(int)
    for upper, lower in zip(colours[::2], colours[1::2]):
        line = Text("    ")
        for over, under in zip(upper, lower):
            line.append("▀", "rgb({},{},{}) on rgb({},{},{})".format(*over, *under))
        console.print(line)


if __name__ == "__main__":
    main()
