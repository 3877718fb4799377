"""Machine code on disk: made once, by whichever process comes first, and never in the way of a call."""

import logging
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import autograph as ag
from autograph.common import disk_cache as cache
from autograph.runtime.engines.native.llvm import target
from autograph.runtime.engines.native.loops import region

REPOSITORY = Path(__file__).parents[4]
KEY, OTHER = cache.key_of("a", "b"), cache.key_of("ab")
PROGRAM = """
import os, sys
import autograph as ag
from autograph.runtime.engines.native.llvm.target import _Machine

made = []
make = _Machine.object
_Machine.object = lambda self, text, *how: made.append(text) or make(self, text, *how)


@ag.function(engine="native")
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@ag.function(engine="native")
def power(x, n):
    found = 1.0
    for i in range(n):
        found = found * x ** 1.5
    return found


for line in sys.stdin if "wait" in sys.argv else [""]:
    print(gcd(2**40 * 3**5, 6**20), power(1.25, 9), len(made))
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder of the test's own."""
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_warned", set())
    monkeypatch.setattr(region, "AGAIN", 1)
    return tmp_path / "cache"


@pytest.fixture
def start(tmp_path):
    """Begin to run the program in a process of its own."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def start(*args):
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        return subprocess.Popen([sys.executable, program, *args], env=environment, text=True, **pipes)

    return start


def ran(process, text=""):
    out, err = process.communicate(text, timeout=120)
    assert err == "" and process.returncode == 0
    return out


def code(place):
    return sorted(place.glob("*.code"))


def history(place):
    """What has become of machine code."""
    return {letter: count for letter, count in cache.contents(str(place)).history.items() if letter.islower()}


def total(limit):
    found = 0
    for i in range(limit):
        found += i * i
    return found


def call():
    """Stage and call a function anew. Gives whether its code was from the disk."""
    function = ag.function(total, engine="native")
    assert function(10) == 285
    (trace,) = function.traces
    (version,) = (each for region in trace.executable.native.regions for each in region.compiled)
    return version.code.cached


# Processes ----------------------------------------------------------------------------------------------------------


def test_a_second_process_does_not_compile(place, start):
    """So what LLVM is given has no addresses in it, nor the order of sets, which both differ by process."""
    first, second = ran(start()), ran(start())
    assert first.split()[-1] == "2"
    assert second.split() == [*first.split()[:-1], "0"]
    assert history(place) == {"w": 2, "h": 2}


def test_processes_that_write_at_once(place, start):
    processes = [start("wait") for _ in range(3)]
    for process in processes:       # they wait for a line, with all imported
        process.stdin.write("\n")
        process.stdin.flush()
    results = [ran(process).split()[:-1] for process in processes]
    assert results == [results[0]] * 3
    assert len(code(place)) == 2 and not list(place.glob("*.part"))
    assert ran(start()).split() == [*results[0], "0"]


def test_threads_that_compile_at_once(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    barrier = threading.Barrier(6)
    found = []

    def work(number):
        functions = [ag.function(source(number, each), engine="native") for each in range(4)]
        barrier.wait()
        found.extend(function(20) == sum(i * (number + 7 * each) for i in range(20))
                     for each, function in enumerate(functions))

    def source(number, each):
        names = {}
        exec(f"def f(n):\n found = 0\n for i in range(n):\n  found += i * {number + 7 * each}\n return found", names)
        return names["f"]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert found == [True] * 24


def test_other_threads_run_while_llvm_does():
    """It is called without the GIL."""
    lines = "\n".join(f"  %t{i + 1} = call double @llvm.sqrt.f64(double %t{i})" for i in range(20_000))
    text = f"define double @loop(double %t0) {{\n{lines}\n  ret double %t5000\n}}"
    text = f"declare double @llvm.sqrt.f64(double)\n{text}"
    here, iterations, done = target.machine(), [0], threading.Event()
    compiling = threading.Thread(target=lambda: (here.object(text), done.set()))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)         # only what gives the GIL up lets another thread run
    try:
        compiling.start()
        while not done.wait(0.0005):
            iterations[0] += 1
    finally:
        sys.setswitchinterval(interval)
    compiling.join()
    assert iterations[0] > 10


def test_entries_too(place, monkeypatch):
    """The C function around the code is made at the second call, and kept by itself."""
    monkeypatch.setattr(region.Region, "baseline", False)
    for _ in range(2):
        function = ag.function(total, engine="native")
        assert [function(10) for _ in range(4)] == [285] * 4
    assert history(place) == {"w": 2, "h": 2} and len(code(place)) == 2


def test_baseline_code(place):
    """Code of the baseline tier serves other processes until there is good code; then nobody looks for it."""
    for _ in range(2):
        assert ag.function(total, engine="native")(10) == 285
    assert history(place) == {"w": 1, "h": 1} and len(code(place)) == 1
    for _ in range(2):
        function = ag.function(total, engine="native")
        assert [function(10) for _ in range(4)] == [285] * 4
    assert history(place) == {"w": 3, "h": 4} and len(code(place)) == 3


# Damage -------------------------------------------------------------------------------------------------------------


def cut(data): return data[: len(data) // 2]
def cut_within_the_hash(data): return data[:7]
def empty(data): return b""
def longer(data): return data + b"\0"
def flip_first(data): return bytes([data[0] ^ 1]) + data[1:]
def flip_last(data): return data[:-1] + bytes([data[-1] ^ 128])
def flip_middle(data): return data[:300] + bytes([data[300] ^ 16]) + data[301:]
def other(data): return bytes(len(data))


@pytest.mark.parametrize(
    "damage", [cut, cut_within_the_hash, empty, longer, flip_first, flip_last, flip_middle, other]
)  # fmt: skip
def test_a_damaged_file_is_made_anew(place, damage):
    assert not call()
    (path,) = code(place)
    good = path.read_bytes()
    path.write_bytes(damage(good))
    assert not call()
    assert path.read_bytes() == good
    assert call()
    assert history(place) == {"w": 2, "d": 1, "h": 1}


# The key ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place_of", range(6))
def test_another_machine_misses(monkeypatch, place_of):
    """Another architecture, CPU, set of features, version of llvmlite, version of LLVM, version of `target`."""
    here = target.machine()
    assert len(here.traits) == 6 and all(here.traits)
    assert not call() and call()
    traits = list(here.traits)
    traits[place_of] += " "
    monkeypatch.setattr(here, "traits", tuple(traits))
    assert not call() and call()


# Where it cannot be -------------------------------------------------------------------------------------------------


def test_switched_off(place, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    assert not call() and not call()
    assert not place.exists()


@pytest.mark.filterwarnings("error")
def test_where_nothing_can_be_written(place, monkeypatch, caplog):
    place.write_text("a file, not a folder")
    assert not call() and not call()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING and record.name == "autograph"
    assert record.getMessage().startswith(f"machine code cannot be kept in {str(place)!r}: ")
    assert "AUTOGRAPH_CACHE_DIR" in record.getMessage() and "AUTOGRAPH_CACHE=0" in record.getMessage()


def test_explain_says_that_machine_code_cannot_be_written(place):
    place.write_text("a file, not a folder")

    @ag.function(engine="native")
    def power(x, n):
        for _ in range(n):
            x = x * x
        return x

    assert power(1.5, 2) == 1.5**4
    messages = {event.message: event.place for event in power.explain(1.5, 2).where(kind="disk", text="machine code")}
    ((message, (filename, _)),) = messages.items()
    assert message.startswith(f"its machine code: nothing can be written in {str(place)!r}: ") and filename == __file__


def test_a_folder_to_read_only(place, caplog):
    assert not call()
    place.chmod(0o500)
    if os.access(place, os.W_OK):
        pytest.skip("root may write everywhere")
    try:
        assert call()
        cache.save(KEY, b"")
        cache.save(OTHER, b"")
    finally:
        place.chmod(0o700)
    assert len(caplog.messages) == 1 and len(code(place)) == 1


@pytest.mark.parametrize("function", ["write", "replace", "utime", "append"])
def test_a_full_disk(place, monkeypatch, caplog, function):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    if function == "write":
        monkeypatch.setattr(cache, "_open", full)
    elif function == "append":
        real = os.open
        monkeypatch.setattr(os, "open", lambda path, flags, *mode: full() if flags & os.O_APPEND else
                            real(path, flags, *mode))
    else:
        monkeypatch.setattr(os, function, full)
    for _ in range(2):
        call()
    kept = function in ("utime", "append")
    assert len(code(place)) == kept and not list(place.glob("*.part"))
    assert len(caplog.messages) == (not kept)


def test_what_llvm_made_of_cached_code():
    call()
    function = ag.function(total, engine="native")
    function(3)
    lowered = function.lower(3)
    assert "@loop(" in lowered.llvm and "ret" in lowered.asm
    assert re.search(r"compiled in \d+\.\d ms \(cached\)$", str(function.explain(3)), re.MULTILINE)
