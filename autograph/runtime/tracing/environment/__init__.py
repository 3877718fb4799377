"""The captured environment: globals, closure cells, attributes and classes that traced code reads, and their guards.

`environment.py` is on top. `object_source.py` has the provenance of captured objects; `guards.py`,
`attribute_guards.py`, `container_aliases.py` and `process_settings.py` have the guards that later calls check.
"""
