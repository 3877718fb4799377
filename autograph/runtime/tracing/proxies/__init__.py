"""Proxies of values in traced code, and the signals that interrupt it.

`proxy.py` is the tracer of a value, `stand_in.py` that of a function or module. `graph_break.py` has the signals by
which tracing ends early, `source_location.py` says where in the user's program it is.
"""
