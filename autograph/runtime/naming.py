"""What a user calls the result of an instruction: the variable that the next instruction stores it in."""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType

_STORES = frozenset({"STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL"})


@lru_cache(maxsize=256)
def stored_names(code: CodeType) -> dict[int, tuple[str, ...]]:
    """For each instruction whose result is stored at once, by offset, the names of the variables it is stored in."""
    found: dict[int, tuple[str, ...]] = {}
    instructions = [each for each in dis.get_instructions(code) if each.opname not in ("CACHE", "EXTENDED_ARG")]
    for position, each in enumerate(instructions[:-1]):
        following = instructions[position + 1]
        if following.opname in _STORES:
            found[each.offset] = (str(following.argval),)
        if each.opname == "UNPACK_SEQUENCE":
            stores = instructions[position + 1 : position + 1 + (each.arg or 0)]
            if len(stores) == each.arg and all(store.opname in _STORES for store in stores):
                found[each.offset] = tuple(str(store.argval) for store in stores)
    return found
