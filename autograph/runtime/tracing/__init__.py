"""From a Python function and a signature to a graph.

`trace_function.py` is on top; it shows the order, and makes the parts of a trace. Below it are `calls/` (calls in
traced code), `control_flow/` (branches and loops), `environment/` (captured globals, closures and objects, and their
guards), `state/` (the trace itself, its undo log, exceptions) and `proxies/` (tracers of values, stand-ins of
functions). `materialize.py` turns containers and functions of traced code into values of the graph, `write_back.py`
repeats the changes of objects outside, `reductions.py` is about builtins such as `sum` and `min` over generators, and
`comprehensions.py` and `warnings.py` are about what their names say.
"""
