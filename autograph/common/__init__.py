"""Tools of all rooms: structures of values, files on disk, forked processes, and facts about code of others.

It does not depend on syntax or graphs. Begin with `pytree.py`; `trace_rules.py` and `packages.py` say which code is
traced, `disk_cache.py` how results are kept between processes, `defects.py` how errors of this library are reported.
`probes.py` compares functions on samples. `cpython_internals.py`, `bytecode.py`, `line_tables.py`
and `numpy_internals.py` are the only modules that rely on internals of CPython and NumPy; they check them at import.
"""
