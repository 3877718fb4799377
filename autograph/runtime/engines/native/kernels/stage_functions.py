"""The functions of the innermost loops: a stage of a nest, for elements side by side, or for several rows at once."""

from __future__ import annotations

from autograph.runtime.engines.native.kernels.inner_loop import Stage, jammed
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.schedule import Each
from autograph.runtime.engines.native.llvm.ir import PTR, Function, Metadata, Module, Parameter, loop_hints

FEW = loop_hints(unroll_disable=True, vectorize_enable=False)      # iterations, or of vectors already
ONCE = loop_hints(unroll_disable=True)      # just as many iterations as a vector has, which are not to be written out


def stage_function(module: Module, nest: Nest, each: Each) -> Function:
    """The function of an innermost loop."""
    kind = "_jammed" * (each.rows > 1) + "_vector" * bool(each.width) + "_few" * each.few
    name = f"{nest.name}{'copy' if each.stage is None else f'row{each.stage}'}{kind}"
    if name in module.functions:
        return module.functions[name]
    stage, hints = _copying(nest) if each.stage is None else nest.stages[each.stage], _hints(nest, each)
    attributes, outs, count = "noinline" if hints is None else "alwaysinline", len(nest.dtypes), len(nest.streams)
    if each.rows == 1:
        alone = [place < outs or place >= count for place in range(count + len(nest.scratch))]
        pointers = [_pointer(f"s{place}", own) for place, own in enumerate(alone)]
        return stage.define(module, name, pointers, attributes, hints)
    every = {row: _pointer(f"b{number}", row[0] < outs) for number, row in enumerate(nest.rows(each.rows))}
    rows = [[(every[leader, at], by) for leader, at, by in nest.neighbors(row)] for row in range(each.rows)]
    return jammed(module, stage, name, list(every.values()), rows, attributes, ONCE)


def _pointer(name: str, alone: bool) -> Parameter:
    return Parameter(name, PTR, "noalias" * alone)


def _hints(nest: Nest, each: Each) -> Metadata | None:
    if each.few:
        return FEW
    if not each.width:
        return None
    return ONCE if nest.reduction is None else loop_hints(unroll_disable=True, vectorize_width=each.width)


def _copying(nest: Nest) -> Stage:
    """The stage that copies what the first iteration begins with."""
    stage = Stage("copy")
    for place, out in nest.carried.items():
        stage.store(nest.dtypes[out], stage.load(nest.dtypes[out], place, True), out)
    return stage
