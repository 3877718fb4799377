"""Type checkers see through the library: what they infer, and where they find errors, under mypy and pyright."""

import os
import subprocess
import sys

import numpy as np
import pytest

import autograph as ag

# Each line that ends in `# error` must be one for the checker, and no other.
PROGRAM = '''
from typing import Any, Callable, Generic, TypeVar
import numpy as np
from typing_extensions import assert_type
import autograph as ag

T = TypeVar("T")

def plain(x: float, n: int = 2) -> float:
    return x * n

# With and without options, as a decorator and as a function.
called = ag.function(plain)
native = ag.function(plain, engine="native", static_argnames=["n"], max_traces=3, passes={"cse": False})
assert_type(called(1.0, n=3), float)
assert_type(native(1.0), float)
native("text")  # error
native(1.0, m=2)  # error
ag.function(plain, engine=3)  # error
ag.function(plain, engin="native")  # error
ag.function(engine=b"native")  # error
assert_type(native.with_options(strict=True)(1.0), float)
native.with_options(strickt=True)  # error

@ag.function
def bare(x: float) -> str: return str(x)

@ag.function()
def no_options(x: float) -> str: return str(x)

@ag.function(engine="numpy", strict=("plain", "retrace"), input_signature=[ag.TensorSpec((None,), "f8")])
def options(x: float, /, *more: int, scale: float, **names: str) -> str: return str(x)

assert_type(bare(1.0), str)
assert_type(no_options(1.0), str)
assert_type(options(1.0, 2, 3, scale=1.0, label="a"), str)
options(1.0)  # error
bare.graph(1.0), bare.lower(1.0).source, bare.traces[0].seconds, str(bare.explain(1.0))

@ag.function
def generic(x: T) -> list[T]: return [x]
assert_type(generic("a"), list[str])
assert_type(generic(1), list[int])

# In classes.
class Model(Generic[T]):
    def __init__(self, given: T) -> None: self.given = given

    @ag.function
    def method(self, x: int) -> float: return 1.0 * x

    @ag.function(engine="native")
    def with_options(self, x: int) -> T: return self.given

    @classmethod
    @ag.function
    def of_class(cls, x: int) -> bytes: return b""

    @ag.convert
    def converted(self, x: int) -> float: return 1.0 * x

    def __call__(self, x: int) -> float: return 1.0 * x

    def get(self) -> float: return 1.0
    staged = property(ag.function(get))
    # Below or above a decorator `@staticmethod`, checkers take what has a `__get__` for a method; as calls it works.
    static = staticmethod(ag.function(plain))
    static_with_options = ag.function(staticmethod(plain), strict=True)
    same: property = ag.function(property(get), strict=True)

model = Model("given")
assert_type(model.method(1), float)
assert_type(model.with_options(x=1), str)
assert_type(model.static(1.0), float)
assert_type(model.static_with_options(1.0, n=3), float)
assert_type(model.converted(1), float)
Model.method(model, 1)
assert_type(ag.function(model.method)(1), float)
assert_type(ag.function(model)(1), float)
model.method("x")  # error
model.static_with_options("x")  # error
model.with_options()  # error
model.converted("x")  # error
model.method.traces, Model.method.traces, model.method.explain(1)

# Converting.
@ag.convert(debug_source=True)
def converted(x: int, *, y: str = "") -> float: return 1.0
assert_type(converted(1, y="a"), float)
assert_type(ag.to_graph(plain)(1.0), float)
assert_type(ag.to_graph(called)(1.0), float)
ag.to_graph(called)("x")  # error
ag.to_graph(called).traces  # error
converted(y=1)  # error

@ag.do_not_convert
def untouched(x: int) -> float: return 1.0
assert_type(untouched(1), float)
untouched("x")  # error

@ag.do_not_convert()
class Untouched:
    def __init__(self, x: int) -> None: ...
assert_type(Untouched(1), Untouched)

async def waits(x: int) -> float: return 1.0
assert_type(ag.convert(waits)(1).__await__().send(None), Any)

# Derivatives.
def loss(w: np.ndarray[Any, Any], rate: float = 1.0) -> float: return float(np.sum(w)) * rate
w = np.ones(3)
ag.grad(loss)(w, rate=2.0)
ag.grad(loss)("w")  # error
ag.grad(loss, argnums=(0, 1))(w, rat=2.0)  # error
assert_type(ag.value_and_grad(loss)(w)[0], float)
ag.value_and_grad(loss)(w, "rate")  # error
ag.value_and_grad(loss).explain(w)
value, pullback = ag.vjp(loss, w)
assert_type(value, float)
assert_type(pullback(1.0), tuple[Any, ...])
def pair(x: float) -> tuple[float, str]: return x, ""
assert_type(ag.vjp(pair, 1.0, has_aux=True)[2], str)
assert_type(ag.jvp(plain, [1.0], [1.0]), tuple[float, float])
assert_type(ag.stop_gradient(1.0), float)
def layer(x: np.ndarray[Any, Any], power: int = 2) -> np.ndarray[Any, Any]: return x ** power
assert_type(ag.jacobian(layer)(w, power=3), np.ndarray[Any, Any])
ag.jacobian(layer)(w, powe=3)  # error
ag.hessian(loss)(w, 1.0).shape
ag.hessian(loss)(1)  # error

@ag.custom_gradient
def doubled(x: float, by: int = 2) -> tuple[float, Callable[[float], float]]: return x * by, lambda g: g * by
assert_type(doubled(1.0, by=3), float)
doubled("x")  # error

@ag.checkpoint
def block(x: float) -> float: return x
assert_type(block(1.0), float)
block("x")  # error

# Modules and variables.
class Net(ag.Module):
    def __init__(self) -> None:
        super().__init__("net")
        self.w = ag.Variable([1.0], name="w", trainable=True)

    @ag.function
    def step(self, x: float) -> float: return x

net = Net()
assert_type(net.train(), Net)
assert_type(net.eval().w.assign([1.0]).assign_add(1), ag.Variable)
assert_type(net.step(1.0), float)
assert_type(net.trainable_variables, list[ag.Variable])
assert_type(net.training, bool)
net.training = 3  # error
net.w += 1
net.w[0] = net.w[0] * 2 + net.w.value[0]
ag.Variable(1.0, trainble=True)  # error
'''


def marked(program):
    return [number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# error")]


def errors_of(tmp_path, program, *command):
    """What a checker says of the program: the lines with errors, and its text."""
    (tmp_path / "program.py").write_text(program)
    root = os.path.dirname(os.path.dirname(ag.__file__))
    done = subprocess.run(
        [sys.executable, "-m", *command, "program.py"],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if "error:" in line]
    return sorted({int(line.split("program.py:")[1].split(":")[0]) for line in lines}), done.stdout + done.stderr


@pytest.mark.once
def test_mypy(tmp_path):
    pytest.importorskip("mypy")
    found, text = errors_of(tmp_path, PROGRAM, "mypy", "--strict", "--config-file", os.devnull)
    assert found == marked(PROGRAM), text


@pytest.mark.once
def test_pyright(tmp_path):
    pytest.importorskip("pyright", reason="pyright is not installed: pip install pyright (it needs node)")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    found, text = errors_of(tmp_path, PROGRAM, "pyright", "--pythonpath", sys.executable)
    if "No configuration file" not in text and "error" not in text:
        pytest.skip(f"pyright does not run here: {text.strip()}")
    assert found == marked(PROGRAM), text


def test_help_shows_each_option():
    import inspect

    from autograph.runtime.dispatch.options import FunctionOptions

    options = {p.name for p in inspect.signature(ag.function).parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert options == set(FunctionOptions.__annotations__) and "engine" in options


def test_what_type_checkers_allow_runs():
    def layer(x, power=2):
        return x**power

    @ag.custom_gradient
    def scaled(x, by=2):
        return x * by, lambda g: (g * by, None)

    w = np.array([1.0, 2.0])
    assert ag.jacobian(layer)(w, power=3).tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert scaled(3.0, by=3) == 9.0
    assert ag.grad(lambda x: scaled(x, by=3.0) * 2.0)(1.0) == 6.0
