"""From a call to a trace: arguments, keys, guards, caches, options.

`function.py` is what `ag.function` gives. A call goes through `dispatcher.py` and `trace_entry.py`; a new signature
through `arguments.py`, `specialize.py` and `compilation.py`. `generalize.py` makes one trace of signatures that differ,
`persistent_traces.py` keeps traces on disk. `trace_report.py` makes the reports of `explain.py`, with the advice of
`advice.py`.
"""
