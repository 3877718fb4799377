"""AutoGraph, standalone: Python control flow rewritten into functional calls, readable and stageable.

    import autograph as ag

    @ag.function                    # runs as a graph from its first call on
    def f(x): ...

    print(ag.to_code(f))            # the converted source
    print(ag.explain(f))            # what was converted, what stayed plain, and why
"""

from typing import TYPE_CHECKING

from autograph import errors
from autograph.api import convert, do_not_convert, explain, set_loop_options, to_code, to_graph
from autograph.common.trace_rules import on_behalf as _on_behalf

if TYPE_CHECKING:
    from autograph import importing, nn, optim, summary
    from autograph.modules import Module
    from autograph.runtime.graph.tensor_spec import TensorSpec
    from autograph.runtime.profiling.profile import profile
    from autograph.runtime.tracing.proxies.proxy import Tensor
    from autograph.saving import load, save
    from autograph.transforms.derivatives import (
        checkpoint,
        custom_gradient,
        grad,
        jvp,
        stop_gradient,
        value_and_grad,
        vjp,
    )
    from autograph.transforms.jacobians import hessian, jacobian
    from autograph.transforms.jax_jit import jax_jit
    from autograph.transforms.staging import function, run_eagerly
    from autograph.variables import Variable

__version__ = "0.1.0"

__all__ = [
    "Module",
    "Tensor",
    "TensorSpec",
    "Variable",
    "__version__",
    "checkpoint",
    "convert",
    "custom_gradient",
    "do_not_convert",
    "errors",
    "explain",
    "function",
    "grad",
    "hessian",
    "importing",
    "jacobian",
    "jax_jit",
    "jvp",
    "load",
    "nn",
    "optim",
    "profile",
    "run_eagerly",
    "save",
    "set_loop_options",
    "stop_gradient",
    "summary",
    "to_code",
    "to_graph",
    "value_and_grad",
    "vjp",
]

# Imported when first asked for: what stages imports NumPy, and converting must not wait for that.
_LATER = {
    "Module": "autograph.modules",
    "Tensor": "autograph.runtime.tracing.proxies.proxy",
    "TensorSpec": "autograph.runtime.graph.tensor_spec",
    "Variable": "autograph.variables",
    "checkpoint": "autograph.transforms.derivatives",
    "custom_gradient": "autograph.transforms.derivatives",
    "function": "autograph.transforms.staging",
    "grad": "autograph.transforms.derivatives",
    "hessian": "autograph.transforms.jacobians",
    "jacobian": "autograph.transforms.jacobians",
    "jax_jit": "autograph.transforms.jax_jit",
    "jvp": "autograph.transforms.derivatives",
    "load": "autograph.saving",
    "profile": "autograph.runtime.profiling.profile",
    "run_eagerly": "autograph.transforms.staging",
    "save": "autograph.saving",
    "stop_gradient": "autograph.transforms.derivatives",
    "value_and_grad": "autograph.transforms.derivatives",
    "vjp": "autograph.transforms.derivatives",
}
_MODULES = ("importing", "nn", "optim", "summary")


@_on_behalf
def __getattr__(name: str) -> object:
    from importlib import import_module

    from autograph.common.forking import undivided

    if name not in _LATER and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with undivided():
        if name in _MODULES:
            return import_module(f"autograph.{name}")
        found = globals()[name] = getattr(import_module(_LATER[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
