"""The converters, one construct a file."""
