"""What calls of functions of public code take, decorated / plain: of some 900 functions, by the time of a plain call.

    python benchmarks/real.py --fetch                       # download what is measured, pinned, into .real
    python benchmarks/real.py                               # measure all that is there
    python benchmarks/real.py --only fluids --limit 20      # some of it
    python benchmarks/real.py --compare ../other/.venv/bin/python      # beside another installation

Each function is called as its own documentation, tests or benchmarks call it (`real_examples.py`), in a process of its
own (`real_calls.py`), undecorated and decorated by turns. The tables say which bounds are not kept (`real_report.py`).
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import common  # noqa: F401  (before NumPy: one thread)
import real_report
from real_sources import SOURCES, Subject
from rich.progress import track

Result = dict[str, Any]
SECONDS = 90  # for all calls of a function
MEMORY = 6 << 30
FOLDER = Path(__file__).parent.parent / ".real"


def subjects(options: argparse.Namespace) -> list[Subject]:
    """What is to be measured."""
    found = [each for source in SOURCES for each in source.subjects(options.sources, options.all)]
    found = [each for each in found if options.only in each.title]
    step = max(1.0, len(found) / options.limit) if options.limit else 1
    return [found[int(step * number)] for number in range(int(len(found) / step))]


def results(chosen: list[Subject]) -> Iterator[Result]:
    """What each function takes, or why that could not be measured."""
    os.environ["AUTOGRAPH_CACHE"] = "0"  # first calls find nothing on disk
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["real_calls"])
    for subject in track(chosen, "Calling", disable=not sys.stderr.isatty()):
        ours, theirs = context.Pipe()
        process = context.Process(target=_in_process, args=(theirs, subject))
        process.start()
        theirs.close()
        try:
            result = ours.recv() if ours.poll(SECONDS) else {"failed": f"takes more than {SECONDS} s"}
        except EOFError:
            process.join()
            result = {"failed": f"the process died: {process.exitcode}"}
        process.kill()
        process.join()
        yield {"name": subject.title, **result}


def _in_process(connection: Connection, subject: Subject) -> None:
    import resource

    import real_calls

    gc.freeze()  # what is imported, so that each collection is short
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # some write files
        try:
            result = real_calls.measure(subject)
        except BaseException:
            result = {"failed": traceback.format_exc()}
        connection.send(result)


def elsewhere(python: str, arguments: list[str]) -> list[Result]:
    """The results of another installation."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([python, __file__, *arguments, "--json", file.name], stdout=subprocess.DEVNULL, check=True)
        return json.loads(Path(file.name).read_text())


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--sources", type=Path, default=FOLDER, help="the folder of what is measured: checkouts by name, distributions")
    add("--fetch", action="store_true", help="download what is not there")
    add("--all", action="store_true", help="all functions of large collections, too")
    add("--only", default="", metavar="TEXT", help="functions whose `source: file: name` contains this")
    add("--limit", type=int, metavar="COUNT", help="as many of these, picked evenly")
    add("--engine", help="instead of the default: numpy, native, auto")
    add("--json", type=Path, metavar="FILE", help="write the results there")
    add("--read", type=Path, metavar="FILE", help="tell what is in such a file, and measure nothing")
    add("--compare", metavar="PYTHON", help="an interpreter with another version of this library")
    return parser.parse_args(arguments)


def run(arguments: list[str]) -> None:
    options = parsed(arguments)
    for source in SOURCES if options.fetch else ():
        source.fetch(options.sources)
    for difference in filter(None, (source.differs(options.sources) for source in SOURCES)):
        print(difference)
    if options.engine:
        os.environ["AUTOGRAPH_ENGINE"] = options.engine
    chosen = subjects(options)
    if not chosen and not options.read:
        print(f"No public code in {options.sources}: `python benchmarks/real.py --fetch` gets it.")
        return
    found = json.loads(options.read.read_text()) if options.read else []
    for result in () if options.read else results(chosen):
        found.append(result)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))
    real_report.show(found)
    if options.compare:
        same = [each for each in arguments if each not in ("--compare", options.compare)]
        real_report.compare(found, elsewhere(options.compare, same))


def main() -> None:
    """Measure all, in a process of its own: those of the functions import the main module."""
    subprocess.run([sys.executable, __file__], check=True)


if __name__ == "__main__":
    run(sys.argv[1:])
