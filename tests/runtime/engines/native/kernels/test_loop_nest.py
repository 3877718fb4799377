"""Loop nests as plain values: what the builder describes, and that code depends on nothing but nest and schedule."""

import ctypes
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from autograph.runtime.engines.native.kernels.elementwise import key_of
from autograph.runtime.engines.native.kernels.kernel import kinds_of
from autograph.runtime.engines.native.kernels.loop_codegen import LoopCode
from autograph.runtime.engines.native.kernels.loop_nest import FrameLayout
from autograph.runtime.engines.native.kernels.nest_builder import build_nest
from autograph.runtime.engines.native.kernels.schedule import Each, few, in_order, strip_mine, vectorize
from autograph.runtime.engines.native.llvm.ir import Module
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.engines.native.llvm.target import machine
from tests.runtime.engines.native.kernels.test_fusion import native


def nest_of(function, *args):
    """The nest of the only kernel of a function, for arrays that are not taken as one row."""
    staged = native(function)
    staged(*args)
    (kernel,) = staged.traces[0].executable.native.kernels
    inputs = dict(zip(map(key_of, kernel.inputs), kinds_of(args, are_parts=True)[1:]))
    return build_nest(kernel.nodes, inputs | kernel.constants, kernel.outputs, args[0].ndim)


def text_of(nest, schedule):
    module = Module()
    LoopCode(module, nest).write(schedule)
    return printed(verified(module))


def run(nest, schedule, arrays, numbers):
    """Run the loops over arrays, outputs first."""
    frame, layout = np.zeros(nest.frame.slots, np.int64), nest.frame
    for place, array in enumerate(arrays):
        frame[place] = array.ctypes.data
        for axis in range(nest.depth):
            frame[layout.stride(place, axis)] = array.strides[axis]
    for axis, length in enumerate(arrays[0].shape):
        frame[layout.length(axis)] = length
    for number, value in enumerate(numbers):
        frame.view(float)[layout.single(number)] = value
    engine = machine().linked(machine().object(text_of(nest, schedule)))
    loop = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return loop(engine.get_function_address("loop"))(frame.ctypes.data, 0, len(arrays[0]))


def scaled(x, y):
    return x * 2.5 + y


@pytest.mark.parametrize("layout", [FrameLayout(1, 0, 0), FrameLayout(3, 2, 1), FrameLayout(2, 5, 3)])
def test_each_slot_of_the_frame_has_one_use(layout):
    slots = list(range(layout.streams))
    slots += map(layout.single, range(layout.numbers))
    slots += map(layout.length, range(layout.depth + 1))
    slots += [layout.stride(stream, axis) for stream in range(layout.streams) for axis in range(layout.depth)]
    slots += map(layout.step, range(layout.streams))
    assert slots == list(range(layout.slots))


def test_a_stage_ends_where_numpy_is_called():
    nest = nest_of(lambda x: np.sin(x * 2.0) + 1.0, np.ones((3, 4)))
    assert (nest.depth, len(nest.stages), len(nest.scratch)) == (1, 2, 2)
    ((call,), after) = nest.calls
    assert "sin" in call.loop.name and not after
    operand, result = call.places
    assert {operand, result} <= {*range(len(nest.streams), len(nest.streams) + len(nest.scratch))}


def test_a_nest_is_a_value():
    nest = nest_of(scaled, np.ones((3, 4)), np.ones((3, 4)))
    with pytest.raises(FrozenInstanceError):
        nest.direct = 1
    schedule = in_order(1, (Each(),))
    assert text_of(nest, schedule) == text_of(nest, schedule)


@pytest.mark.parametrize(
    "schedule",
    [
        in_order(1, (Each(),)),
        in_order(1, few((Each(),))),
        strip_mine(in_order(1, (Each(),)), 4),
        vectorize(in_order(1, (Each(),)), [8, 4]),
    ],
)
def test_each_schedule_gives_the_same(schedule):
    x, y = np.random.default_rng(0).normal(size=(2, 5, 11))
    for each in (x, x[:, :3], x[:1, :9]):
        other, found = y[: len(each), : each.shape[1]], np.full((7, 13), np.nan)
        nest, out = nest_of(scaled, each, other), found[: len(each), : each.shape[1]]
        assert run(nest, schedule, [out, each, other], [2.5]) == 0
        assert out.tobytes() == scaled(each, other).tobytes()
        out[...] = np.nan
        assert np.isnan(found).all()
