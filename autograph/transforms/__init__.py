"""Transforms of functions: staging (`ag.function`), derivatives, Jacobians and Hessians.

This is where conversion and runtime meet: `staging.py` tells the runtime how Python functions are converted and traced.
`derivatives.py` and `jacobians.py` are the public face of `runtime/autodiff`.
"""
