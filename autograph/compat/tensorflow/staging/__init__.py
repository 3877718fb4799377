"""`tf.function`, control flow, gradient tapes.

In comes a Python function with tensors among its arguments; out comes a `ConcreteFunction`, with a graph that runs.
Begin with `function.py` (a call), `tracing.py` (from a function to a graph) and `backend.py` (constructs of converted
code); then `branches.py`, `loops.py` and `mutations.py`. Trace, undo log, graph, passes, derivatives and engine are the
runtime's. The joins of branches and loops are not: the runtime's widen types until they fit, TensorFlow's refuse.
"""
