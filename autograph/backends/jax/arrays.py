"""Arrays that programs may change in place, for JAX, whose arrays cannot change: a trace with tracers of its own.

An `ArrayTracer` is one array of the program, for its whole life. It holds the value that the array has now, a tracer
or array of the trace below. `x[i] = v` gives it another value, so all that refer to the array see the change: other
variables, callers, lists and objects. All operations of JAX come through `ArrayTrace.process_primitive`, which reads
the values and hands the operation to the trace below (a *functionalization*, as in `torch.func.functionalize`).

A part of an array, as `m[i]` or `m.T`, is a view, as in NumPy: it computes its value from the array that it is a part
of, and a store into it is a store into that array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core

from autograph.backends.jax import devices, masked, stores, views
from autograph.backends.jax.lines import here, mark, noting, place, refuse_text
from autograph.backends.jax.undo_log import Iterators, UndoLog
from autograph.errors import StagingError


class Doubtful(StagingError):
    """The program reads an array whose value is not known while it is traced."""


class Absent(NamedTuple):
    """That an array may be missing in the program, because a variable is unbound or None on some paths.

    Attributes:
        flag: whether it is missing: a staged bool.
        value: None, or UNBOUND.
        name: of the variable.
    """

    flag: Any
    value: Any
    name: str


@noting
@views.taking_operands
class ArrayTracer(core.Tracer):  # type: ignore[misc]
    """An array of the program.

    Attributes:
        content: its value, of the trace below. Of a view, the value that it had when `seen` was the base's.
        part_of: what it is a part of; None for an array of its own.
        seen: the value of the root of its views from which `content` was computed.
        links: other arrays that are the same one where a flag of the trace below is true, as after `if c: a = b`.
        kin: other arrays that may be the same one, or a part of it.
        doubt: why its value is not known, if it is not; where a store into one of `kin` may have changed it.
        absent: set if the variable may be unbound, or None.
        in_c_order: whether the elements of an array of its own lie in C order, as far as known.
        layout_from: of a view: the layout of its base → its own.
        stale: the line of an `x += …` that changes this array in NumPy, and not in JAX.
        augments: of the result of such an `x += …`: the array that NumPy changes, and what its `stale` was before.
        number: counts the arrays of a trace, so that those made in a body are known.
        own_aval: its type where it was made.
    """

    __slots__ = (
        "absent", "augments", "content", "doubt", "in_c_order", "kin", "layout_from", "links", "number", "own_aval",
        "part_of", "seen", "stale",
    )  # fmt: skip

    def __init__(
        self, trace: ArrayTrace, content: Any, view: views.View | None = None, seen: Any = None, aval: Any = None
    ) -> None:
        super().__init__(trace, aval or core.typeof(content))
        self.content = content
        self.part_of = view
        self.seen = seen
        self.kin: tuple[ArrayTracer, ...] = ()
        self.links: tuple[tuple[ArrayTracer, Any], ...] = ()
        self.doubt: str | None = None
        self.absent: Absent | None = None
        self.in_c_order = True
        self.layout_from: Callable[[Any], Any] | None = None
        self.stale: tuple[Any, ...] | None = None
        self.augments: tuple[ArrayTracer, tuple[Any, ...] | None] | None = None
        self.number = trace.numbered()

    @property
    def aval(self) -> Any:
        """The type that it has in the body which is being traced, where it may vary over more devices."""
        return self.own_aval if not self._trace.axes else devices.varying_type(self.own_aval, self._trace.axes)

    @aval.setter
    def aval(self, aval: Any) -> None:
        self.own_aval = aval

    @property
    def root(self) -> ArrayTracer:
        """The array that a view is a part of, through views of views."""
        array = self
        while array.part_of is not None:
            array = array.part_of.base
        return array

    @property
    def layout(self) -> Any:
        """An array of NumPy with the same shape and strides, whose elements must not be read; None if not known."""
        if self.part_of is None:
            return views.layout_of_new(self.shape) if self.in_c_order or self.ndim < 2 else None
        base = self.part_of.base.layout
        return None if base is None or self.layout_from is None else self.layout_from(base)

    def to_concrete_value(self) -> Any:
        is_known = self.absent is None and self.doubt is None and self.root.doubt is None
        return core.to_concrete_value(self._trace.content_of(self)) if is_known else None

    def _short_repr(self) -> str:
        return f"Array<{self.aval}>"

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        concrete = self.to_concrete_value()
        return super().__array__(*args, **kwargs) if concrete is None else np.asarray(concrete, *args, **kwargs)

    def __float__(self) -> float:
        concrete = self.to_concrete_value()
        return super().__float__() if concrete is None else float(concrete)

    def __complex__(self) -> complex:
        concrete = self.to_concrete_value()
        return super().__complex__() if concrete is None else complex(concrete)

    def __format__(self, spec: str) -> str:
        return self._marked(lambda value: format(value, spec)) or super().__format__(spec)

    def __str__(self) -> str:
        return self._marked(str) or super().__str__()

    def __repr__(self) -> str:
        return self._marked(repr) or super().__repr__()

    def _marked(self, form: Callable[[Any], str]) -> str | None:
        """Return a mark for a text that is made of this array when the program runs, in converted code."""
        formats = self._trace.formats
        if formats is None:
            return refuse_text(self, form)
        formats.append((self, form))
        return mark(len(formats) - 1)

    # Parts ------------------------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        values, _ = self._trace.snapshot(index), self.doubt and self._trace.read(self)
        if masked.is_mask(values):
            return masked.Masked(self._trace.array(self._trace.read(self)), values)
        if not (self.ndim and views.is_basic(values)):
            return self._trace.own(super().__getitem__(values), self)
        part = self._trace.part(self, *stores.getter_and_putter(values))
        if not part.ndim and not views.has_ellipsis(values):
            return self._trace.own(part, part)
        part.layout_from = lambda layout: views.indexed(layout, values)
        return part

    def __setitem__(self, index: Any, value: Any) -> None:
        self._trace.store(self, self._trace.snapshot(index), value)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    @property
    def T(self) -> Any:
        return self.transpose()

    @property
    def mT(self) -> Any:
        return self._rearranged("matrix_transpose", (), {})

    @property
    def real(self) -> Any:
        return views.call(self._trace, jnp.real, (self,), {})

    @property
    def imag(self) -> Any:
        return views.call(self._trace, jnp.imag, (self,), {})

    def conj(self) -> Any:
        return self if self.dtype.kind != "c" else super().conj()

    conjugate = conj

    def transpose(self, *axes: Any) -> Any:
        return self._rearranged("transpose", axes and (axes if len(axes) > 1 else axes[0],), {})

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        return self._rearranged("swapaxes", (axis1, axis2), {})

    def squeeze(self, axis: Any = None) -> Any:
        return self._rearranged("squeeze", (axis,), {})

    def reshape(self, *args: Any, **options: Any) -> Any:
        return views.rearranged(self._trace, self, "reshape", args, options, lambda x: x.reshape(*args, **options))

    def ravel(self, order: str = "C", **options: Any) -> Any:
        return self._rearranged("ravel", (order,), options)

    def diagonal(self, *args: Any, **kwargs: Any) -> Any:
        return self._rearranged("diagonal", args, kwargs)

    def _rearranged(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A view with the elements, or some of them, in another order; a copy where NumPy copies."""
        return views.rearranged(self._trace, self, name, args, kwargs, lambda x: getattr(jnp, name)(x, *args, **kwargs))

    def flatten(self, order: str = "C") -> Any:
        return self._trace.own(super().flatten(order), self)

    def astype(self, dtype: Any, *args: Any, copy: bool = True, **kwargs: Any) -> Any:
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        return self._trace.own(super().astype(dtype, *args, **kwargs), self)

    def copy(self) -> Any:
        return self._trace.own(super().copy(), self)

    def __pos__(self) -> Any:
        return self._trace.own(super().__pos__(), self)

    def round(self, *args: Any, **kwargs: Any) -> Any:
        return self._trace.own(super().round(*args, **kwargs), self)

    def clip(self, *args: Any, **kwargs: Any) -> Any:
        return self._trace.own(super().clip(*args, **kwargs), self)

    def fill(self, value: Any) -> None:
        self[...] = value

    # `x += v` makes a new array, as in JAX ----------------------------------------------------------------------------

    def augmented(self, result: Any) -> Any:
        """Return the result of `self += …` and the like."""
        if self.ndim and type(result) is ArrayTracer:
            root = self.root
            result.augments = root, root.stale
            root.stale = place() or ("", 0)
        return result

    # NumPy's functions are JAX's --------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return views.of_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        theirs = views.of_jax(function)
        if theirs is None:
            raise views.unknown(function.__name__)
        out = kwargs.pop("out", None) if isinstance(kwargs.get("out"), core.Tracer) else None
        result = views.call(self._trace, theirs, args, kwargs)
        return result if out is None else views.into((out,), result)


def _define_augmented(name: str) -> None:
    function = getattr(operator, name)
    setattr(ArrayTracer, f"__i{name.strip('_')}__", lambda self, other: self.augmented(function(self, other)))


for _name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split():
    _define_augmented(_name)


def is_array(value: Any) -> bool:
    """Whether a value is an array of JAX, traced or not."""
    return isinstance(value, jax.Array)


def is_number(value: Any) -> bool:
    """Whether a value is one that JAX computes with: a number, a bool, or an array of these."""
    if isinstance(value, (bool, int, float, complex, jax.Array)):
        return True
    return isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biufcV" and value.dtype.names is None


class ArrayTrace(core.Trace):  # type: ignore[misc]
    """The trace of a call of a function of `ag.convert`.

    Attributes:
        parent_trace: the trace below. While the body of a construct is traced, it is the trace of that body.
        undo_log: the changes of the innermost body that is being traced, so far.
        count, callbacks: how many arrays, and callbacks, there are.
        depth: how many bodies are being traced, one in the other.
        shared: by identity, the containers and objects that may be others, so that they must not change.
        stored: the first line that stores into an array.
        read_stale: a line with an `x += …` of which the old array was read later.
        notes: for each construct that was staged: file, line, construct, decision and reason.
        formats: the arrays that a text is being made of, with the functions that format them; else None.
        path: the staged conditions of the bodies that are being traced, each with its value there.
        computed: the views whose values were computed in the innermost body; they are not known behind it.
        bodies: these bodies.
        axes: those of devices over which all values vary, since the conditions of the bodies do.
        iterators: those that may not go on.
    """

    def __init__(self, parent: Any) -> None:
        super().__init__()
        self.parent_trace, self._weakref = parent, parent._weakref      # flax.nnx knows a trace by the latter
        self.requires_low = False
        self.undo_log = UndoLog()
        self.count = self.depth = self.callbacks = 0
        self.shared: dict[int, Any] = {}
        self.stored: tuple[Any, ...] = ()
        self.read_stale: tuple[Any, ...] | None = None
        self.notes: list[tuple[str, int, str, str, str]] = []
        self.formats: list[tuple[Any, Callable[[Any], str]]] | None = None
        self.path: tuple[tuple[Any, bool], ...] = ()
        self.computed: list[ArrayTracer] = []
        self.bodies: tuple[devices.Body, ...] = ()
        self.axes = devices.NONE
        self.iterators = Iterators()

    def note(self, construct: str, decision: str, reason: str) -> None:
        """Note how a construct is staged, and why, for `explain`."""
        self.notes.append((*(place() or ("", 0)), construct, decision, reason))

    def note_callback(self) -> None:
        """Note that there is one more callback, or check in its place."""
        self.callbacks += 1

    # What JAX asks ----------------------------------------------------------------------------------------------------

    def stage_value(self, val: Any) -> Any:
        return self.array(self.parent_trace.stage_value(self.read(val)))

    def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
        values = tuple(map(self.read, tracers))
        if self.axes and primitive is core.pvary_p:     # what was entered varies already
            return self.array(devices.varying(devices.entered(self, values[0]), frozenset(params["axes"])))
        avals = tuple(map(core.typeof, values))
        results = primitive.bind_with_trace(self.parent_trace, values, avals, params)
        results = self._wrapped(views.as_python(self, primitive, avals, results))
        if any(type(each) is ArrayTracer and each.ndim > 1 and not views.is_in_c_order(each) for each in tracers):
            for each in results if isinstance(results, list) else [results]:
                if type(each) is ArrayTracer:
                    each.in_c_order = False
        return results

    def process_call(self, primitive: Any, fun: Any, tracers: Any, params: Any, /) -> Any:
        return self._wrapped(self.parent_trace.process_call(primitive, fun, tuple(map(self.read, tracers)), params))

    def process_custom_jvp_call(self, primitive: Any, fun: Any, jvp: Any, tracers: Any, /, **params: Any) -> Any:
        values = tuple(map(self.read, tracers))
        return self._wrapped(self.parent_trace.process_custom_jvp_call(primitive, fun, jvp, values, **params))

    def process_custom_vjp_call(
        self, primitive: Any, fun: Any, fwd: Any, bwd: Any, tracers: Any, /, **params: Any
    ) -> Any:
        values = tuple(map(self.read, tracers))
        return self._wrapped(self.parent_trace.process_custom_vjp_call(primitive, fun, fwd, bwd, values, **params))

    def process_shard_map(self, primitive: Any, fun: Any, args: Any, **params: Any) -> Any:
        results = self.parent_trace.process_shard_map(primitive, fun, list(map(self.read, args)), **params)
        return results.map(self.array) if hasattr(results, "map") else self._wrapped(results)

    def cur_qdd(self, x: Any) -> Any:
        with core.set_current_trace(self.parent_trace):
            return core.cur_qdd(self.read(x))

    def _wrapped(self, results: Any) -> Any:
        return list(map(self.array, results)) if isinstance(results, (list, tuple)) else self.array(results)

    # Arrays -----------------------------------------------------------------------------------------------------------

    def array(self, value: Any) -> Any:
        """Return a new array of the program with a value of the trace below."""
        if not isinstance(core.typeof(value), core.ShapedArray):
            return value        # a reference, token or the like
        return ArrayTracer(self, value)

    def read(self, value: Any) -> Any:
        """Return the value that an array of the program has now; other values as they are.

        Raises:
            StagingError: it is not known.
        """
        if type(value) is not ArrayTracer or value._trace is not self:
            return value
        return devices.entered(self, self.content_of(value))

    def content_of(self, value: ArrayTracer) -> Any:
        """Return the value that an array has now, which may be one from before the body that is being traced."""
        root = value.root
        if root.doubt or value.doubt:
            raise Doubtful(f"this line reads an array that may have changed: {root.doubt or value.doubt}", *place())
        if value.absent:
            self.check_present(value)
        if root.stale:
            self.read_stale = root.stale
            self.check_stale()
        if value.part_of is not None and value.seen is not root.content:
            base = self.read(value.part_of.base)
            with core.set_current_trace(self.parent_trace):
                value.content, value.seen = value.part_of.get(base), root.content
            self.computed.append(value)
        return value.content

    def check_present(self, array: ArrayTracer, free: bool = False) -> None:
        """Let the program fail where it reads a variable that is unbound, or None; the backend says how."""
        raise NotImplementedError

    def check_stale(self) -> None:
        """Refuse programs that JAX and NumPy understand in different ways.

        JAX's `x += …` makes a new array, NumPy's changes the old one, which other variables may hold. Programs that
        store into items run on NumPy's arrays only.

        Raises:
            Doubtful: the program does both.
        """
        if self.stored and self.read_stale:
            stored, augmented = (f"line {line[1]}" if line else "a line" for line in (self.stored, self.read_stale))
            raise Doubtful(
                f"{augmented} has `x += …` or the like for an array that is read again later, under another name or as "
                f"a part of one. In NumPy this changes the array, in JAX it does not; and {stored} stores into an "
                "array, as only NumPy can. Write `x = x + …` for a new array, or `x[...] += …` to change it", *place()
            )

    def write(self, array: ArrayTracer, value: Any) -> None:
        """Give an array another value."""
        if (view := array.part_of) is not None:
            base = self.read(view.base)
            assert view.put is not None, "a read-only view"
            with core.set_current_trace(self.parent_trace):
                self.write(view.base, view.put(base, value))
            return
        self.undo_log.log(array)
        array.content, array.aval = value, core.typeof(value)

    def store(self, array: ArrayTracer, index: Any, value: Any) -> None:
        """`array[index] = value`."""
        views.check_writable(array)
        if type(value) is ArrayTracer and value.augments is not None and value.augments[0] is array.root:
            array.root.stale = value.augments[1]    # the second half of `array[index] += …`
        self.stored = self.stored or place() or ("", 0)
        self.check_stale()
        if type(value) is masked.Masked:
            value = value.of_mask(index)
        elif masked.is_mask(index):
            masked.check_fits(array, index, value)
        old, new = self.read(array), self.read(value)
        if np.iscomplexobj(new) and not np.iscomplexobj(old):
            raise TypeError("float() argument must be a string or a real number, not 'complex'")
        with core.set_current_trace(self.parent_trace):
            new = jnp.asarray(new).astype(old.dtype)
            if masked.is_mask(index):
                value = jnp.where(masked.spread(index, old.ndim), new, old)
            else:
                value = stores.stored(old, index, new)
        self.write(array, value)
        self._store_through(array.root)

    def _store_through(self, array: ArrayTracer) -> None:
        """Let the arrays that are, or may be, the same one as an array that was stored into, change as well."""
        for other, same in array.links:
            with core.set_current_trace(self.parent_trace):
                content = jnp.where(same, array.content, other.content)
            self.write(other, content)
        for one in (array, *(other for other, _ in array.links)):
            for other in one.kin:
                if other.root is not array:
                    self.undo_log.log(other.root)
                    other.root.doubt = f"{self._line()} stores into what may be the same one. Copy one: `y = x.copy()`"

    def log(self, thing: Any) -> None:
        """Note that the program is about to change an object.

        Raises:
            StagingError: it may be one of two objects.
        """
        if id(thing) in self.shared:
            raise here("this line changes a {0} that may be another {0}, as after `if c: a = b`. Change it before, or "
                       "make a new {0}".format(type(thing).__name__))
        self.undo_log.log(thing)

    def link(self, new: ArrayTracer, old: ArrayTracer, same: Any) -> None:
        """Let a new array be an old one where a flag of the trace below is true; and so those that the old one is."""
        known = {id(array): (array, flag) for array, flag in new.links}
        with core.set_current_trace(self.parent_trace):
            more = [(old, same), *((array, flag & same) for array, flag in old.links if array is not new)]
            for array, flag in more:
                known[id(array)] = array, known[id(array)][1] | flag if id(array) in known else flag
        self.undo_log.log(new)
        new.links = tuple(known.values())
        for array, _ in more:
            self.undo_log.log(array)
            others = tuple(link for link in array.links if link[0] is not new)
            array.links = (*others, (new, known[id(array)][1]))

    def relate(self, one: ArrayTracer, other: ArrayTracer) -> None:
        """Note that two arrays may be one, or the one a part of the other."""
        if one.root is other.root:
            return
        for array, new in ((one.root, other), (other.root, one)):
            if not any(each is new for each in array.kin):
                self.undo_log.log(array)
                array.kin = (*array.kin, new)

    def _line(self) -> str:
        found = place()
        return f"line {found[1]}" if found else "another line"

    def part(
        self, base: ArrayTracer, get: Callable[[Any], Any], put: Callable[[Any, Any], Any] | None
    ) -> ArrayTracer:
        """Return a view of an array."""
        value = self.read(base)
        with core.set_current_trace(self.parent_trace):
            content = get(value)
        return ArrayTracer(self, content, views.View(base, get, put), base.root.content)

    def row(self, base: ArrayTracer, index: Any, content: Any = None) -> ArrayTracer:
        """Return `base[index]`, for an index of the trace below.

        Args:
            content: its value, if it is known, as long as `base` is not changed.
        """
        aval = core.mapped_aval(base.shape[0], 0, base.aval) if content is None else core.typeof(content)
        seen = None if content is None else base.root.content
        return ArrayTracer(self, content, views.View(base, *stores.getter_and_putter(index)), seen, aval)

    def own(self, result: Any, *arguments: ArrayTracer) -> Any:
        """Return the result of an operation that is a new array in NumPy, where JAX may return its argument."""
        return self.array(self.read(result)) if any(result is each for each in arguments) else result

    def snapshot(self, index: Any) -> Any:
        """Return an index with the values that its arrays have now."""
        if isinstance(index, tuple):
            return tuple(map(self.snapshot, index))
        if isinstance(index, list):
            has_arrays = any(map(is_array, index))
            return self.read(jnp.asarray(index)) if has_arrays else np.asarray(index, None if index else int)
        if isinstance(index, slice):
            parts = [self.read(part) for part in (index.start, index.stop, index.step)]
            return slice(*parts)
        return self.read(index)

    def numbered(self) -> int:
        """Return the number of a new array."""
        self.count += 1
        return self.count

    def reach(self, condition: Any, value: bool) -> None:
        """Note that the body which is being traced runs where a staged condition has a value."""
        self.path = (*self.path, (condition, value))

    @contextmanager
    def formatting(self) -> Iterator[list[tuple[Any, Callable[[Any], str]]]]:
        """While it lasts, formatted arrays become marks in the text; yield the arrays, and what formats them."""
        before, self.formats = self.formats, []
        try:
            yield self.formats
        finally:
            self.formats = before

    @contextmanager
    def body(self, parent: Any, axes: devices.Axes) -> Iterator[None]:
        """While it lasts, operations go to another trace, that of the body of a construct; its changes are undone."""
        before = self.parent_trace, self.undo_log, self.path, self.computed, self.bodies, self.axes
        self.axes = self.axes | axes
        self.bodies = (*self.bodies, devices.Body(self.parent_trace, parent, self.axes))
        self.parent_trace, self.undo_log, self.computed = parent, UndoLog(), []
        self.depth += 1
        try:
            with core.set_current_trace(self):
                yield
        finally:
            self.undo_log.undo()
            for view in self.computed:
                view.seen = None
            self.depth -= 1
            self.parent_trace, self.undo_log, self.path, self.computed, self.bodies, self.axes = before


def current() -> ArrayTrace | None:
    """Return the trace of this module that JAX traces with in this thread, if any."""
    trace = core.trace_ctx.trace
    return trace if isinstance(trace, ArrayTrace) else None
