"""Transforms of functions: staging (`ag.function`), derivatives, Jacobians and Hessians.

Conversion and runtime meet here: `staging.py` gives the runtime the functions that convert and trace. `derivatives.py`
and `jacobians.py` are the public functions of `runtime/autodiff`.
"""
