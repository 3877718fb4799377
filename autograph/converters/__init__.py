"""The converters, one kind of construct a file. `pipeline.py` has their order.

A converter is a module with `REWRITERS`: functions by the type of the node that they rewrite, in place or by a new one.
"""
