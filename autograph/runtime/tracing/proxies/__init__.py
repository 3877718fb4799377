"""Proxies of values in traced code, and the signals that interrupt tracing.

`proxy.py` is the proxy of a value, `stand_in.py` that of a function or module, and `context.py` their interface to the
trace. `graph_break.py` has the signals; `source_location.py` finds the current place in the user's program.
"""
