"""Reads Python source into trees, analyzes them, and prints and compiles converted trees; uses nothing of the runtime.
"""
