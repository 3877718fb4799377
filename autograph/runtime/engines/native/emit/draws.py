"""Random numbers, drawn from the state of Python's and NumPy's generators, where these have it.

The code holds the GIL. So it may use the state of a `random.Random` at any time; that of a generator of NumPy, if its
lock is free: a thread that fills an array with random numbers holds the lock, and not the GIL.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.common.cpython_internals import ITEMS, TAG_OFFSET, attribute_place, twister_tag
from autograph.common.numpy_internals import LOCKED, NEXT_DOUBLE, generator_layout, lock_class
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.libmath import mersenne_twister, numpy_draws, ziggurat
from autograph.runtime.engines.native.libmath.libm import is_pythons
from autograph.runtime.engines.native.llvm.attribute_lookups import among_values, replace
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.engines.native.llvm.ir import DOUBLE, I8, I32, I64, NULL, PTR, VOID, Value, constant
from autograph.runtime.engines.native.llvm.memory import store_number
from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.operands import Array, Given, NoLowering, Number
from autograph.runtime.graph.types import BOOL, FLOAT, INT, TensorType

_KEPT = sys.intern("gauss_next")    # the attribute of a `random.Random` that has the second of two numbers


class Tag(bytes):
    """A version tag, in the table of machine code."""


class Draws:
    """See `autograph.runtime.graph.operands.Draws`.

    Attributes:
        trusts: whether no code that runs meanwhile can hide methods of a `random.Random` by attributes of the object.
        trusted: the objects, or the places of inputs, that must have no such attributes.
    """

    def __init__(self, emit: Emitter) -> None:
        self.trusts = True
        self.trusted: list[Any] = []
        self._emit = emit

    def python(self, owner: Any, in_c: bool) -> Any:
        tag = twister_tag()
        thing, kind = self._object(owner)
        is_bound = in_c and owner is getattr(random.random, "__self__", None)   # whose method the op is
        if kind is not random.Random or not tag or not (is_bound or self.trusts):
            raise NoLowering
        if not is_bound:
            emit, objects = self._emit, self._emit.objects
            self.trusted.append(owner.input if isinstance(owner, Given) else owner)
            now = objects.load_at(I32, objects.address(random.Random), TAG_OFFSET)
            known = objects.load_at(I32, objects.address(self._known(tag)), ITEMS)
            emit.demand(emit.b.icmp("eq", now, known))
        return thing, None

    def _known(self, tag: int) -> Tag:
        """The tag as an object in the table."""
        known = Tag(tag.to_bytes(4, "little"))
        return next((each for each in self._emit.objects.things if type(each) is Tag and each == known), known)

    def numpy(self, owner: Any) -> Any:
        emit, objects = self._emit, self._emit.objects
        thing, kind = self._object(owner)
        layout, lock_kind = generator_layout(kind), lock_class()
        if layout is None or lock_kind is None:
            raise NoLowering
        lock = objects.load_at(PTR, thing, layout.lock)
        objects.demand_class(lock, lock_kind)
        emit.demand(emit.b.icmp("eq", objects.load_at(I8, lock, LOCKED), 0))
        return thing, layout

    def _object(self, owner: Any) -> tuple[Value, Any]:
        """The address of a generator, and its class."""
        owner = owner.value if isinstance(owner, Constant) else owner
        if isinstance(owner, Given):
            return owner.ref, owner.of
        if type(owner) not in (random.Random, np.random.Generator, np.random.RandomState):
            raise NoLowering
        return self._emit.objects.address(owner), type(owner)

    # Numbers ----------------------------------------------------------------------------------------------------------

    def double(self, state: Any) -> Number:
        b, (thing, layout) = self._emit.b, state
        if layout is None:
            return Number(FLOAT, b.call(mersenne_twister.double(b.function.module), thing))
        bits = b.gep(thing, layout.bits)
        function = b.load(PTR, b.gep(bits, NEXT_DOUBLE))
        return Number(FLOAT, b.emit(DOUBLE, "call", (function, b.load(PTR, bits))))

    def array(self, dtype: np.dtype[Any], lengths: Sequence[Number], draw: Callable[[], Number]) -> Array:
        emit, b = self._emit, self._emit.b
        made: Array = emit.make_array(dtype, lengths, zeros=False)
        data, count = emit.frame.fact(made, "data"), emit.constant(1, INT)
        for each in lengths:
            count = emit.integer("mul", count, each)
        with b.loop(0, count.ref) as loop:
            store_number(b, b.gep(data, loop.index, llvm_type(dtype)), dtype, draw().ref)
        return made

    def below(self, state: Any, limit: Number) -> Number:
        b = self._emit.b
        found = Number(INT, b.call(mersenne_twister.below(b.function.module), state[0], limit.ref))
        self._emit.ranges.bound(found.ref, 0, self._emit.ranges.bounds(limit)[1] - 1)
        return found

    def bits(self, state: Any, count: Number) -> Number:
        b = self._emit.b
        found = Number(INT, b.call(mersenne_twister.bits(b.function.module), state[0], count.ref))
        self._emit.ranges.bound(found.ref, 0, 2 ** int(count.known or 63) - 1)
        return found

    def normal(self, state: Any) -> Number:
        b, (thing, layout) = self._emit.b, state
        if not (is_pythons("log") if layout is None else numpy_draws.gauss_is_known()):
            raise NoLowering
        module = b.function.module
        function = mersenne_twister.normal(module) if layout is None else numpy_draws.gauss(module, layout)
        return Number(FLOAT, b.call(function, thing))

    def gauss(self, state: Any) -> Number:
        """Python's methods make two numbers, and keep one as an attribute."""
        emit, b, objects, (thing, _) = self._emit, self._emit.b, self._emit.objects, state
        if not all(map(is_pythons, ("log", "sin", "cos"))):
            raise NoLowering
        none, (kept, keep) = objects.address(None), self._kept(thing)
        is_none = b.icmp("eq", kept, none)
        emit.demand(b.or_(is_none, objects.is_of_class(kept, float)))

        def take() -> Value:
            found = objects.value_of(kept, FLOAT)
            keep(none, False)
            return found

        def make() -> Value:
            found, other = mersenne_twister.two_normals(b, thing)
            keep(objects.number_object(other, FLOAT), True)
            return found

        return Number(FLOAT, b.if_else(is_none, make, take))

    def _kept(self, thing: Value) -> tuple[Value, Callable[[Value, bool], None]]:
        """The number that a generator keeps, borrowed, and what replaces it."""
        emit, b, objects = self._emit, self._emit.b, self._emit.objects
        name, place = objects.address(_KEPT), attribute_place(random.Random, _KEPT, "__setattr__")

        def set(new: Value, is_new: bool) -> None:
            objects.python("PyObject_SetAttr", thing, name, new)
            if is_new:
                objects.forget(new)

        def give_up() -> None:
            objects.python("PyErr_Clear")
            emit.jump(emit.leave())

        if place is None or place.slot:
            kept = objects.python("PyObject_GetAttr", thing, name)
            emit.stop_if(Number(BOOL, b.is_null(kept)), give_up)
            objects.forget(kept)    # the attribute still refers to it
            return kept, set
        owner = b.room(PTR)
        address = among_values(b, thing, name, place, owner)
        emit.demand(b.icmp("ne", address, NULL))
        kept, dict = b.load(PTR, address), b.load(PTR, owner)
        emit.demand(b.icmp("ne", kept, NULL))

        def put(new: Value, is_new: bool) -> None:
            replace(objects, (thing, name, address, dict), new, is_new, True)

        return kept, put

    def shuffle(self, state: Any, x: Array) -> None:
        place = self._emit.element(x, [self._emit.constant(0, INT)])
        self.shuffle_at(state, place, self._emit.length(x, 0), x.dtype.itemsize)

    def shuffle_at(self, state: Any, data: Value, count: Number, size: int) -> None:
        """Shuffle elements of `size` bytes at an address."""
        b, (thing, layout) = self._emit.b, state
        if layout is None:
            b.call(mersenne_twister.shuffle(b.function.module, size), thing, data, count.ref)
            return
        if not all(map(numpy_draws.shuffles, (np.random.Generator, np.random.RandomState))):
            raise NoLowering
        b.call(numpy_draws.shuffle(b.function.module, size), b.gep(thing, layout.bits), data, count.ref)

    def distribution(self, state: Any, name: str, type: TensorType, *args: Number) -> Number:
        b, (thing, layout) = self._emit.b, state
        function = numpy_draws.distribution(name, len(args))
        if not function:
            raise NoLowering
        bits = b.gep(thing, layout.bits)
        if name in ("standard_normal", "normal") and ziggurat.is_known():
            normal = ziggurat.normal(b.function.module, numpy_draws.distribution("standard_normal", 0))
            found = Number(FLOAT, b.call(normal, bits))
            if not args:
                return found
            return self._emit.floating("add", args[0], self._emit.floating("mul", args[1], found))
        return Number(type, b.call_outside(function, llvm_type(type.dtype), bits, *(arg.ref for arg in args)))

    def bounded(self, state: Any, low: Number, span: Number, masked: bool) -> Number:
        emit, b, (thing, layout) = self._emit, self._emit.b, state
        function, found = numpy_draws.bounded(), emit.cells.place("drawn", I64)
        if not function:
            raise NoLowering
        more = constant(I64, 1), constant(I32, int(masked)), found
        b.call_outside(function, VOID, b.gep(thing, layout.bits), low.ref, span.ref, *more)
        return Number(INT, b.load(I64, found))
