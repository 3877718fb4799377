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
from autograph.libraries import on_behalf as _on_behalf

if TYPE_CHECKING:
    from autograph import importing, nn, optim
    from autograph.derivatives import checkpoint, custom_gradient, grad, jvp, stop_gradient, value_and_grad, vjp
    from autograph.jacobians import hessian, jacobian
    from autograph.modules import Module
    from autograph.runtime.spec import TensorSpec
    from autograph.runtime.tensor import Tensor
    from autograph.staging import function, run_eagerly
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
    "jvp",
    "nn",
    "optim",
    "run_eagerly",
    "set_loop_options",
    "stop_gradient",
    "to_code",
    "to_graph",
    "value_and_grad",
    "vjp",
]

# Imported when first asked for: what stages imports NumPy, and converting must not wait for that.
_LATER = {
    "Module": "autograph.modules",
    "Tensor": "autograph.runtime.tensor",
    "TensorSpec": "autograph.runtime.spec",
    "Variable": "autograph.variables",
    "checkpoint": "autograph.derivatives",
    "custom_gradient": "autograph.derivatives",
    "function": "autograph.staging",
    "grad": "autograph.derivatives",
    "hessian": "autograph.jacobians",
    "jacobian": "autograph.jacobians",
    "jvp": "autograph.derivatives",
    "run_eagerly": "autograph.staging",
    "stop_gradient": "autograph.derivatives",
    "value_and_grad": "autograph.derivatives",
    "vjp": "autograph.derivatives",
}
_MODULES = ("importing", "nn", "optim")


@_on_behalf
def __getattr__(name: str) -> object:
    from importlib import import_module

    from autograph.forking import undivided

    if name not in _LATER and name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with undivided():
        if name in _MODULES:
            return import_module(f"autograph.{name}")
        found = globals()[name] = getattr(import_module(_LATER[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
