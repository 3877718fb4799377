"""The target machine, and LLVM by way of `llvmlite`: from assembly to object code.

`ctypes` releases the GIL while LLVM runs, and `llvmlite` has a lock. So other threads run meanwhile, and several may
compile.
"""

from __future__ import annotations

import os
import pkgutil
import re
from contextlib import suppress
from functools import cache, partial
from typing import Any

from autograph.common import cpython_internals, disk_cache, numpy_internals
from autograph.errors import EngineError
from autograph.runtime.engines.native.llvm.cpython_abi import addresses
from autograph.runtime.graph.graph import checks_graphs


@cache
def binding() -> Any:
    """The module `llvmlite.binding`.

    Raises:
        EngineError: llvmlite cannot be loaded, or the layouts of Python's and NumPy's objects are unknown.
    """
    try:
        import llvmlite.binding as llvm  # only now, since it is optional: see `options`
    except (ImportError, OSError) as error:
        raise EngineError(f"engine='native' cannot load llvmlite ({error}): install it anew, or use engine='numpy'") \
            from error
    if problem := cpython_internals.LAYOUT_PROBLEM or numpy_internals.LAYOUT_PROBLEM:
        raise EngineError(
            f"engine='native' does not know this build of Python or NumPy ({problem}): use engine='numpy'"
        )
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name, place in addresses().items():
        llvm.add_symbol(name, place)
    for char in "bhilBHILfdFD":
        if address := numpy_internals.matmul_loop(char):
            llvm.add_symbol(f"ag_matmul_{char}", address)
    return llvm


class _Machine:
    """This computer.

    Attributes:
        traits: what object code depends on besides its text: the CPU, the version of LLVM, and this module.
    """

    def __init__(self) -> None:
        llvm = binding()
        from llvmlite import __version__

        self._triple = llvm.get_default_triple()
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        target = llvm.Target.from_triple(self._triple)
        self.target = target.create_target_machine(cpu=cpu, features=features, opt=2, jit=True)
        self._quick = target.create_target_machine(cpu=cpu, features=features, opt=0, jit=True)
        own = disk_cache.key_of(_source())
        self.traits = (self._triple, cpu, features, __version__, str(llvm.llvm_version_info), own)

    def object(self, text: str, branchy: bool = False, baseline: bool = False) -> bytes:
        """The object code of a text.

        Args:
            baseline: whether to compile without optimization.
        """
        if baseline:
            code: bytes = self._quick.emit_object(_parsed(text))
        else:
            code = self.target.emit_object(self.optimized(text, branchy))
        return code

    def linked(self, code: bytes) -> Any:
        """An execution engine with the functions of some object code; it owns their memory."""
        llvm = binding()
        target = llvm.Target.from_triple(self._triple).create_target_machine(opt=0, jit=True)   # it only links
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self.add(engine, code)
        return engine

    def add(self, engine: Any, code: bytes) -> None:
        """Link more object code into an execution engine."""
        engine.add_object_file(binding().ObjectFileRef.from_data(code))

    def optimized(self, text: str, branchy: bool = False) -> Any:
        """The module of a text, after LLVM's passes.

        Args:
            branchy: whether there are too many branches to vectorize it. Then half of the passes suffice.
        """
        llvm = binding()
        module = _parsed(text)
        options = llvm.create_pipeline_tuning_options(speed_level=1 if branchy else 2)
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(self.target, options)
        if branchy:     # passes of functions inline nothing
            inline = llvm.create_new_module_pass_manager()
            inline.add_always_inliner_pass()
            inline.run(module, builder)
            _free(inline)
        passes = builder.getFunctionPassManager() if branchy else builder.getModulePassManager()
        for each in _own_functions(module) if branchy else [module]:
            passes.run(each, builder)
        _free(passes)
        return module


def _own_functions(module: Any) -> list[Any]:
    """The functions of a module that are made of the graph."""
    return [each for each in module.functions if each.name in ("loop", "level") and not each.is_declaration]


def _parsed(text: str) -> Any:
    """The module of a text, verified if graphs are."""
    module = binding().parse_assembly(text)
    if checks_graphs():
        module.verify()
    return module


_OUTSIDE = re.compile(r"^declare [^@]*@(?!llvm\.)([\w.]+)|^@([\w.]+) = external", re.MULTILINE)


def names_outside(text: str) -> set[str]:
    """The external names of a text, without LLVM's intrinsics."""
    return {function or other for function, other in _OUTSIDE.findall(text)}


@cache
def machine() -> _Machine:
    return _Machine()


def traits() -> tuple[str, ...]:
    """The properties of the machine on which object code depends, see `_Machine`."""
    return machine().traits


def object_key(text: str, how: str) -> str:
    """The name on disk for the object code of a text."""
    return disk_cache.key_of(text, how, *machine().traits)


def cached_object(text: str, branchy: bool = False, baseline: bool = False) -> tuple[bytes, bool, str]:
    """The object code of a text, whether it was on disk, and why it cannot be saved there."""
    key = object_key(text, "baseline" if baseline else str(branchy))
    code = disk_cache.load(key)
    if code is not None:
        return code, True, ""
    code = machine().object(text, branchy, baseline)
    return code, False, disk_cache.save(key, code)


@cache
def has_feature(name: str) -> bool:
    """Whether the processor has a feature, by LLVM's name, such as `fma`."""
    return bool(binding().get_host_cpu_features().get(name))


@cache
def vectors() -> tuple[int, int] | None:
    """The bytes of a vector register, and the number of these; None without fused multiply-add."""
    if has_feature("avx512f"):
        return 64, 32
    return (32, 16) if has_feature("avx2") and has_feature("fma") else (16, 32) if has_feature("neon") else None


def get_ready() -> None:
    """Load LLVM. If that fails, `compile` raises the error."""
    with suppress(EngineError):
        machine()


def _free(passes: Any) -> None:
    """Free passes. Up to version 0.50 `llvmlite` does not: both kinds inherit the wrong `_dispose`."""
    for kind in type(passes).__mro__:
        if "_dispose" in vars(kind) and kind.__name__ != "ObjectRef":
            passes._dispose = partial(vars(kind)["_dispose"], passes)
    passes.close()


def _source() -> bytes:
    """The file of this module."""
    return pkgutil.get_data(__package__, os.path.basename(__file__)) or b""
