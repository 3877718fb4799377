"""What Python is about to do with a handle, read from the bytecode of the code that uses it.

Python asks a handle in the same words for things that differ: `x += y` falls back to `x + y`, and `[*x]` asks for the
length as `len(x)` does.
"""

from __future__ import annotations

import dis
import sys
from typing import Any

# `[*x]`, `(*x,)`, `{**x}` and `f(*x)`; not `{*x}`, as operations on sets do not ask what is in them.
SPREADING = frozenset({"LIST_EXTEND", "DICT_UPDATE", "CALL_FUNCTION_EX"})
_FIRST_INPLACE = 13  # from `NB_INPLACE_ADD` on
_COMPARE_SHIFT = 5 if sys.version_info >= (3, 13) else 4 if sys.version_info >= (3, 12) else 0


def instruction(frame: Any) -> tuple[str, int]:
    """The instruction that the code of `frame` is at, and its argument."""
    code, at = frame.f_code.co_code, frame.f_lasti
    argument = code[at + 1]
    if at > 1 and code[at - 2] == dis.EXTENDED_ARG:
        argument |= code[at - 1] << 8
    return dis.opname[code[at]], argument


def is_inplace(frame: Any) -> bool:
    """Whether it is at an `x += y`, which differs from `x + y` by the words of its errors."""
    name, argument = instruction(frame)
    return name.startswith("INPLACE") or (name == "BINARY_OP" and argument >= _FIRST_INPLACE)


def is_operation(frame: Any) -> bool:
    """Whether it is at an operator: `s + x` of a NumPy scalar warns otherwise than `np.add(s, x)`."""
    return instruction(frame)[0].startswith(("BINARY", "INPLACE", "COMPARE"))


def is_comparison(frame: Any, sign: str) -> bool:
    """Whether it is at a comparison by `sign`, such as `<`."""
    name, argument = instruction(frame)
    return name == "COMPARE_OP" and dis.cmp_op[argument >> _COMPARE_SHIFT] == sign
