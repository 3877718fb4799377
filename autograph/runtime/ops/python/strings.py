"""Methods of strings."""

from __future__ import annotations

from autograph.runtime.graph.opdef import PURE
from autograph.runtime.graph.traits import CONSUMES, mark
from autograph.runtime.graph.types import BOOL, INT, STR, ObjectType
from autograph.runtime.ops.inference.containers import list_of, tuple_of
from autograph.runtime.ops.inference.declare import methods
from autograph.runtime.ops.python.methods import of_objects

STRING = ("str",)
SAME = """
    capitalize casefold center expandtabs format format_map join ljust lower lstrip removeprefix removesuffix replace
    rjust rstrip strip swapcase title translate upper zfill
"""
TESTS = """
    endswith startswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace
    istitle isupper
"""

methods(SAME, of_objects(STRING, STR), effect=PURE)
mark(".join", CONSUMES)
methods(TESTS, of_objects(("str", "bytes"), BOOL), effect=PURE)
methods("find rfind rindex", of_objects(("str", "bytes"), INT), effect=PURE)
methods("split rsplit splitlines", of_objects(STRING, list_of(STR)), effect=PURE)
methods("rpartition", of_objects(STRING, tuple_of(STR, STR, STR)), effect=PURE)
methods("encode", of_objects(STRING, ObjectType("bytes")), effect=PURE)
methods("decode", of_objects(("bytes",), STR), effect=PURE)
