"""AutoGraph, standalone: Python control flow rewritten into functional calls, readable and stageable.

    import autograph as ag

    print(ag.to_code(function))     # the converted source
    print(ag.explain(function))     # what was converted, what stayed plain, and why
"""

from autograph import errors
from autograph.api import convert, do_not_convert, explain, set_loop_options, to_code, to_graph
from autograph.runtime.spec import TensorSpec
from autograph.runtime.tensor import Tensor
from autograph.staging import function, run_eagerly

__version__ = "0.1.0"

__all__ = [
    "Tensor",
    "TensorSpec",
    "__version__",
    "convert",
    "do_not_convert",
    "errors",
    "explain",
    "function",
    "importing",
    "run_eagerly",
    "set_loop_options",
    "to_code",
    "to_graph",
]


def __getattr__(name: str) -> object:
    if name == "importing":  # needed by those who install the import hook
        import autograph.importing as importing

        return importing
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
