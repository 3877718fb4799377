"""`tf.function`, control flow, gradient tapes.

In comes a Python function with tensors among its arguments; out comes a `ConcreteFunction`, with a graph that runs.
Begin with `function.py` (a call), `tracing.py` (from a function to a graph) and `backend.py` (constructs of converted
code). Trace, undo log, branches and loops, graph, passes, derivatives and engine are the runtime's. `branches.py`,
`loops.py` and `mutations.py` are the policy by which paths are joined: it refuses what the runtime's would widen.
"""
