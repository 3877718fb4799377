"""Ops of Python itself: operators, builtins, methods, attributes, `math`, random numbers."""
