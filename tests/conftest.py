"""What all tests share: checked graphs, a cache of their own, goldens, the check against hash seeds, less memory."""

from __future__ import annotations

import gc
import importlib.util
import itertools
import linecache
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from zlib import crc32

import pytest

pytest.register_assert_rewrite("tests.goldens")     # its asserts show differences as those of the tests do
from tests import goldens  # noqa: E402

os.environ.setdefault("AUTOGRAPH_CHECK", "1")   # check every graph after every pass
os.environ.setdefault("AUTOGRAPH_DEBUG", "1")   # raise errors of this library instead of running as plain Python
os.environ.setdefault("AUTOGRAPH_ENGINE", "numpy")
os.environ.setdefault("AUTOGRAPH_TIERS", "off")     # trace at the first call, unless a test asks for tiers
if "PYTEST_XDIST_WORKER" not in os.environ:     # workers share that of the process that started them
    _cache = tempfile.TemporaryDirectory(prefix="autograph-tests-")     # removed when the process ends
    os.environ["AUTOGRAPH_CACHE_DIR"] = _cache.name


@pytest.fixture
def default_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let functions run in tiers, as they do for users."""
    monkeypatch.delenv("AUTOGRAPH_ENGINE", raising=False)
    monkeypatch.delenv("AUTOGRAPH_TIERS", raising=False)


@pytest.fixture
def traced_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let functions be traced at their first call, also in other processes: what a test asks for is in the trace."""
    monkeypatch.setenv("AUTOGRAPH_TIERS", "off")


MEMORY = 6 << 30    # bytes, for the process of the tests and each that they start


def pytest_configure(config: pytest.Config) -> None:
    """Let a test that runs away fail with a MemoryError of its own, before the machine picks a process to kill.

    A shell lets what it runs in the background ignore SIGINT, and so would all processes that tests interrupt.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform == "linux":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


# What reads Python's own syntax, frames, code and objects: each Python runs all of it.
OF_EACH_PYTHON = re.compile(
    r"tests/(syntax|converters|conversion|operators|dispatch|transforms|common|runtime/engines/native/abi)/"
    r"|tests/laws/(?!test_1_(staged|profiled)\.py)"
    r"|tests/test_(corpus|debugging|errors|goldens|importing|modules|threads)\.py"
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker still has it before it when the others have ended.

    Where several Pythons share the tests (AUTOGRAPH_SHARE=NUMBER/COUNT), leave out those that another one runs.
    """
    items.sort(key=lambda item: "_fuzz" not in item.nodeid)
    if share := os.environ.get("AUTOGRAPH_SHARE"):
        number, count = map(int, share.split("/"))
        mine = [item for item in items if _is_of_each_python(item) or crc32(item.nodeid.encode()) % count == number]
        config.hook.pytest_deselected(items=list(set(items) - set(mine)))
        items[:] = mine


def _is_of_each_python(item: pytest.Item) -> bool:
    return bool(OF_EACH_PYTHON.match(item.nodeid)) or item.get_closest_marker("versions") is not None


def pytest_collection_finish() -> None:
    """Let no collection of garbage look at the tests themselves, which are millions of objects."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Check that each trace has ended: one that goes on changes what later tests do."""
    from autograph.operators import ACTIVE

    left, ACTIVE[:] = [*ACTIVE], []
    assert not left, f"{item.nodeid} leaves a trace of {left} that has not ended"


@pytest.fixture(scope="module")
def few_objects() -> None:
    """Let the collections of garbage that tests ask for look only at what they make."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-goldens", action="store_true", help="write what comes out into tests/golden; read it then"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `golden` once for every golden that this Python can read."""
    if "golden" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("goldens")
    folder = goldens.FOLDER.joinpath(*marker.args) if marker else goldens.FOLDER
    cases = [
        pytest.param(
            golden,
            id=golden.path.relative_to(goldens.FOLDER).with_suffix("").as_posix(),
            marks=pytest.mark.skipif(not golden.readable_here, reason="needs Python %d.%d" % golden.since),
        )
        for golden in goldens.collect(folder, update=metafunc.config.getoption("--update-goldens"))
    ]
    metafunc.parametrize("golden", cases)


@pytest.fixture
def same_under_every_hash_seed() -> Callable[[str], str]:
    """Run a program under several hash seeds, assert that it prints the same each time, and return that."""

    def run(program: str) -> str:
        outputs = []
        for seed in ("0", "1", "42"):
            done = subprocess.run(
                [sys.executable, "-c", program],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            outputs.append(done.stdout)
        assert outputs.count(outputs[0]) == len(outputs), "the output depends on PYTHONHASHSEED"
        return outputs[0]

    return run


@pytest.fixture
def cached_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Give a file a text, and import it; traces of its functions are kept in a folder of the test's own."""
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("AUTOGRAPH_CHECK", raising=False)
    times = itertools.count(1_000_000_000)

    def load(text: str) -> ModuleType:
        path = tmp_path / "traced_program.py"
        path.write_text(text)
        os.utime(path, (next(times),) * 2)
        linecache.checkcache(str(path))
        spec = importlib.util.spec_from_file_location("traced_program", path)
        assert spec is not None
        made = importlib.util.module_from_spec(spec)
        exec(compile(text, str(path), "exec"), made.__dict__)
        return made

    return load
