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

if TYPE_CHECKING:
    from autograph import importing, nn, optim
    from autograph.derivatives import grad, value_and_grad
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
    "convert",
    "do_not_convert",
    "errors",
    "explain",
    "function",
    "grad",
    "importing",
    "nn",
    "optim",
    "run_eagerly",
    "set_loop_options",
    "to_code",
    "to_graph",
    "value_and_grad",
]

# Imported when first asked for: what stages imports NumPy, and converting must not wait for that.
_LATER = {
    "Module": "autograph.modules",
    "Tensor": "autograph.runtime.tensor",
    "TensorSpec": "autograph.runtime.spec",
    "Variable": "autograph.variables",
    "function": "autograph.staging",
    "grad": "autograph.derivatives",
    "run_eagerly": "autograph.staging",
    "value_and_grad": "autograph.derivatives",
}
_MODULES = ("importing", "nn", "optim")


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"autograph.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
