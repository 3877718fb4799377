"""What the user calls a value: the variable that the instruction after the one that computed it stores it in."""

from __future__ import annotations

import dis
from types import CodeType

from autograph.runtime.graph import Value


class AssignedNames:
    """Reads names from the user's code."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[CodeType, dict[int, str]]] = {}

    def name(self, value: Value) -> str:
        """The name of a value, as far as the user has one for it."""
        if value.name or value.node is None or not value.node.place or len(value.node.outputs) != 1:
            return value.name
        code, instruction = value.node.place[-1]
        known = self._read.get(id(code))
        if known is None:
            known = self._read[id(code)] = code, _stores(code)
        return known[1].get(instruction, "")


def _stores(code: CodeType) -> dict[int, str]:
    """For each instruction whose outcome is stored in a variable, its name."""
    found = {}
    before = 0
    for each in dis.get_instructions(code):
        if each.opname in ("STORE_FAST", "STORE_DEREF", "STORE_NAME"):
            found[before] = str(each.argval)
        elif each.opname == "STORE_FAST_LOAD_FAST":
            found[before] = str(each.argval[0])
        before = each.offset
    return found
