"""How LLVM spells constants and operations on numbers, and metadata about loops and branches."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.engines.native.llvm.ir import Metadata

INTEGER = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}
SIGNED = {"div": "sdiv", "rem": "srem", "shr": "ashr"}
UNSIGNED = {"div": "udiv", "rem": "urem", "shr": "lshr"}
FLOATING = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "rem": "frem"}
ORDERED = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une", "gt": "ogt", "ge": "oge"}

UNPREDICTABLE = Metadata()


def conversion(before: np.dtype[Any], after: np.dtype[Any]) -> str:
    """The instruction that makes a number of one dtype one of another; none if there is nothing to do."""
    if before.kind == "f" and after.kind == "f":
        return "" if before == after else "fpext" if after.itemsize > before.itemsize else "fptrunc"
    if before.kind == "f":
        return "fptosi" if after.kind == "i" else "fptoui"
    if after.kind == "f":
        return "sitofp" if before.kind == "i" else "uitofp"
    if before.kind == "b":
        return "zext" if after.kind != "b" else ""
    if before.itemsize == after.itemsize:
        return ""
    if after.itemsize < before.itemsize:
        return "trunc"
    return "sext" if before.kind == "i" else "zext"
