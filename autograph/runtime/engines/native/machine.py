"""LLVM, by way of `llvmlite`: text to machine code, or to what the cache has of it.

LLVM's functions are called without the GIL, as `ctypes` calls them, and one at a time: `llvmlite` has a lock. So other
threads run meanwhile, and several may make code.
"""

from __future__ import annotations

import ctypes
import pkgutil
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

import numpy as np

from autograph import disk
from autograph.errors import EngineError
from autograph.runtime.engines.native.haste import Haste
from autograph.runtime.engines.native.objects import addresses, layout_is_known
from autograph.runtime.graph import Place, checks_graphs


@cache
def binding() -> Any:
    """The module `llvmlite.binding`.

    Raises:
        EngineError: machine code would not find its way about NumPy's arrays.
    """
    import llvmlite.binding as llvm  # only now, for it need not be installed: see `options`

    if not layout_is_known():
        raise EngineError("engine='native' does not know this build of Python or NumPy: use engine='numpy'")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, place in addresses().items():
        llvm.add_symbol(name, place)
    for char in "fd":
        if address := matmul_loop(char):
            llvm.add_symbol(f"ag_matmul_{char}", address)
    return llvm


@cache
def matmul_loop(char: str) -> int | None:
    """The address of the loop of `np.matmul` for a dtype, if it is where it should be."""
    ufunc, types = np.matmul, [each.replace("->", "") for each in np.matmul.types]
    counts = (ctypes.c_int * 3).from_address(id(ufunc) + 16)
    if tuple(counts) != (2, 1, 3) or ctypes.c_int.from_address(id(ufunc) + 48).value != len(types):
        return None
    loops, names = (ctypes.c_void_p.from_address(id(ufunc) + place).value for place in (32, 64))
    numbers = bytes(np.dtype(each).num for each in "".join(types))
    if loops is None or names is None or ctypes.string_at(names, len(numbers)) != numbers:
        return None
    address = ctypes.c_void_p.from_address(loops + 8 * types.index(3 * char)).value
    return None if address is None else int(address)


class _Machine:
    """This computer.

    Attributes:
        traits: what code depends on besides its text: the CPU, the version of LLVM, and what is done here.
    """

    def __init__(self) -> None:
        llvm = binding()
        from llvmlite import __version__

        self._triple = llvm.get_default_triple()
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        target = llvm.Target.from_triple(self._triple)
        self.target = target.create_target_machine(cpu=cpu, features=features, opt=2, jit=True)
        self._quick = target.create_target_machine(cpu=cpu, features=features, opt=0, jit=True)
        own = disk.key_of(_source())
        self.traits = (self._triple, cpu, features, __version__, str(llvm.llvm_version_info), own)

    def object(self, text: str, branchy: bool = False, hasty: bool = False) -> bytes:
        """The object code of a text.

        Args:
            hasty: whether it is hardly worth the time to compile it.
        """
        if hasty:
            code: bytes = self._quick.emit_object(_parsed(text))
        else:
            code = self.target.emit_object(self.optimised(text, branchy))
        return code

    def linked(self, code: bytes) -> Any:
        """An engine that has the functions of some object code, as long as it is alive."""
        llvm = binding()
        target = llvm.Target.from_triple(self._triple).create_target_machine(opt=0, jit=True)   # it makes no code
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self.add(engine, code)
        return engine

    def add(self, engine: Any, code: bytes) -> None:
        """Let an engine have the functions of some more object code, which may call those that it has."""
        engine.add_object_file(binding().ObjectFileRef.from_data(code))

    def optimised(self, text: str, branchy: bool = False) -> Any:
        """The module of a text, after LLVM's passes.

        Args:
            branchy: whether there are too many branches to vectorise it. Then half of the passes do, in half the time.
        """
        llvm = binding()
        module = _parsed(text)
        options = llvm.create_pipeline_tuning_options(speed_level=1 if branchy else 2)
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(self.target, options)
        passes = builder.getFunctionPassManager() if branchy else builder.getModulePassManager()
        passes.run(module.get_function("loop") if branchy else module, builder)
        _free(passes)
        return module


def _parsed(text: str) -> Any:
    """The module of a text, which is looked at closely if graphs are."""
    module = binding().parse_assembly(text)
    if checks_graphs():
        module.verify()
    return module


@cache
def machine() -> _Machine:
    return _Machine()


def traits() -> tuple[str, ...]:
    """What code depends on besides its text, see `_Machine`."""
    return machine().traits


@cache
def vectors() -> tuple[int, int] | None:
    """How many bytes a vector has, and how many registers there are for such; if it multiplies and adds in one."""
    has = binding().get_host_cpu_features()
    if has.get("avx512f"):
        return 64, 32
    return (32, 16) if has.get("avx2") and has.get("fma") else (16, 32) if has.get("neon") else None


def get_ready() -> None:
    """Load LLVM. If that cannot be done, `compile` says why."""
    with suppress(EngineError, ImportError, OSError):
        machine()


def _free(passes: Any) -> None:
    """Free passes. Left to itself `llvmlite` does not, up to 0.50: both kinds inherit the wrong `_dispose`."""
    for kind in type(passes).__mro__:
        if "_dispose" in vars(kind) and kind.__name__ != "ObjectRef":
            passes._dispose = partial(vars(kind)["_dispose"], passes)
    passes.close()


def _source() -> str:
    """The text of this file."""
    try:
        return (pkgutil.get_data(__package__, "machine.py") or b"").decode()
    except OSError:     # there is only what Python has compiled of it
        return ""


class Code:
    """Machine code of one function.

    Attributes:
        text: of which it was made.
        origins: the places in the user's code that stand in it, see `memory.Origin`.
        branchy: whether no loop in it can be vectorised.
        cached: whether it was on disk.
        haste: what it was compiled of in haste, and goes on with, if it was.
        run: the function `loop` of it. It takes the addresses of frame and table, and gives the number of the exit.
        part: the same function, where it is one over a part of arrays; see `nest`.
        entry: the address of its function `entry`; 0 if there is none yet.
    """

    def __init__(
        self,
        text: str,
        branchy: bool = False,
        origins: Sequence[Place] = (),
        haste: Haste | None = None,
        found: bytes | None = None,
    ) -> None:
        """
        Args:
            haste: of what to compile it in haste, unless there is good code on disk.
            found: good code from there, if somebody has looked already.
        """
        here = machine()
        self.text = text
        self.origins = origins
        self.branchy = branchy
        code = found if found is not None or haste is None else disk.load(_key(text, str(branchy)))
        self.haste = haste if code is None else None
        self._others: list[Any] = []
        if code is not None:
            self.cached = True
        elif haste is not None:
            code, self.cached = _kept(haste.text, hasty=True)
        else:
            code, self.cached = _kept(text, branchy)
        self._engine = here.linked(code)
        self.run: Callable[[int, int], int] = _TYPE(self._engine.get_function_address("loop"))
        self.part: Callable[[int, int, int], int] = _PART(self._engine.get_function_address("loop"))
        self.entry: int = self._engine.get_function_address("entry")

    @staticmethod
    def on_disk(text: str, branchy: bool, origins: Sequence[Place]) -> Code | None:
        """Good code of a text, if it is on disk."""
        found = disk.load(_key(text, str(branchy)))
        return None if found is None else Code(text, branchy, origins, found=found)

    def go_on(self, number: int) -> Callable[[int, int], int]:
        """The function that goes on where code in haste has stopped."""
        assert self.haste is not None
        code, _ = _kept(self.haste.resumed(number), self.branchy)
        self._others.append(machine().linked(code))
        return _TYPE(self._others[-1].get_function_address("loop"))

    def enter(self, text: str) -> int:
        """Compile a function `entry` that calls this one. Gives its address."""
        here = machine()
        text = f"declare i64 @loop(ptr, ptr)\n{text}"
        code, _ = _kept(text, hasty=True)
        here.add(self._engine, code)
        self.entry = self._engine.get_function_address("entry")
        return self.entry

    @property
    def llvm(self) -> str:
        """What LLVM has made of the text."""
        return str(machine().optimised(self.text, self.branchy))

    @property
    def asm(self) -> str:
        """The assembly."""
        here = machine()
        return str(here.target.emit_assembly(here.optimised(self.text, self.branchy)))


_DECLARED = re.compile(r"\ndeclare .*?@([\w.]+)\(")


def calls_none_but(text: str, names: Collection[str]) -> bool:
    """Whether a text refers to nothing outside but these functions, LLVM's own, and those that look at flags."""
    declared = _DECLARED.findall(f"\n{text}")
    known = {*names, "fetestexcept", "feclearexcept"}
    return "external global" not in text and all(name in known or name.startswith("llvm.") for name in declared)


def _key(text: str, how: str) -> str:
    """The name on disk for the object code of a text."""
    return disk.key_of(text, how, *machine().traits)


def _kept(text: str, branchy: bool = False, hasty: bool = False) -> tuple[bytes, bool]:
    """The object code of a text, and whether it was on disk."""
    key = _key(text, "hasty" if hasty else str(branchy))
    code = disk.load(key)
    if code is not None:
        return code, True
    code = machine().object(text, branchy, hasty)
    disk.save(key, code)
    return code, False


# It keeps the GIL, and asks for exceptions.
_TYPE = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_PART = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)      # it lets others run
