"""Backends, which stage the values in converted code."""
