"""The programs of loops.py with Numba, JAX and TensorFlow, for those that are installed.

A program takes the arguments and returns what to measure: a call with them, made the library's own before.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from types import FunctionType
from typing import Any

import loops
import numpy as np
from common import Programs, bound


def of_numba() -> Programs:
    import numba

    functions = {name: each for name, each in vars(loops).items() if isinstance(each, FunctionType)}
    scope = vars(loops) | {name: numba.njit(functions[name]) for name in ("sift", "slope")}
    return {name: bound(numba.njit(FunctionType(each.__code__, scope))) for name, each in functions.items()}


def of_jax() -> Programs:
    import jax
    import loops_in_jax

    def call(name: str, program: Any, *args: Any) -> Callable[[], Any]:
        static = loops_in_jax.STATIC.get(name, ())
        held = [arg if at in static else jax.device_put(arg) for at, arg in enumerate(args)]
        staged = jax.jit(program, static_argnums=static)
        return lambda: staged(*held).block_until_ready()

    return {each.__name__: functools.partial(call, each.__name__, each) for each in loops_in_jax.PROGRAMS}


def of_tensorflow(compiled: bool) -> Programs:
    import loops_in_tensorflow
    import tensorflow as tf

    def call(name: str, program: Any, *args: Any) -> Callable[[], Any]:
        static = loops_in_tensorflow.STATIC.get(name, ())
        held = [arg if at in static else tf.constant(np.asarray(arg)) for at, arg in enumerate(args)]
        staged = tf.function(program, jit_compile=compiled)
        return lambda: staged(*held).numpy()

    return {each.__name__: functools.partial(call, each.__name__, each) for each in loops_in_tensorflow.PROGRAMS}


def installed() -> dict[str, Programs]:
    """The programs of each peer that is installed."""
    found = {}
    if importlib.util.find_spec("numba"):
        found["Numba"] = of_numba()
    if importlib.util.find_spec("jax"):
        found["jax.jit"] = of_jax()
    if importlib.util.find_spec("tensorflow"):
        found["tf jit_compile"], found["tf.function"] = of_tensorflow(True), of_tensorflow(False)
    return found
