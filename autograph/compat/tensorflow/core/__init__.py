"""Tensors, dtypes, shapes and errors, and the graph that is being traced.

Begin with `tensor.py`: `apply` computes with arrays, or records with proxies in the trace of a `FuncGraph`.
"""
