"""Reads from bytecode how Python uses the result of an instruction, or a proxy.

The user's name of a result is the variable in which the next instruction stores it. And different operations call the
same method of a proxy: `x += y` falls back to `x + y`, and `[*x]` asks for the length as `len(x)` does.

Differences between versions of CPython are checked at import. If bytecode is not as expected, no instruction is known,
and messages say less about variables and operators.
"""

from __future__ import annotations

import dis
import inspect
import itertools
import sys
import traceback
from collections.abc import Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

from autograph.common.code_flags import code_line, codes_in, of_code
from autograph.common.statics import cell_content, is_a, names_of, own_attribute
from autograph.common.trace_rules import is_known_library

_PAIRS = frozenset({"STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"})  # from 3.13 on


def instructions(code: CodeType) -> list[tuple[int, str, Any]]:
    """Offset, name and argument of each instruction; of those that set or read variables, the name is the argument.

    `dis` also finds the targets of jumps, in a time that is quadratic in the length of the code.
    """
    cells = tuple(name for name in code.co_cellvars if _OLD or name not in code.co_varnames)
    fast = (*code.co_varnames, *cells, *code.co_freevars)
    names = {"STORE_FAST": fast, "STORE_NAME": code.co_names, "STORE_GLOBAL": code.co_names}
    names["STORE_DEREF"] = (*cells, *code.co_freevars) if _OLD else fast
    loads = dict.fromkeys(("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "DELETE_FAST"), fast)
    names |= {**loads, **dict.fromkeys(("LOAD_DEREF", "DELETE_DEREF"), names["STORE_DEREF"])}
    found: list[tuple[int, str, Any]] = []
    for offset, operation, argument in raw_instructions(code) if IS_KNOWN else ():
        name = dis.opname[operation]
        if name in names:
            found.append((offset, name, names[name][argument]))
        elif name in _PAIRS:
            found += [(offset, "STORE_FAST", fast[argument >> 4]), (offset, name[11:], fast[argument & 15])]
        else:
            found.append((offset, name, argument))
    return found


def raw_instructions(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """Offset, operation and argument of each instruction."""
    raw, high = code.co_code, 0
    for offset, operation, low in zip(range(0, len(raw), 2), raw[::2], raw[1::2]):
        if operation == dis.EXTENDED_ARG:
            high = (high | low) << 8
        elif operation:     # no cache of the instruction before
            yield offset, operation, high | low
            high = 0


_OLD = sys.version_info < (3, 11)  # cells are numbered anew, rather than behind the local variables


_STORES = frozenset({"STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL"})


@of_code
def stored_names(code: CodeType) -> dict[int, tuple[str, ...]]:
    """For each instruction whose result is stored at once, by offset, the names of the variables it is stored in."""
    found: dict[int, tuple[str, ...]] = {}
    every = instructions(code)
    for position, (following, does, _) in enumerate(every[1:]):
        if does in _STORES:
            offset, before, count = every[position]
            end = position + 1 + (count if before == "UNPACK_SEQUENCE" else 1)
            stores = itertools.takewhile(lambda each: each[1] in _STORES, every[position + 1 : end])
            names = tuple(name for _, _, name in stores)
            # in 3.11, a frame that calls a Python function is said to be at the end of the instruction's caches
            found |= dict.fromkeys(range(offset, following, 2), names)
    return found


def stored_at(code: CodeType | None, name: str) -> int | None:
    """The last line on which some code sets a variable, if it does."""
    stores = {} if code is None else stored_names(code)
    lines = [code_line(code, at) for at, names in stores.items() if code is not None and name in names]
    return lines[-1] if lines else None


def line_naming(code: CodeType, name: str) -> int | None:
    """The first line on which code, or code in it, names a variable, an attribute or a module."""
    for each in codes_in(code):
        for found in dis.get_instructions(each):
            if found.argval == name and found.opname != "LOAD_CONST":
                return code_line(each, found.offset)
    return None


_AROUND = frozenset({"_getframe", "currentframe", "globals"})


def looks_around(code: CodeType) -> bool:
    """Whether code depends on its caller, or on a module as a whole."""
    if not _AROUND.isdisjoint(code.co_names):
        return True
    constants = code.co_consts
    if any(type(constant) is tuple and "stacklevel" in constant for constant in constants):
        return True
    if "warn" in code.co_names and _calls_with_level(code):
        return True
    return any(looks_around(constant) for constant in constants if isinstance(constant, CodeType))


@of_code
def _calls_with_level(code: CodeType) -> bool:
    """Whether code calls something as `warn(message, category, 2)`, with a stack level by its position."""
    steps = [each for each in dis.get_instructions(code) if each.opname not in ("PRECALL", "CACHE")]
    pairs = [(last.argval, call.argval) for last, call in itertools.pairwise(steps) if call.opname.startswith("CALL")]
    return any(type(level) is int and level > 1 and count in (3, 4) for level, count in pairs)


def looks_at_frames(function: FunctionType) -> bool:
    """Whether a function depends on its caller, or on its module as a whole: by its code, or by functions it names."""
    code, names = function.__code__, function.__globals__
    if looks_around(code):
        return True
    found = [names[name] for name in code.co_names if name in names]
    found += [vars(each).get(name) for each in found if each is inspect or each is traceback for name in code.co_names]
    return any(type(each) is FunctionType and each in _OF_FRAMES for each in found)


_OF_FRAMES = (inspect.stack, traceback.extract_stack, traceback.format_stack, traceback.print_stack)


@of_code
def rebound_globals(code: CodeType) -> frozenset[str]:
    """The globals that code, or code in it, sets or deletes."""
    return _named_by(code, "STORE_GLOBAL", "DELETE_GLOBAL")


@of_code
def set_attributes(code: CodeType) -> frozenset[str]:
    """The attributes that code, or code in it, sets or deletes."""
    return _named_by(code, "STORE_ATTR", "DELETE_ATTR")


@of_code
def rebound_outside(code: CodeType) -> frozenset[str]:
    """The variables of functions around it that code in some code sets."""
    does = ("STORE_DEREF", "DELETE_DEREF")
    return frozenset(
        part for each in codes_in(code) for _, op, part in instructions(each) if op in does and part in each.co_freevars
    )


# Attributes that decide which code runs, of whatever they are set.
DECISIVE = frozenset({"__class__", "__bases__", "__code__", "__defaults__", "__kwdefaults__"})


def _named_by(code: CodeType, *operations: str) -> frozenset[str]:
    found = [(each, part) for each in codes_in(code) for _, does, part in instructions(each) if does in operations]
    return frozenset(part if type(part) is str else each.co_names[part] for each, part in found)


def functions_in(module: dict[str, Any]) -> list[FunctionType]:
    """The user's functions in a module, given its names, and the methods of its classes; also those that these wrap."""
    kinds = [kind for kind in module.values() if is_a(kind, type)]
    rest = [*module.values(), *(part for kind in kinds for part in names_of(kind).values())]
    found: dict[int, Any] = {}
    while rest:
        part = rest.pop()
        if part is not None and id(part) not in found:
            found[id(part)] = part
            wrapped = own_attribute(part, "__wrapped__")
            rest += (part.fget, part.fset, part.fdel) if type(part) is property else (wrapped,)
            rest += map(cell_content, part.__closure__ or ()) if type(part) is FunctionType else ()
    functions = [part for part in found.values() if type(part) is FunctionType]
    return [each for each in functions if not is_known_library(each.__globals__.get("__name__"))]


# `[*x]`, `(*x,)`, `{**x}` and `f(*x)`; not `{*x}`, as operations on sets do not look at items.
SPREADING = frozenset({"LIST_EXTEND", "DICT_UPDATE", "CALL_FUNCTION_EX"})
_FIRST_INPLACE = 13  # from `NB_INPLACE_ADD` on
_COMPARE_SHIFT = 5 if sys.version_info >= (3, 13) else 4 if sys.version_info >= (3, 12) else 0


def instruction_at(code: CodeType, offset: int) -> tuple[str, int]:
    """An instruction and its argument; "" and 0 where bytecode is not known."""
    if not IS_KNOWN:
        return "", 0
    raw = code.co_code
    argument = raw[offset + 1]
    if offset > 1 and raw[offset - 2] == dis.EXTENDED_ARG:
        argument |= raw[offset - 1] << 8
    return dis.opname[raw[offset]], argument


def instruction(frame: FrameType) -> tuple[str, int]:
    """The instruction that the code of `frame` is at, and its argument."""
    return instruction_at(frame.f_code, frame.f_lasti)


def is_inplace(frame: FrameType) -> bool:
    """Whether it is at an `x += y`, which differs from `x + y` by the words of its errors."""
    return _adds_inplace(*instruction(frame))


def _adds_inplace(name: str, argument: int) -> bool:
    return name.startswith("INPLACE") or (name == "BINARY_OP" and argument >= _FIRST_INPLACE)


def is_operation(frame: FrameType) -> bool:
    """Whether it is at an operator: `s + x` of a NumPy scalar warns otherwise than `np.add(s, x)`."""
    return instruction(frame)[0].startswith(("BINARY", "INPLACE", "COMPARE"))


def is_comparison(frame: FrameType, sign: str) -> bool:
    """Whether it is at a comparison by `sign`, such as `<`."""
    return _compares(*instruction(frame), sign)


def _compares(name: str, argument: int, sign: str) -> bool:
    return name == "COMPARE_OP" and argument >> _COMPARE_SHIFT == dis.cmp_op.index(sign)


def is_order(name: str, argument: int) -> bool:
    """Whether an instruction compares by `<`, `<=`, `>` or `>=`."""
    return name == "COMPARE_OP" and dis.cmp_op[argument >> _COMPARE_SHIFT] in ("<", "<=", ">", ">=")


def _is_known() -> bool:
    """Whether a small function is read as it was written."""
    module = compile("def f(a):\n    b, c = a\n    b += c\n    return a >= b", "", "exec")
    code = next(each for each in module.co_consts if isinstance(each, CodeType))
    found = instructions(code)
    names = [name for _, does, name in found if does == "STORE_FAST"]
    rest = [instruction_at(code, offset) for offset, *_ in found]
    additions = sum(_adds_inplace(name, argument) for name, argument in rest)
    comparisons = sum(_compares(name, argument, ">=") for name, argument in rest)
    return names == ["b", "c", "b"] and additions == comparisons == 1


IS_KNOWN = True
IS_KNOWN = _is_known()
