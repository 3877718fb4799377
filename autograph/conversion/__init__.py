"""From a function or a module to converted code: syntax, converters and operators joined, and cached on disk.

`conversions.py` converts; `cache.py` keeps conversions between processes; `fingerprint.py` says what the trace of a
function depends on, for traces on disk; `explain.py` tells which constructs were converted, and why others were not.
"""
