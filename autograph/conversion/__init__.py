"""Converts functions and modules, with the syntax, converters and operators; and caches conversions on disk.

`conversions.py` converts; `cache.py` saves conversions for other processes; `fingerprint.py` describes the dependencies
of a trace, for traces on disk; `explain.py` reports which constructs were converted, and why others were not.
"""
