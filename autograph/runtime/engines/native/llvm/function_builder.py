"""Where machine code has its values: blocks of instructions, cells, the frame, and what is known of arrays.

A value that is needed beyond its basic block is kept in a cell of the stack, for LLVM to make registers of. Booleans
are `i1` in registers and a byte in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from autograph.common.numpy_internals import DATA, SHAPE, STRIDES
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, Writer, llvm_type
from autograph.runtime.graph.graph import Place
from autograph.runtime.graph.operands import Array


class Origin(str):
    """A line of the text that tells where in the user's code the next ones come from. To LLVM it is a comment."""

    place: Place = ()

    @staticmethod
    def of(place: Place) -> Origin:
        found = Origin(";")
        found.place = place
        return found


class Memory(Writer):
    """A function under construction, as far as it moves values.

    Attributes:
        cells: the names of the cells, by what they are for and of which type.
    """

    def __init__(self) -> None:
        super().__init__([], set(), "%table")
        self._entry: list[str] = []
        self._lines: dict[str, list[str]] = {}
        self._label, self._now = "", list[str]()
        self._numbers = 0
        self.cells: dict[Any, str] = {}
        self._arrays: dict[Any, str] = {}
        self._origin = Origin.of(())

    @property
    def size(self) -> int:
        """How many instructions there are, roughly."""
        return self._numbers

    # Blocks -----------------------------------------------------------------------------------------------------------

    def label(self, hint: str) -> str:
        """A name for a new block."""
        self._numbers += 1
        return f"{hint}{self._numbers}"

    def begin(self, label: str) -> None:
        """Go on in a new block."""
        self._label, self._now = label, self._lines.setdefault(label, [])
        self._now.append(self._origin)

    def come_from(self, place: Place) -> None:
        """What is emitted from now on comes from a place of the user's code."""
        self._origin = Origin.of(place)
        self._now.append(self._origin)

    @property
    def origins(self) -> list[Place]:
        """Those that stand in the text, in their order."""
        return [line.place for lines in self._lines.values() for line in lines if isinstance(line, Origin)]

    def _emit(self, text: str) -> str:
        self._numbers += 1
        self._now.append(f"  %t{self._numbers} = {text}")
        return f"%t{self._numbers}"

    def _do(self, *lines: str) -> None:
        self._now += lines

    @contextmanager
    def _in_entry(self) -> Iterator[None]:
        """What is emitted meanwhile runs when the function begins."""
        before, self._now = self._now, self._entry
        yield
        self._now = before

    # Cells ------------------------------------------------------------------------------------------------------------

    def keep(self, key: Any, dtype: np.dtype[Any], ref: str) -> None:
        """Put a number into the cell of that key."""
        kind = llvm_type(dtype)
        self._now.append(f"  store {kind} {ref}, ptr {self._cell(key, kind)}")

    def kept(self, key: Any, dtype: np.dtype[Any]) -> str:
        """What is in the cell of that key."""
        kind = llvm_type(dtype)
        return self._emit(f"load {kind}, ptr {self._cell(key, kind)}")

    def keep_object(self, key: Any, ref: str) -> None:
        """Put the address of an object into the cell of that key."""
        self._now.append(f"  store ptr {ref}, ptr {self._cell(key, 'ptr')}")

    def kept_object(self, key: Any) -> str:
        """The object in the cell of that key."""
        return self._emit(f"load ptr, ptr {self._cell(key, 'ptr')}")

    def _cell(self, key: Any, kind: str) -> str:
        known = self.cells.get((key, kind))
        if known is None:
            known = self.cells[key, kind] = f"%c{len(self.cells)}"
            self._entry.append(f"  {known} = alloca {kind}")
        return known

    # The frame --------------------------------------------------------------------------------------------------------

    def argument(self, slot: int, dtype: np.dtype[Any]) -> str:
        """A number that the caller has put into the frame."""
        with self._in_entry():
            return self.memory(f"ptr {self._slot(slot)}", dtype)

    def hand_back(self, slot: int, dtype: np.dtype[Any], ref: str) -> None:
        """Put a number into the frame."""
        self._to_memory(f"ptr {self._slot(slot)}", dtype, ref)

    def hand_back_object(self, slot: int, ref: str) -> None:
        """Put a reference to an object into the frame."""
        self._now.append(f"  store ptr {ref}, ptr {self._slot(slot)}")

    def _slot(self, slot: int) -> str:
        return self._emit(f"getelementptr i8, ptr %frame, i64 {SLOT * slot}")

    def memory(self, pointer: str, dtype: np.dtype[Any]) -> str:
        """A number in memory."""
        kind = llvm_type(dtype)
        if kind != "i1":
            return self._emit(f"load {kind}, {pointer}, align {dtype.itemsize}")
        return self._emit(f"icmp ne i8 {self._emit(f'load i8, {pointer}')}, 0")

    def _to_memory(self, pointer: str, dtype: np.dtype[Any], ref: str) -> None:
        kind = llvm_type(dtype)
        if kind == "i1":
            kind, ref = "i8", self._emit(f"zext i1 {ref} to i8")
        self._now.append(f"  store {kind} {ref}, {pointer}, align {dtype.itemsize}")

    # Arrays -----------------------------------------------------------------------------------------------------------

    def _fact(self, x: Array, name: str) -> str:
        """The data, a length or a stride of an array; those of an argument are read when the function begins."""
        field = name.rstrip("0123456789")
        axis = int(name[len(field) :] or 0)
        if x.input < 0:
            return x.facts[{"data": 0, "shape": 1, "stride": 1 + x.ndim}[field] + axis]
        known = self._arrays.get((x.input, name))
        if known is None:
            with self._in_entry():
                known = self._arrays[x.input, name] = self._read_fact(self._arrays[x.input, "object"], field, axis)
        return known

    def _read_fact(self, array: str, field: str, axis: int) -> str:
        found = self._load("ptr", array, {"data": DATA, "shape": SHAPE, "stride": STRIDES}[field])
        return found if field == "data" else self._load("i64", found, 8 * axis)

    def argument_array(self, slot: int, input: int) -> None:
        """Read the address of an array's object from the frame."""
        self._arrays[input, "object"] = self.argument_object(slot)

    def argument_object(self, slot: int) -> str:
        """The address of an object that the caller has put into the frame."""
        with self._in_entry():
            return self._load("ptr", "%frame", SLOT * slot)

    def array_object(self, x: Array) -> str:
        """The object of an array."""
        return x.ref if x.input < 0 else self._arrays[x.input, "object"]

    def array_like(self, thing: str, x: Array) -> Array:
        """An object that is an array like that one."""
        lengths = [self._read_fact(thing, "shape", axis) for axis in range(x.ndim)]
        strides = [self._read_fact(thing, "stride", axis) for axis in range(x.ndim)]
        return replace(x, input=-1, ref=thing, facts=(self._read_fact(thing, "data", 0), *lengths, *strides))
