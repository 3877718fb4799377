"""Ops that make arrays, and move, select, join and sort their elements."""
