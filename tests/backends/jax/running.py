"""Runs programs plain on NumPy and converted on JAX, and compares what they do.

Programs say `import jax.numpy as jnp`, as their writers would. `on_numpy` gives the same text with NumPy behind that
name: that run, which knows nothing of JAX and of conversion, is what the converted one must do.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

import autograph as ag
from autograph.errors import StagingError

TRACER_ERRORS = (
    jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError, jax.errors.TracerBoolConversionError,
    jax.errors.TracerIntegerConversionError, jax.errors.NonConcreteBooleanIndexError,
)  # fmt: skip
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)")


def on_numpy(module: types.ModuleType) -> types.ModuleType:
    """A module's program with NumPy in the place of `jax.numpy`."""
    path = Path(module.__file__ or "")
    return load(path.read_text().replace("import jax.numpy as jnp", "import numpy as jnp"), f"<{path.stem} on NumPy>")


def load(text: str, filename: str) -> types.ModuleType:
    """Execute a text as a module whose source can be found."""
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    made = types.ModuleType("program")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(text, filename, "exec", dont_inherit=True), made.__dict__)
    return made


@dataclass
class Ran:
    """What a call did.

    Attributes:
        value: what it returned.
        error: what it raised.
        printed: what it printed.
    """

    value: Any = None
    error: BaseException | None = None
    printed: str = ""

    @property
    def refused(self) -> bool:
        """Whether this library or JAX's tracing says that it cannot stage this."""
        unsized = isinstance(self.error, IndexError) and "Slice entries must be static" in str(self.error)
        return isinstance(self.error, (StagingError, *TRACER_ERRORS)) or unsized

    @property
    def raised_in_trace(self) -> bool:
        """Whether a call under `jax.jit` raised an exception of the program without running it."""
        later = (jax.errors.JaxRuntimeError, jax.errors.JAXTypeError)
        return not (self.error is None or self.refused or isinstance(self.error, later))


def run(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any] = {}) -> Ran:
    """Call a function, wait for what it computes and prints, and catch what it raises."""
    ran, out = Ran(), io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            ran.value = function(*args, **kwargs)
            if isinstance(function, jax.stages.Wrapped):
                jax.block_until_ready(ran.value)
        except Exception as error:
            ran.error = error
        try:
            jax.effects_barrier()
        except Exception as error:      # of a callback whose result nothing waits for
            ran.error = ran.error or error
    ran.printed = out.getvalue()
    return ran


def on_jax(value: Any) -> Any:
    """Arguments as JAX's arrays."""
    return jax.tree.map(jax.numpy.asarray, value)


def copied(value: Any) -> Any:
    """Arguments as NumPy's arrays and scalars, which a run may change."""
    return jax.tree.map(lambda leaf: np.array(leaf)[()], value)


def compare(plain: Callable[..., Any], program: Callable[..., Any], *args: Any, jit: Any = jax.jit) -> None:
    """Assert that a converted program does under `jax.jit`, at two calls, what the plain one does on NumPy."""
    wanted = run(plain, copied(args))
    assert wanted.error is None, wanted.error
    staged = jit(ag.convert(program))
    for _ in range(2):
        ran = run(staged, on_jax(args))
        if ran.error is not None:
            raise ran.error
        same(ran.value, wanted.value)
        same_text(ran.printed, wanted.printed)


def same(actual: Any, wanted: Any, rtol: float = 1e-6, atol: float = 1e-9, place: str = "the result") -> None:
    """Assert that two results have one structure, and equal leaves of one shape and kind."""
    inside = parts(wanted)
    if inside is not None:
        found = parts(actual)
        kinds = f"{place} is a {type(actual)}, not {type(wanted)}"      # classes of one name: each run defines its own
        assert found is not None and type(actual).__name__ == type(wanted).__name__, kinds
        assert found.keys() == inside.keys(), f"{place} holds {list(found)}, not {list(inside)}"
        for name, part in inside.items():
            same(found[name], part, rtol, atol, f"{place}[{name!r}]")
    elif wanted is None or isinstance(wanted, str):
        assert actual == wanted, f"{place} is {actual!r}, not {wanted!r}"
    else:
        assert parts(actual) is None and actual is not None, f"{place} is a {type(actual)}, not {type(wanted)}"
        actual, wanted = np.asarray(actual), np.asarray(wanted)
        assert actual.shape == wanted.shape, f"{place} has the shape {actual.shape}, not {wanted.shape}"
        kinds = f"{place} is {actual} of {actual.dtype}, not {wanted} of {wanted.dtype}"
        assert actual.dtype.kind == wanted.dtype.kind, kinds
        np.testing.assert_allclose(actual, wanted, rtol, atol, equal_nan=True, err_msg=place)


def parts(value: Any) -> dict[Any, Any] | None:
    """What a container holds, by name; None for a leaf."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return None


def same_text(actual: str, wanted: str) -> None:
    """Assert that two texts differ in the last digits of their numbers at most."""
    assert NUMBER.sub("#", actual) == NUMBER.sub("#", wanted), f"printed {actual!r}, not {wanted!r}"
    numbers = [np.array(list(map(float, NUMBER.findall(text)))) for text in (actual, wanted)]
    np.testing.assert_allclose(*numbers, rtol=1e-6, atol=1e-9, err_msg=f"printed {actual!r}, not {wanted!r}")
