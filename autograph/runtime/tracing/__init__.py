"""From a Python function and a signature to a graph.

`trace_function.py` is on top and shows the order; `function_context.py` makes the parts of a trace. Below them are
`calls/` (what a call in traced code becomes), `control_flow/` (branches and loops), `environment/` (globals, closures,
captured objects, and their guards), `state/` (the trace itself, what it has changed, exceptions) and `proxies/` (what
stands for a value meanwhile). `materialize.py` turns containers and functions into values of the graph, `write_back.py`
what was changed outside.
"""
