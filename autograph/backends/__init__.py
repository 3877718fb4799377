"""Backends that stage what converted code meets."""
