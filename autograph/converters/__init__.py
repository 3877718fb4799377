"""The converters, one kind of construct a file: `pipeline.py` tells their order.

A converter is a module with `REWRITERS`: functions by the type of node that each rewrites, in place or by a new one.
"""
