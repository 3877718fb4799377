"""The captured environment: globals, closure cells, attributes and classes that traced code reads, and their guards.

`environment.py` is on top. `source.py` and `object_source.py` say where a value comes from, `guards.py`,
`attribute_guards.py`, `class_guards.py` and `container_aliases.py` what must still hold at the next call.
"""
