"""Traces on disk do what traces that have just been made do."""

import io
import itertools
import os
import pickle
import re
import subprocess
import sys
import traceback
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import autograph as ag
from autograph.common import disk_cache
from autograph.runtime.dispatch import persistent_traces

REPOSITORY = Path(__file__).parents[3]
TEXT = '''
import numpy as np


def power(x, n):
    found = 1
    for _ in range(n):
        found = found * x
    return found


def last(xs, n):
    found = 0.0
    for i in range(n):
        found = xs[i]
    return found


def root(x):
    return np.sqrt(x)


def swap(xs, ys):
    for i in range(len(xs)):
        xs[i], ys[i] = ys[i], xs[i]
    return xs


def sums(xs, power):
    total = 0
    for x in xs:
        if power == 2:
            total += x * x
        else:
            total += x
    return total


def shape(n, xs):
    return xs.reshape(n, -1)


def scaled(xs):
    return 0.5 * xs + np.sum(xs), xs > -0.0


def say(x):
    if x > 0:
        print("positive", x)
    return None
'''
if find_spec("llvmlite") is not None:
    from autograph.runtime.engines.native.loops import region

COMPILES = pytest.mark.skipif(find_spec("llvmlite") is None, reason="the native engine needs llvmlite")
ENGINES = pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=COMPILES)])


def history(kind=disk_cache.TRACE):
    """K for each trace that was kept, R for each that was recalled, S for each that was damaged."""
    found = disk_cache.contents(disk_cache.folder()).history
    return "".join(letter * found[letter] for letter in (kind.written, kind.found, kind.damaged))


@pytest.fixture
def processes(cached_program):
    """The same function as in several processes, which have what the one before has left on disk."""

    def run(name, count=3, **options):
        for _ in range(count):
            yield ag.function(getattr(cached_program(TEXT), name), **options)

    return run


@ENGINES
def test_values_and_types(processes, engine):
    for function in processes("power", engine=engine):
        for args in [(3, 5), (3, 5), (3, 39), (3, 40), (3, 41), (2, 200), (-3, 0)]:
            found = function(*args)
            assert found == args[0] ** args[1] and type(found) is int
        assert function(1.5, 3) == 3.375 and type(function(1.5, 3)) is float
        assert type(function(np.float32(1.5), 3)) is np.float32
    assert history() == "KKK" + "RRR" * 2


def test_numbers_beside_arrays(processes):
    for f in processes("scaled"):
        mean, above = f(np.array([1.0, -0.0], np.float32))
        assert mean.tobytes() == np.array([1.5, 1.0], np.float32).tobytes() and above.tolist() == [True, False]
    assert history() == "KRR"


@ENGINES
def test_exceptions_come_from_the_users_lines(processes, engine):
    told = set()
    for function in processes("last", engine=engine):
        assert function(np.arange(3.0), 3) == 2.0
        for _ in range(2):
            with pytest.raises(IndexError) as caught:
                function(np.arange(3.0), 4)
            told.add(re.sub(r"0x\w+", "", "".join(traceback.format_tb(caught.tb)[1:])) + str(caught.value))
    assert history() == "KRR"
    (only,) = told
    assert "found = xs[i]" in only and "engines" not in only


@ENGINES
def test_warnings(processes, engine):
    for function in processes("root", engine=engine):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert np.isnan(function(np.float64(-1.0)))
        (only,) = caught
        assert only.filename.endswith("traced_program.py") and "return np.sqrt(x)" in TEXT.splitlines()[only.lineno - 1]
    assert history() == "KRR"


@ENGINES
def test_changes_and_sharing(processes, engine):
    """Arguments that are one object have a trace of their own."""
    for function in processes("swap", engine=engine):
        xs, ys = np.arange(4), np.arange(4) + 10
        assert function(xs, ys) is xs
        assert (xs.tolist(), ys.tolist()) == ([10, 11, 12, 13], [0, 1, 2, 3])
        assert function(xs, xs) is xs
        with pytest.raises(ValueError, match="read-only"):
            xs.flags.writeable = False
            function(xs, ys)
    assert history() == "KK" + "RR" * 2


@ENGINES
def test_what_is_part_of_the_signature(processes, engine):
    for function in processes("sums", engine=engine, static_argnames=["power"]):
        assert [function(np.arange(4), power) for power in (2, 3)] == [14, 6]
    assert history() == "KK" + "RR" * 2


def test_prints(processes, capsys):
    for function in processes("say"):
        assert function(2) is None
        assert capsys.readouterr().out == "positive 2\n"
    assert history() == "KRR"


@ENGINES
def test_what_is_told_of_them(processes, engine):
    told = []
    for function in processes("power", engine=engine):
        for _ in range(3):
            function(3, 5)
        (trace,) = function.traces
        lowered = function.lower(3, 5)
        machine = (lowered.llvm, lowered.asm) if engine == "native" else ()
        told.append((str(function.graph(3, 5)), lowered.source, machine, trace.source, trace.entry_source))
        explained = re.sub(r"\d+\.\d+ ms( \(cached\))?", "", str(function.explain(3, 5)))
        explained, _, time = explained.rpartition("time: ")
        told[-1] += (explained,)
        assert time.startswith("from disk" if len(told) > 1 else "conversion" if "conversion" in time else "trace")
    assert told[0] == told[1] == told[2]


@COMPILES
def test_machine_code_is_that_of_the_file(processes):
    """It is neither lowered nor compiled anew, nor has its entry to be compiled; without it, all of that is done."""
    from autograph.runtime.engines.native.loops.lowering import Lowering

    lowered = []
    run = Lowering.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lowering, "run", lambda self: lowered.append(1) or run(self))
        for number, function in enumerate(processes("power", 4, engine="native")):
            lowered.clear()
            assert [function(3, 5) for _ in range(3)] == [243] * 3
            (region,) = function.traces[0].executable.native.regions
            assert (len(lowered), region.compiled[0].code.cached) == ((0, True) if number % 2 else (1, False))
            if number == 1:
                for path in Path(disk_cache.folder()).glob("*.code"):
                    path.unlink()
    assert history() == "KRRR"


@COMPILES
def test_what_has_a_fast_entry_in_the_first_call(cached_program):
    text = "def f(n):\n    t = 0\n    for j in range(n): t += j\n    return t"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(region, "AGAIN", 0)
        for _ in range(3):
            function = ag.function(cached_program(text).f, engine="native")
            assert [function(5) for _ in range(3)] == [10] * 3
    assert history() == "KRR"


@COMPILES
def test_code_with_what_is_found_out_in_each_process_is_lowered_anew(cached_program):
    text = "import math\ndef f(x, n):\n    for i in range(n): x = x + math.sin(x)\n    return x"
    for _ in range(2):
        module = cached_program(text)
        function = ag.function(module.f, engine="native")
        assert [function(0.5, 9) for _ in range(3)] == [module.f(0.5, 9)] * 3
        (region,) = function.traces[0].executable.native.regions
        assert not any(version.is_persistent for version in region.compiled)
    assert history() == "KR"


@COMPILES
def test_options_are_told_apart(cached_program):
    options = [{}, {"passes": False}, {"passes": {"cse": False}}, {"strict": "retrace"}, {"strict": True}]
    options += [{"engine": "native"}, {"engine": "native", "fastmath": True}]
    for each in options:
        assert ag.function(cached_program(TEXT).power, **each)(3, 2) == 9
    assert history() == "K" * len(options)


def test_what_has_been_learned_is_not_kept(processes):
    """Which is learned anew in each process: here, that a number is needed while tracing."""
    for function in processes("shape"):
        assert function(2, np.arange(6)).shape == (2, 3)
        assert function(3, np.arange(6)).shape == (3, 2)
        assert function(3, np.arange(9)).shape == (3, 3)


def why_not_kept(function, *args):
    """The reason in `explain`; "" if the trace of such a call is kept."""
    events = list(function.explain(*args).where(kind="disk"))
    assert all(event.place[0].endswith("traced_program.py") for event in events)
    return "; ".join(event.message for event in events)


@COMPILES
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"engine": "auto"}, "engine='auto' decides in each process what becomes machine code"),
        ({"input_signature": [ag.TensorSpec((3,), float), int]}, "its signature is that of input_signature="),
    ],
)
def test_what_is_not_kept(processes, options, reason):
    for function in processes("last", **options):
        assert function(np.arange(3.0), 3) == 2.0
        assert why_not_kept(function, np.arange(3.0), 3) == reason
    assert history() == ""


@COMPILES
@pytest.mark.parametrize(
    ("text", "args", "reason"),
    [
        ("def f(x): return x.n", [type("Box", (), {"n": 1})()], "the argument `x` is an object of type"),
        ("def f(x): return ['some text', x]", [1], "the function returns, stores or passes on the text 'some text'"),
        ("def f(x): return x.astype('M8[s]')", [np.arange(3)], "the graph refers to an object of type numpy."),
        ("def f(x): return np.add.reduceat(x, [0, 1])", [np.ones(3)], "the graph refers to the function ufunc."),
        ("def f(x): return np.sin(x) * 2 + 1", [np.ones(3)], "each process makes the machine code for its operations"),
    ],
)
def test_explain_says_why_a_trace_is_not_kept(cached_program, text, args, reason):
    """The other reasons are those of `tests/conversion/test_fingerprint.py`: what the function refers to."""
    function = ag.function(cached_program("import numpy as np\n" + text).f, engine="native")
    for _ in range(2):      # before the first call, and after it
        assert why_not_kept(function, *args).startswith(reason)
        function(*args)
    assert history() == ""


def test_explain_says_why_a_generalized_trace_is_not_kept(processes):
    for function in processes("scaled", 1):
        assert why_not_kept(function, np.ones(3)) == ""
        assert why_not_kept(function, np.ones(4)).startswith("its signature depends on earlier calls")


def test_explain_says_that_the_folder_cannot_be_written(processes, tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder")
    for function in processes("power", 1):
        function(3, 5)
        reasons = why_not_kept(function, 3, 5)
        assert reasons.count("nothing can be written in") == 2      # neither the conversion nor the trace


def test_explain_says_that_a_profiler_follows_the_program(processes):
    for function in processes("power", 1):
        sys.setprofile(lambda *args: None)
        try:
            assert function(3, 5) == 243
        finally:
            sys.setprofile(None)
        assert why_not_kept(function, 3, 5) == "coverage, a debugger or a profiler follows the program"


def test_a_text_that_is_given_back_is_not_kept(cached_program):
    """For one may ask whether it is the program's."""
    text = "MISSING = '== missing =='\nSHORT = 'word'\ndef f(x):\n    return [MISSING, x + 1]\n"
    for _ in range(2):
        names = cached_program(text + "def g(x):\n    return SHORT, x + 1\n")
        assert ag.function(names.f)(1)[0] is names.MISSING
        assert ag.function(names.g)(1)[0] is names.SHORT
    assert history() == "KR"


@pytest.mark.parametrize("name", ["AUTOGRAPH_CHECK", "AUTOGRAPH_FULL_TRACEBACK"])
def test_where_nothing_is_kept(processes, name, monkeypatch):
    for function in processes("power"):
        monkeypatch.setenv(name, "1")
        assert function(3, 5) == 243
        assert why_not_kept(function, 3, 5) == ""       # since the user asked for it
    assert history() == ""


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-1], lambda data: data[:9] + data[8:]])
def test_damaged_files(processes, damage):
    for number, function in enumerate(processes("power", 4)):
        assert function(3, 5) == 243
        if number == 0:
            (path,) = Path(disk_cache.folder()).glob("*.traced")
            path.write_bytes(damage(path.read_bytes()))
    assert history() == "KKRRS"


def test_files_that_cannot_be_read(processes):
    """Undamaged, but of something else."""
    for number, function in enumerate(processes("power")):
        assert function(3, 5) == 243
        if number == 0:
            (path,) = Path(disk_cache.folder()).glob("*.traced")
            disk_cache.save(path.stem, b"cnot.there\nno\n.", disk_cache.TRACE)
    assert history() == "KKKRR"


GADGETS = [
    ("os.system", "touch {}"), ("posix.system", "touch {}"), ("nt.system", "touch {}"),
    ("subprocess.getoutput", "touch {}"), ("builtins.eval", "open('{}', 'w')"), ("builtins.exec", "open('{}', 'w')"),
    ("builtins.open", "{}", "w"), ("builtins.__import__", "antigravity"), ("builtins.getattr", "{}", "upper"),
    ("builtins.compile", "1", "f", "eval"), ("builtins.type", "{}"), ("builtins.vars",), ("builtins.globals",),
    ("builtins.input",), ("builtins.breakpoint",), ("builtins.setattr", "{}", "a", "b"),
    ("builtins.print.__self__.eval", "open('{}', 'w')"), ("builtins.memoryview", b"{}"), ("builtins.super",),
    ("builtins.delattr", "{}", "a"), ("builtins.no_such_name",), ("functools.partial", "{}"),
    ("operator.attrgetter", "a"), ("operator.methodcaller", "a"), ("marshal.loads", b"N"), ("pickle.loads", b"N."),
    ("_pickle.loads", b"N."), ("types.FunctionType", "{}"), ("types.CodeType", "{}"),
    ("importlib.import_module", "antigravity"), ("antigravity.geohash", 1, 2, b"3"), ("shutil.rmtree", "{}"),
    ("sys.exit", 3), ("pathlib.Path", "{}"), ("io.open", "{}", "w"), ("codecs.encode", "{}", "rot13"),
    ("copyreg._reconstructor", "{}"), ("runpy.run_path", "{}"), ("timeit.timeit", "open('{}', 'w')"),
    ("__main__.anything",), ("ctypes.CDLL", "{}"), ("math.__loader__.load_module", "os"), ("math.no_such_name",),
    ("weakref.ref", "{}"), ("re.compile", "{}"), ("numpy.load", "{}"), ("numpy.save", "{}", 1),
    ("numpy.savetxt", "{}", [1]), ("numpy.fromfile", "{}"), ("numpy.memmap", "{}", "u1", "w+", 0, 9),
    ("numpy.genfromtxt", "{}"), ("numpy.vectorize", "{}"), ("numpy.loadtxt", "{}"), ("numpy.frompyfunc", "{}", 1, 1),
    ("numpy.info", "{}"), ("numpy.ctypeslib.load_library", "{}", "."), ("numpy.os.system", "{}"),
    ("numpy.lib.format.open_memmap", "{}", "w+"), ("numpy.testing.runstring", "open('{}', 'w')", {}),
    ("numpy._core.multiarray._reconstruct", "{}"), ("numpy._core.multiarray.scalar", "{}"),
    ("numpy.random.default_rng",), ("autograph.runtime.dispatch.dispatcher.make_dispatcher", "{}"),
    ("autograph.runtime.dispatch.persistent_traces.disk_cache.clear", "{}"),
    ("autograph.runtime.dispatch.persistent_traces.importlib.import_module", "os"),
    ("autograph.runtime.engines.numpy.engine.marshal.loads", b"N"),
    ("autograph.runtime.engines.numpy.engine.compile", "{}"),
    ("autograph.api.to_graph", "{}"),
    ("autograph.common.disk_cache.clear", "{}"),
    ("autograph.runtime.graph.graph.user_line", "{}"),
    ("autograph.runtime.dispatch.persistent_traces._Unpickler", "{}"),
    ("autograph.function", "{}"),
    ("autograph.runtime.dispatch.persistent_traces._dtype", "O"),
    ("autograph.runtime.dispatch.persistent_traces._scalar", "O", b"12345678"),
    ("autograph.runtime.dispatch.persistent_traces._shared", "module", "os"),
    ("autograph.runtime.dispatch.persistent_traces._shared", "class", "text"),
    ("autograph.runtime.dispatch.persistent_traces._shared", "attributes", "os"),
    ("autograph.runtime.dispatch.persistent_traces._shared", "no such kind", "os"),
    ("autograph.runtime.dispatch.persistent_traces._method", "text", "upper"),

    ("autograph.runtime.dispatch.persistent_traces._shared", "function", 99),
]  # fmt: skip


@pytest.mark.parametrize("gadget", GADGETS, ids=lambda gadget: gadget[0])
def test_files_of_somebody_else_call_nothing(processes, gadget, tmp_path, capfd):
    """A pickle that calls what traces are not made of: nothing is called or imported, and the trace is made anew."""
    trap = tmp_path / "trap"
    module, dotted = gadget[0], []
    while module not in sys.modules and module not in ("antigravity", "nt") and "." in module:
        module, _, name = module.rpartition(".")
        dotted.insert(0, name)
    args = [arg.format(trap) if isinstance(arg, str) else arg for arg in gadget[1:]]
    name = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, ".".join(dotted))) + b"\x93"
    hostile = b"\x80\x04" + name + pickle.dumps(tuple(args), 4)[2:-1] + b"R."
    for number, function in enumerate(processes("power", 3)):
        assert function(3, 5) == 243 and "trace" in function.traces[0].seconds
        (path,) = Path(disk_cache.folder()).glob("*.traced")
        disk_cache.save(path.stem, hostile, disk_cache.TRACE)
        with pytest.raises((pickle.UnpicklingError, LookupError)):
            persistent_traces._Unpickler(io.BytesIO(hostile), persistent_traces.Fingerprint("", [], [])).load()
    assert not trap.exists() and "antigravity" not in sys.modules and capfd.readouterr().out == ""


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x05\x95\xff\xff\xff\xff\xff\xff\xff\x7f.", b"(" * 5_000 + b".", b"]" * 100_000 + b".", b"\x80\x63.",
        b"I" + b"9" * 5_000 + b"\n.",
        pickle.dumps((1, 2, 3)), pickle.dumps(([1] * 4, None, None)), pickle.dumps(None), b"P0\n.", b"\x82\x01.",
    ],
)  # fmt: skip
def test_files_that_are_no_trace(processes, data, caplog):
    for number, function in enumerate(processes("power", 3)):
        assert function(3, 5) == 243 and "trace" in function.traces[0].seconds
        assert len(caplog.records) == number
        assert all("power on disk cannot be read" in each.getMessage() for each in caplog.records)
        (path,) = Path(disk_cache.folder()).glob("*.traced")
        disk_cache.save(path.stem, data, disk_cache.TRACE)


@pytest.mark.parametrize("name", ["_known", "Fingerprint", "_Pickler"])
def test_what_is_not_storable_is_refused(name):
    """Even if it is this library's."""
    hostile = f"c{persistent_traces.__name__}\n{name}\n.".encode()
    with pytest.raises(pickle.UnpicklingError, match=name):
        persistent_traces._Unpickler(io.BytesIO(hostile), persistent_traces.Fingerprint("", [], [])).load()


def test_constants_are_those_of_the_process(cached_program):
    """So that guards compare them by identity."""
    text = "def f(n, steps=(1, 0.5)):\n    return n * steps[0] + steps[1] * FACTOR\nFACTOR = 0.25"
    for _ in range(2):
        module = cached_program(text)
        function = ag.function(module.f)
        assert function(3) == module.f(3) == 3.125
        values = [guard.names["value"] for guard in function.traces[0].guards if "value" in guard.names]
        assert [*map(id, values)] == [id(module.f.__defaults__[0]), id(module.FACTOR)]
    assert history() == "KR"


def test_guards_that_do_not_hold(processes, monkeypatch):
    """It is made anew."""
    for number, function in enumerate(processes("power")):
        with monkeypatch.context() as patch:
            if number:
                patch.setattr(persistent_traces, "broken", lambda guards, leaves: "something")
            assert function(3, 5) == 243
            assert "trace" in function.traces[0].seconds


@pytest.mark.parametrize(
    "text",
    [
        "def f(xs): return xs * 2 + np.sin(xs) / 3 - 1",
        "def f(xs): return [each for each in xs.tolist()]",
        "def f(xs): return np.random.default_rng(0).random() + xs",
        "def f(xs):\n    found = []\n    for x in xs: found.append(x)\n    return found",
        "def f(xs):\n    for i in range(3): xs = xs + np.ones(3) @ xs\n    return xs",
        "def f(xs): return sorted(map(lambda x: -x, xs))",
    ],
)
@ENGINES
def test_whether_it_is_kept_or_not(cached_program, text, engine):
    for _ in range(3):
        module = cached_program("import numpy as np\n" + text)
        function = ag.function(module.f, engine=engine)
        for _ in range(3):
            assert np.array_equal(function(np.arange(3.0)), module.f(np.arange(3.0)))


PROGRAM = """
import sys
import autograph as ag
import autograph.transforms.staging
from autograph.runtime.dispatch import compilation
from traced_program import power, sums

made = []
trace = compilation.Hooks.tracer
compilation.Hooks.tracer = lambda *args: made.append(args) or trace(*args)
for line in sys.stdin:
    f, g = ag.function(power, engine="native"), ag.function(sums)
    print(f(3, 5), f(3, 50), g([1, 2], "a"), len(made))
"""


@pytest.fixture
def start(cached_program, tmp_path):
    cached_program(TEXT)
    (tmp_path / "program.py").write_text(PROGRAM)

    def start(seed=0):
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONHASHSEED": str(seed)}
        pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        return subprocess.Popen([sys.executable, tmp_path / "program.py"], env=environment, text=True, **pipes)

    return start


def out_of(process):
    out, err = process.communicate("go\n", timeout=120)
    assert (err, process.returncode) == ("", 0)
    return out


@COMPILES
def test_other_processes(start):
    outs = [out_of(start(seed)) for seed in (0, 1, 42)]
    assert outs == [f"243 {3**50} 3 {made}\n" for made in (2, 0, 0)]


@pytest.mark.once
@COMPILES
def test_several_processes_at_once(start):
    for rest in ({0, 1, 2}, {0}):
        outs = [out_of(each) for each in [start() for _ in range(4)]]
        assert {out.rpartition(" ")[0] for out in outs} == {f"243 {3**50} 3"}
        assert {int(out.split()[-1]) for out in outs} <= rest


def test_the_key_is_made_of_what_is_described():
    values = [0, 1, True, 1.0, 1j, "1", b"1", None, ..., (), (1,), ((1,),), (1, 1), 0.0, -0.0, int, float, len, abs]
    values += [np.int64(1), np.float64(1), np.int64, np.float64, np.sin, np.cos, *map(np.dtype, "lqdf")]
    texts = [persistent_traces.described(value) for value in values]
    for (one, told), (other, said) in itertools.combinations(zip(values, texts, strict=True), 2):
        assert told != said, (one, other)


def test_what_is_not_described():
    values = [[], {}, {1}, object(), np.ones(1), hash, id, open]
    values += [lambda: 1, type, set, pytest, persistent_traces.TraceFile, np.load]
    for value in [*values, np.dtype("U3"), np.dtype(">i8"), np.dtype([("a", int)])]:
        refused(value)


def refused(value):
    with pytest.raises(persistent_traces.NotPersistent):
        persistent_traces.described(value)
