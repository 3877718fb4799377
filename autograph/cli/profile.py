"""`autograph profile`: run a program, and report the time of its staged functions, their lines and nodes."""

from __future__ import annotations

import atexit
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import click

from autograph.cli.program import Program, ProgramType
from autograph.runtime.profiling.profile import Profile

SORTS = ("time", "own", "calls", "per-call", "name")
FORMATS = ("table", "json", "speedscope", "chrome")


@dataclass(frozen=True)
class Profiled(Program):
    """A program whose staged functions are measured; when it has ended, there is a report."""

    sort: str = "time"
    top: int = 0
    format: str = "table"
    output: Path | None = None
    profile: Profile = field(default_factory=Profile)

    def run(self) -> None:
        self.profile.__enter__()
        atexit.register(self.report, os.getpid(), time.perf_counter())  # before the program's, so it runs after those
        super().run()

    def report(self, process: int, begin: float) -> None:
        """Write the report, unless this is a fork of the process that ran the program."""
        if os.getpid() != process or (self.output is None and sys.__stderr__ is None):
            return
        from autograph.cli import profiles  # only now: the program finds few modules imported

        self.profile.__exit__()
        seconds = time.perf_counter() - begin
        found = profiles.ProgramProfile(self.target, seconds, self.profile, self.sort)
        profiles.write(found, self.top, self.format, self.output)


@click.command(
    "profile",
    short_help="Run a program, and list its staged functions by time.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--lines", is_flag=True, help="The time of each line and node of staged code, too.")
@click.option("--sort", type=click.Choice(SORTS), default="time", show_default=True, help="Which functions are first.")
@click.option("--top", metavar="N", type=click.IntRange(min=0), default=20, show_default=True, help="0 shows all.")
@click.option("--format", type=click.Choice(FORMATS), default="table", show_default=True, help="Of the report.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("-o", "output", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path), help="Not to stderr.")
@click.option("--convert", "patterns", metavar="PATTERN", multiple=True, help="As for run. Repeatable.")
@click.option("-m", "is_module", is_flag=True, help="The first argument is the name of a module.")
@click.argument("target", metavar="SCRIPT|MODULE", type=ProgramType())
@click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
def command(
    lines: bool,
    sort: str,
    top: int,
    format: str,
    as_json: bool,
    output: Path | None,
    patterns: tuple[str, ...],
    is_module: bool,
    target: str,
    arguments: tuple[str, ...],
) -> Program:
    """Run a program, and list its staged functions by time, with tier and advice.

    The program runs as by python: arguments, input, output, exit status and tracebacks are its own. SCRIPT and -m are
    those of autograph run; but no module is converted without --convert, since a staged function needs none. When the
    program has ended, also by an exception, the list is written to stderr, or to OUT.

    \b
    time      of all calls, with the functions that they call; of a recursion, once
    own       the same without other staged functions
    calls     a call within a trace, which becomes part of it, is none
    per call  the mean, so the first call, which may trace and compile, is in it
    tier      0: plain Python, 1: a graph on NumPy, 2: machine code
    faster    how many times as fast staged calls are as plain ones, where both were measured

    Below each function is advice: the line, the cause, and one thing to do. With --lines, a table of lines follows: the
    time of the line itself, and in total with what it calls. For a flame graph by line, use --format speedscope
    (https://www.speedscope.app); for the calls in time, --format chrome (https://ui.perfetto.dev).

    A measured call takes about 2 microseconds longer, with --lines each operation half a microsecond, which is left out
    of the times. Generators and coroutines count as long as it takes to make one.

    \b
    Examples:
      autograph profile train.py --epochs 3
      autograph profile --top 5 --sort own -m package.main
      autograph profile --lines --json -o profile.json train.py
      autograph profile --format speedscope -o train.speedscope.json train.py
    """
    # `main` runs it, when no frame of click is on the stack any more.
    output = output and output.absolute()       # the program may go to another folder
    format = "json" if as_json else format
    profile = Profile(lines or format in ("speedscope", "chrome"))
    return Profiled(target, is_module, arguments, patterns, sort, top, format, output, profile)
