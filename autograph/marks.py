"""The mark by which operators recognise code that converters generated: the last constant of its code object."""

BODY = "\0body"
