"""Reads Python source into trees, analyzes, prints and compiles trees; uses nothing of the runtime."""
