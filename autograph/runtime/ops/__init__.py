"""All ops: importing this package declares them."""

from importlib import import_module
from importlib.util import find_spec

for _name in (
    "operators", "ufuncs", "elementwise", "reduce", "creation", "casting",
    "shape", "joining", "index", "selection", "sorting", "linalg", "products", "fft", "polynomials", "random", "math_",
    "builtins_", "attributes", "methods", "core", "strings",
):  # fmt: skip
    if find_spec(f"{__name__}.{_name}"):        # TODO: plain imports as soon as all are there
        import_module(f"{__name__}.{_name}")
