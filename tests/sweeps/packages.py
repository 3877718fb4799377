"""Run the test suites of packages from PyPI with the package converted on import, and compare with an ordinary run.

    python tests/sweeps/packages.py [--all] [PACKAGE | PACKAGE=FOLDER ...]

Each package's source distribution is downloaded and installed into a temporary folder. Its own tests are run twice by
pytest, in processes of their own: as they are, and through `autograph run --convert PACKAGE`. The same tests must pass.
Needs the network, or `pip` configured to do without; PACKAGE=FOLDER takes sources that are at hand, with their tests.
Exit status 1 if any package falls short.

The source distributions of sortedcontainers hold no tests, so only the examples in its documentation are run; to run
its tests, check it out, or take Debian's source package, and say sortedcontainers=FOLDER.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from both_ways import HEADINGS, Outcome, python, shortcomings


@dataclass(frozen=True)
class Package:
    """What to test: a distribution, the modules to convert, arguments to pytest, what the tests need besides, and
    where its sources are, if they need not be fetched."""

    name: str
    modules: str = ""
    tests: str = "tests"
    needs: str = ""
    folder: str = ""

    @property
    def patterns(self) -> list[str]:
        return (self.modules or self.name.replace("-", "_")).split()


NAMED = (
    Package("toolz", tests="--doctest-modules toolz"),
    Package("more-itertools"),
    Package("sortedcontainers", tests="--doctest-modules sortedcontainers"),
)
OTHERS = (
    Package("attrs", modules="attr attrs", needs="cloudpickle"),
    Package("boltons"),
    Package("cachetools"),
    Package("click", tests="tests -m 'not stress'"),
    Package("funcy", needs="whatever"),
    Package("idna"),
    Package("jinja2", needs="markupsafe trio"),
    Package("lark", tests="tests/__main__.py", needs="interegular"),
    Package("markdown", tests="tests -o filterwarnings=", needs="pyyaml"),
    Package("markupsafe"),
    Package("mpmath", tests="mpmath/tests/test_basic_ops.py mpmath/tests/test_convert.py mpmath/tests/test_linalg.py"),
    Package("networkx", tests="networkx/classes networkx/algorithms/tests networkx/utils"),
    Package("packaging", needs="pretend tomli-w"),
    Package("parso", tests="test"),
    Package("pycparser"),
    Package("pygments", tests="tests --ignore tests/contrast"),
    Package("pyparsing", tests="tests --ignore tests/test_diagram.py"),
    Package("simplejson", tests="simplejson"),
    Package("six", tests="test_six.py"),
    Package("sqlparse"),
    Package("sympy", tests="sympy/core/tests sympy/ntheory sympy/sets", needs="mpmath"),
    Package("tabulate", tests="test"),
)


def pip(*arguments: str) -> None:
    """Run pip: that of the Python the virtual environment was made from, for it may have none of its own."""
    base = getattr(sys, "_base_executable", sys.executable)
    command = [base, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"pip {' '.join(arguments)}: {done.stderr.strip()}")


def fetch(package: Package, folder: Path) -> Path:
    """Download and install a package into a folder; where its source distribution is unpacked."""
    if package.folder:
        return Path(shutil.copytree(package.folder, folder / "unpacked" / package.name))
    sources = folder / "sources"
    pip("download", "--no-deps", "--no-binary", package.name, "--dest", str(sources), package.name)
    (archive,) = sources.iterdir()
    shutil.unpack_archive(archive, folder / "unpacked")
    pip("install", "--no-deps", "--target", str(folder / "site"), str(archive))
    if package.needs:
        pip("install", "--target", str(folder / "site"), *package.needs.split())
    (unpacked,) = (folder / "unpacked").iterdir()
    return unpacked


def run(package: Package, unpacked: Path, converting: list[str], timeout: float) -> Outcome:
    """Run the tests of a package."""
    report = unpacked.parent / "report.xml"
    report.unlink(missing_ok=True)
    options = ["-o", "addopts=", "-p", "no:cacheprovider", "-q", f"--junitxml={report}", "--tb=short"]
    # before all else, so that tests find what was installed; behind it, the sources, for tests that import one another
    paths = [str(unpacked.parent.parent / "site"), str(unpacked), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    tests = ["-m", "pytest", *options, *shlex.split(package.tests)]
    status, seconds, output = python(tests, converting, timeout, unpacked, env)
    cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    skipped = sum(case.find("skipped") is not None for case in cases)
    failing = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    failed = {f"{case.get('classname')}.{case.get('name')}" for case in failing}
    return Outcome(status, len(cases), skipped, failed, seconds, output)


def compare(package: Package, timeout: float, show: bool) -> bool:
    """Run a package's tests both ways and print how they compare; whether converted code does as well."""
    print(f"{package.name:20}", end="", flush=True)
    with tempfile.TemporaryDirectory(prefix="autograph-") as folder:
        try:
            unpacked = fetch(package, Path(folder))
        except OSError as error:
            print(f" cannot be had: {error}")
            return False
        plain = run(package, unpacked, [], timeout)
        print(plain, end="", flush=True)
        converted = run(package, unpacked, package.patterns, timeout)
    lacks = shortcomings(plain, converted)
    if plain.status not in (0, 1):
        lacks.append(f"pytest gives up on the plain tests: exit status {plain.status}")
    print(f"     {converted}  {'FALLS SHORT' if lacks else 'ok'}  ({unpacked.name})", flush=True)
    for lack in lacks:
        print(f"    {lack}")
    if lacks and show:
        print(converted.output if plain.status in (0, 1) else plain.output)
    return not lacks


def package(argument: str) -> Package:
    """What is meant by an argument of the command."""
    name, _, folder = argument.partition("=")
    table = {package.name: package for package in NAMED + OTHERS}
    return Package(name, folder=folder) if folder or name not in table else table[name]


def main() -> int:
    """Try the packages; print a table, and what falls short."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", metavar="PACKAGE", nargs="*", help="only these; or PACKAGE=FOLDER")
    parser.add_argument("--all", action="store_true", help="many more packages")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for each run (900)")
    parser.add_argument("--output", action="store_true", help="show what the tests that fall short printed")
    options = parser.parse_args()
    chosen = list(map(package, options.packages)) or NAMED + (OTHERS if options.all else ())
    print(" " * 19 + HEADINGS)
    good = sum(compare(package, options.timeout, options.output) for package in chosen)
    print(f"Python {platform.python_version()}: {good} of {len(chosen)} packages pass their tests converted as plain")
    return 0 if good == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
