"""Programs that probe the corners of the law: under `jax.jit` each does what it does plain on NumPy, or is refused."""

from __future__ import annotations

import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import autograph as ag  # noqa: E402
from tests.backends.jax.fuzzing import judged, judged_beside_jax  # noqa: E402
from tests.backends.jax.programs import module, programs  # noqa: E402
from tests.backends.jax.running import copied, on_jax, on_numpy, run  # noqa: E402

pytestmark = pytest.mark.once
PROGRAMS = list(programs())
IDS = [".".join(pair) for pair in PROGRAMS]


def arguments(call: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.array(arg)[()] for arg in call)


@pytest.mark.parametrize(("theme", "name"), PROGRAMS, ids=IDS)
def test_program(theme: str, name: str) -> None:
    program = getattr(module(theme), name)
    staged, verdicts = jax.jit(ag.convert(program)), []
    for call in program.calls:
        plain = getattr(on_numpy(module(theme)), name)      # anew: some change what they capture
        wanted = run(plain, copied(arguments(call)))
        actual = run(staged, on_jax(arguments(call)))
        verdicts.append(judged_beside_jax(actual, wanted, program, arguments(call)))
        if verdicts[-1] == "refused":
            assert program.or_error, f"{type(actual.error).__name__}: {actual.error}"
            files = [frame.filename for frame in traceback.extract_tb(actual.error.__traceback__)]
            assert any(name.endswith(f"{theme}.py") for name in files) or f"{theme}.py" in str(actual.error)


@pytest.mark.parametrize("name", [name for theme, name in PROGRAMS if theme == "effects"])
def test_exceptions_of_jax_jit_are_pythons(name: str) -> None:
    program = getattr(module("effects"), name)
    staged, plain = ag.jax_jit(program), getattr(on_numpy(module("effects")), name)
    for call in program.calls:
        wanted, actual = run(plain, copied(arguments(call))), run(staged, on_jax(arguments(call)))
        if actual.refused and program.or_error:
            continue
        assert type(actual.error).__name__ == type(wanted.error).__name__, actual.error
        assert str(actual.error) == str(wanted.error)
        assert judged(actual, wanted) in ("same", "raised")
        assert actual.printed == wanted.printed


def test_exceptions_of_threads_are_their_own() -> None:
    @ag.jax_jit
    def f(n: Any) -> Any:
        if n > 0:
            raise ValueError(n)
        return n

    def caught(n: int) -> Any:
        with pytest.raises(ValueError) as info:
            f(n)
        return info.value.args[0]

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(caught, range(1, 100))) == list(range(1, 100))


def test_attributes_of_exceptions_are_known() -> None:
    effects = module("effects")
    with pytest.raises(effects.Limit) as info:
        ag.jax_jit(effects.raises_with_an_attribute)(9)
    assert info.value.over == 4


def test_arguments_stay_as_they_are() -> None:
    def f(x: Any) -> Any:
        x[0] = 9.0
        return x

    x = jax.numpy.arange(3.0)
    assert jax.jit(ag.convert(f))(x)[0] == 9.0 and x[0] == 0.0
