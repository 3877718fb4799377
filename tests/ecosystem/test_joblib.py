"""joblib: staged functions in worker processes and threads, memoized, hashed and dumped."""

import subprocess
import sys
import tempfile
import textwrap

import numpy as np
import pytest

import autograph as ag
from tests.ecosystem.probes import Probes, package

joblib = package("joblib")
PROBES = Probes()
OBJECTS = Probes()      # what pickle takes if a staged function is an object of its own, see docs/limits.md


def doubled(x):
    return x * 2 if x > 1 else x


class Model:
    def __init__(self, k):
        self.k = k

    @ag.function
    def apply(self, x):
        return x * self.k if x > 1 else self.k


@PROBES("range(4)", "[0.5, 2.5]")
def processes(stage, xs):
    return joblib.Parallel(2)(joblib.delayed(stage(doubled))(x) for x in xs)


@PROBES("[np.arange(4.0), -np.ones(2)]")
def closures(stage, arrays):
    k = 3

    @stage
    def total(xs):
        t = 0.0
        for x in xs:
            if x > 0:
                t += x * k
        return t

    return joblib.Parallel(2)(joblib.delayed(total)(each) for each in arrays)


@PROBES("3")
def methods(k):
    return joblib.Parallel(2)(joblib.delayed(Model(k).apply)(x) for x in range(3))


@PROBES("range(6)")
def threads(stage, xs):
    f = stage(lambda x: x * x if x % 2 else -x)
    return joblib.Parallel(2, prefer="threads")(joblib.delayed(f)(x) for x in xs)


@PROBES("range(4)")
def memoized(stage, xs):
    calls = []

    @stage
    def slow(x, ignored):
        ignored.append(x)
        return x * 2 if x > 1 else x

    with tempfile.TemporaryDirectory() as folder:
        cached = joblib.Memory(folder, verbose=0).cache(slow, ignore=["ignored"])
        return [cached(x, calls) for x in [*xs, *xs]], calls


@OBJECTS("1")
def dumped(stage, x):
    with tempfile.TemporaryDirectory() as folder:
        joblib.dump({"f": stage(doubled), "x": np.arange(3)}, f"{folder}/dumped")
        found = joblib.load(f"{folder}/dumped")
    return found["f"](x), found["f"](2.5), found["x"]


test_probe = PROBES.test()
test_probe_of_objects = pytest.mark.usefixtures("traced_at_once")(OBJECTS.test())


@pytest.mark.usefixtures("traced_at_once")
def test_hashes_tell_functions_apart():
    hashes = [joblib.hash(each) for each in (ag.function(doubled), Model(1).apply, Model(1).apply, Model(2).apply)]
    assert hashes[0] != hashes[1] == hashes[2] != hashes[3]


SCRIPT = """
    import joblib, autograph as ag
    from joblib import Parallel, delayed

    K = 3

    def helper(x):
        return x * K if x > 1 else x

    @ag.function(engine="native")
    def decorated(n):
        t = 0
        for i in range(n):
            t += helper(i)
        return t

    def renamed(x):
        return x * 2 if x > 1 else x

    def name(f, _):
        return type(f).__name__, f._options

    class Model:
        k = 2

        @ag.function
        def m(self, x):
            return x * self.k if x > 1 else x

    converted = ag.convert(lambda x: x if x > 0 else -x)
    gradient = ag.grad(lambda x: x * x if x > 0 else -x)
    for f in decorated, ag.function(renamed), ag.function(lambda x: -x), Model().m, converted, ag.to_graph(renamed):
        print(Parallel(2)(delayed(f)(k) for k in range(4)))
    print(Parallel(2)(delayed(gradient)(float(k)) for k in (-1, 2)))
    print(Parallel(2)(delayed(name)(decorated, k) for k in range(1)))
"""
PRINTED = """\
[0, 0, 1, 7]
[0, 1, 4, 6]
[0, -1, -2, -3]
[0, 1, 4, 6]
[0, 1, 2, 3]
[0, 1, 4, 6]
[-1.0, 4.0]
[('Function', {'engine': 'native'})]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a script needs a guard there")
def test_functions_of_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == (PRINTED, 0), done.stderr
    assert "Warning" not in done.stderr
