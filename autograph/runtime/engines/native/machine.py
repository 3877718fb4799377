"""LLVM, by way of `llvmlite`: text to machine code."""

from __future__ import annotations

import ctypes
import itertools
import threading
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autograph.errors import EngineError

_lock = threading.RLock()    # a module may be forgotten while another one is made
_numbers = itertools.count(1)


@cache
def binding() -> Any:
    """The module `llvmlite.binding`.

    Raises:
        EngineError: machine code would not find its way about NumPy's arrays.
    """
    import llvmlite.binding as llvm  # only now, for it need not be installed: see `options`

    if not _layout_is_known():
        raise EngineError("engine='native' does not know how this version of NumPy lays out arrays: use engine='numpy'")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in ("PyErr_CheckSignals", "PyEval_SaveThread", "PyEval_RestoreThread"):
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    return llvm


def _layout_is_known() -> bool:
    """Whether arrays are where `emitter` looks for them: data, lengths and strides at 16, 32 and 40 of the object."""
    array = np.zeros((3, 5), np.int16)
    words = (ctypes.c_int64 * 6).from_address(id(array))
    lengths, strides = ((ctypes.c_int64 * 2).from_address(words[place]) for place in (4, 5))
    return words[2] == array.ctypes.data and (*lengths, *strides) == (*array.shape, *array.strides)


class _Machine:
    """This computer."""

    def __init__(self) -> None:
        llvm = binding()
        features = llvm.get_host_cpu_features().flatten()
        self.target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), features=features, opt=2, jit=True
        )
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self.target)

    def optimised(self, text: str) -> Any:
        llvm = binding()
        module = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(self.target, options)
        builder.getModulePassManager().run(module, builder)
        return module


@cache
def machine() -> _Machine:
    return _Machine()


class Code:
    """Machine code of one function.

    Attributes:
        text: of which it was made.
        run: the function. It takes the address of the frame, and gives the number of the exit.
    """

    def __init__(self, text: str) -> None:
        with _lock:
            here = machine()
            name = f"ag{next(_numbers)}"
            self.text = text
            self._module = here.optimised(text.replace("@loop(", f"@{name}("))
            here.engine.add_module(self._module)
            here.engine.finalize_object()
            self.run: Callable[[Any], int] = _TYPE(here.engine.get_function_address(name))
        weakref.finalize(self, _forget, self._module).atexit = False

    @property
    def llvm(self) -> str:
        """What LLVM has made of the text."""
        return str(self._module)

    @property
    def asm(self) -> str:
        """The assembly."""
        return str(machine().target.emit_assembly(binding().parse_assembly(self.llvm)))


_TYPE = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)      # it keeps the GIL, and asks for exceptions


def _forget(module: Any) -> None:
    with _lock:
        machine().engine.remove_module(module)
