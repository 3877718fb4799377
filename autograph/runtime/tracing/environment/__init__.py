"""What traced code reads from outside: globals, closure cells, attributes, classes; and the guards on it.

`environment.py` is on top. `source.py` and `object_source.py` say where a value comes from, `guards.py`,
`attribute_guards.py`, `class_guards.py` and `container_aliases.py` what must still hold at the next call.
"""
