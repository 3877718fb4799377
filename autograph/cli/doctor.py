"""`autograph doctor`: show versions, machine, cache and engines, and check that the installation works."""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import pkgutil
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import click
from rich.filesize import decimal

import autograph
from autograph.cli import display
from autograph.cli.failure import did_you_mean
from autograph.cli.self_check import BROKEN, UNAVAILABLE
from autograph.common import disk_cache

REQUIRED = ("numpy", "gast", "click", "rich")
OPTIONAL = (
    "llvmlite", "jax", "onnx", "tensorboard", "scikit-learn", "scipy", "pandas", "numba", "torch", "tensorflow",
    "IPython",
)  # fmt: skip
VARIABLES = {
    "AUTOGRAPH_CACHE", "AUTOGRAPH_CACHE_DIR", "AUTOGRAPH_CACHE_SIZE", "AUTOGRAPH_CHECK", "AUTOGRAPH_DEBUG",
    "AUTOGRAPH_ENGINE", "AUTOGRAPH_FULL_TRACEBACK", "AUTOGRAPH_NUM_THREADS", "AUTOGRAPH_TIERS",
}  # fmt: skip
_LIMITS_OF_THE_CACHE = ("AUTOGRAPH_CACHE", "AUTOGRAPH_CACHE_SIZE", "AUTOGRAPH_CHECK")  # with CHECK no trace is kept
PATIENCE = 300  # seconds for a process of the self-check

Facts = dict[str, str]


@dataclass(frozen=True)
class Check:
    """A check that was made.

    Attributes:
        name: the claim that it checks.
        status: "OK", "FAILED", or "SKIPPED".
        detail: why it failed or was skipped.
    """

    name: str
    status: str
    detail: str = ""

    @staticmethod
    def of(name: str, failure: str) -> Check:
        return Check(name, "FAILED" if failure else "OK", failure)


@click.command("doctor", short_help="Show versions and engines, and check that all works.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object, for a report of a bug.")
def command(as_json: bool) -> int:
    """Show versions, the machine, the cache and the engines, and check that this installation works.

    The self-check converts, stages and differentiates a small function on each engine, compares the results to plain
    Python, and reads them from a cache in a temporary folder. Each engine runs in a process of its own. The exit status
    is 1 if a check fails.

    A report of a bug should contain this output. Your home folder and your name are replaced by ~ in it.

    \b
    Examples:
      autograph doctor
      autograph doctor --json > doctor.json
    """
    about, failure = _ask_engines()
    sections = {
        "versions": _versions(),
        "machine": _machine() | about.get("llvm", {}),
        "cache": _cache(),
        "engines": about.get("engines", {}),
        "internals": about.get("internals", {}),
        "environment": _environment(),
    }
    sections = {title: {name: private(value) for name, value in facts.items()} for title, facts in sections.items()}
    if not as_json:
        for title, facts in sections.items():
            display.section(title.capitalize(), facts.items())
    checks = []
    for check in _checks(sections["engines"], failure):
        checks.append(Check(check.name, check.status, private(check.detail)))
        if not as_json:
            display.check(checks[-1].status, check.name, checks[-1].detail)
    failed = sum(check.status == "FAILED" for check in checks)
    if as_json:
        click.echo(json.dumps({**sections, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        click.echo(f"\n{failed or 'no'} check{'s' * (failed != 1)} failed")
    return int(failed > 0)


def private(text: str) -> str:
    """A text without the user's home folder and name."""
    home = Path.home()
    for folder in {str(home), os.path.realpath(home)} - {home.anchor}:
        text = re.sub(rf"{re.escape(folder)}(?![\w.-])", "~", text)
    names = {home.name}
    with contextlib.suppress(OSError, KeyError, ImportError):  # a user without a name
        names.add(getpass.getuser())
    for name in filter(None, names):
        text = re.sub(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", "~", text)
    return text


# Facts --------------------------------------------------------------------------------------------------------------


def _versions() -> Facts:
    installed = {name: _version(name) for name in (*REQUIRED, *OPTIONAL)}
    return {
        "autograph": f"{autograph.__version__}, in {os.path.dirname(autograph.__file__)}",
        "Python": f"{platform.python_implementation()} {' '.join(sys.version.split())}, {sys.executable}",
        **{name: installed[name] or "not installed" for name in REQUIRED},
        **{name: installed[name] for name in OPTIONAL if installed[name]},
    }


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _machine() -> Facts:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"system": platform.platform(), "CPU": f"{_cpu()}, {cores} cores for this process"}


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _cache() -> Facts:
    place = disk_cache.folder()
    if place is None:
        return {"folder": "none"}
    try:
        size = decimal(disk_cache.contents(place).size)
    except OSError as error:
        size = f"unknown ({error.strerror})"
    return {"folder": place, "size": f"{size} of {decimal(disk_cache.size_limit())}"}


def _environment() -> Facts:
    found = {name: value for name, value in sorted(os.environ.items()) if name.startswith("AUTOGRAPH_")}
    return {
        name: value if name in VARIABLES else f"{value}, which autograph does not read{did_you_mean(name, VARIABLES)}"
        for name, value in found.items()
    }


# Checks -------------------------------------------------------------------------------------------------------------


def _checks(engines: Facts, failure: str) -> Iterator[Check]:
    yield Check.of("autograph and NumPy can be imported", failure)
    yield _check_cache()
    for name, fact in engines.items():
        problem = fact if fact.startswith((UNAVAILABLE, BROKEN)) else ""
        if name != "default" and fact.startswith(UNAVAILABLE):
            yield Check(f"{name}: the engine can be used", "SKIPPED", fact)
            continue
        yield Check.of(f"{name}: the engine can be used", problem)
        if name != "default" and not problem:
            yield from _check_engine(name)


def _check_cache() -> Check:
    """Write a file into the folder of the cache, or into the one in which that would be made."""
    name = "the cache can be written"
    place = disk_cache.folder()
    if place is None:
        return Check(name, "SKIPPED", "there is no cache")
    existing = next(folder for folder in (Path(place), *Path(place).absolute().parents) if folder.exists())
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"autograph")
    except OSError as error:
        return Check(name, "FAILED", f"{existing}: {error.strerror}. AUTOGRAPH_CACHE_DIR names another folder")
    return Check(name, "OK")


def _check_engine(engine: str) -> Iterator[Check]:
    """Run the checks of an engine in two processes; the second one reads the files of the first one from the cache."""
    with tempfile.TemporaryDirectory(prefix="autograph-doctor-") as folder:
        first = _run_checks(engine, folder)
        yield from first
        name = f"{engine}: a second process reads the cache, with the same results"
        if any(check.status == "FAILED" for check in first):
            yield Check(name, "SKIPPED", "the first process failed")
            return
        cache = os.path.join(folder, "cache")
        before = disk_cache.contents(cache)
        problems = [check.detail for check in _run_checks(engine, folder) if check.status == "FAILED"]
        now = disk_cache.contents(cache).history - before.history
        kinds = [kind for kind in (disk_cache.CONVERSION, disk_cache.TRACE, disk_cache.CODE) if before.of(kind)]
        problems += [f"*{kind.ending} was written again" for kind in kinds if now[kind.written] or not now[kind.found]]
        yield Check.of(name, "\n".join(problems) if kinds else "nothing was written")


def _run_checks(engine: str, folder: str) -> list[Check]:
    results, failure = _self_check(folder, engine)
    checks = [Check.of(f"{engine}: {name}", why) for name, why in results]
    if failure:
        checks.append(Check.of(f"{engine}: the process ends normally", failure))
    return checks


def _ask_engines() -> tuple[dict[str, Facts], str]:
    """The report of a new process on the engines, or why it fails."""
    try:
        with tempfile.TemporaryDirectory(prefix="autograph-doctor-") as folder:
            results, failure = _self_check(folder)
    except OSError as error:
        return {}, f"there is no folder for temporary files: {error}"
    return results[0] if results else {}, failure


def _self_check(folder: str, *engine: str) -> tuple[list[Any], str]:
    """Run a copy of `self_check.py`, with a cache in a folder of its own, and with errors of autograph raised.

    Returns:
        The results, up to where the process died; and how it died, if it did.
    """
    program, written = Path(folder, "self_check.py"), Path(folder, "results")
    program.write_bytes(pkgutil.get_data("autograph.cli", "self_check.py") or b"")
    written.write_text("")
    places = [os.path.dirname(os.path.dirname(autograph.__file__)), os.environ.get("PYTHONPATH", "")]
    environment = {
        **{name: value for name, value in os.environ.items() if name not in _LIMITS_OF_THE_CACHE},
        "AUTOGRAPH_CACHE_DIR": os.path.join(folder, "cache"),
        "AUTOGRAPH_DEBUG": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, places)),
    }
    command = [sys.executable, "-X", "faulthandler", str(program), str(written), *engine]
    failure = ""
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=PATIENCE)  # fmt: skip
        if done.returncode:
            failure = f"the process ended with status {done.returncode}\n{done.stdout}".rstrip()
    except subprocess.TimeoutExpired:
        failure = f"the process gave no answer in {PATIENCE} seconds"
    return [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()], failure
