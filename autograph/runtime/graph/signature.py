"""Signatures, guards and results of tracing: the records between a function and its tracer.

    tracer(function, signature, example, options) -> Traced

`signature` says of each leaf of the arguments whether it is staged or static. `example` holds the arguments of the call
that needs the trace, as `(args, kwargs)`, bound to the parameters, with defaults: positional ones in `args`, the rest
in `kwargs`. Where no argument is given yet, its leaf is an `Instance`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from autograph.common import disk_cache, pytree
from autograph.runtime.graph.graph import Graph
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.graph.types import ANY, ObjectType, Shape, TensorType, Type

# A place in the user's program: file and line.
Where: TypeAlias = tuple[str, int]
Class: TypeAlias = type


_WRITTEN = 1000  # bits: Python refuses to write integers of very many digits


@dataclass(frozen=True)
class Static:
    """A leaf that is part of the signature: another value, another trace. `True`, `1` and `1.0` are three values."""

    value: Any

    @property
    def key(self) -> Hashable:
        """A key that differs for different values."""
        return static_key(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        if type(self.value) is int and self.value.bit_length() > _WRITTEN:
            return f"an int of {self.value.bit_length()} bits"
        return getattr(self.value, "__qualname__", None) or repr(self.value)

    @property
    def described(self) -> str:
        """The value as errors name it."""
        return "an object" if type(self.value) is object else str(self)


@dataclass(frozen=True)
class Dynamic:
    """A leaf that is staged: a number or array, or an object that the graph knows by reference only.

    Attributes:
        type: the type of every value of this leaf.
        cls: the class of an object, exactly.
    """

    type: Type
    cls: Class | None = None

    def __str__(self) -> str:
        return str(self.type) if self.cls is None or self.type != ANY else self.cls.__name__

    @property
    def described(self) -> str:
        """The leaf as errors name it."""
        if isinstance(self.type, ObjectType) and self.cls is not None:
            return f"a {self.cls.__qualname__.rpartition('<locals>.')[2]}"
        return str(self.type)


Leaf: TypeAlias = Static | Dynamic
# For each list, dict, tuple and so on among the arguments, by path: its type, and the names of its parts.
Lengths: TypeAlias = dict[str, tuple[Class, Any]]


@dataclass(frozen=True)
class Instance:
    """A placeholder for values that a leaf allows, without an argument."""

    leaf: Leaf


@dataclass
class Signature:
    """The signature of a call, for which a trace is made.

    Attributes:
        tree: `(args, kwargs)` with the number of each leaf in its place. A list, dict or object that occurs several
            times in the arguments is one object in the tree, too.
        leaves: in order.
        paths: the expression for each leaf: `x`, `self`, `state['w'][1]`.
        same: for each leaf the number of the first that is the same array or object; usually its own.
        key: equal for two signatures that may share a trace.
        late: the numbers from the function's environment that the graph reads when it runs, as in `Guard.late`.
        containers: the names in guards of containers, by their paths.
        texts: the paths of texts that may become objects of the graph, if traced code does nothing but work on them.
    """

    tree: tuple[tuple[Any, ...], dict[str, Any]]
    leaves: tuple[Leaf, ...]
    paths: tuple[str, ...]
    same: tuple[int, ...] = ()
    key: Any = None
    late: frozenset[Any] = field(default=frozenset(), compare=False)
    containers: dict[str, str] = field(default_factory=dict, compare=False)
    texts: tuple[str, ...] = field(default=(), compare=False)

    def fill(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with `values` for the leaves, in containers of their own."""
        made: dict[int, Any] = {}

        def build(part: Any) -> Any:
            if type(part) is int:
                return values[part]
            if id(part) not in made:
                made[id(part)] = _rebuild(part, build)
            return made[id(part)]

        args, kwargs = self.tree
        return tuple(map(build, args)), {name: build(part) for name, part in kwargs.items()}

    @property
    def dynamic(self) -> list[tuple[str, Dynamic]]:
        """The staged leaves with their paths; the first params of the graph are their values."""
        return [(path, leaf) for path, leaf in zip(self.paths, self.leaves) if isinstance(leaf, Dynamic)]

    @property
    def static(self) -> list[tuple[str, Static]]:
        """The leaves that are part of the signature."""
        return [(path, leaf) for path, leaf in zip(self.paths, self.leaves) if isinstance(leaf, Static)]

    def __str__(self) -> str:
        pairs = zip(self.paths, self.leaves)
        return ", ".join(f"{path}{'=' if isinstance(leaf, Static) else ': '}{leaf}" for path, leaf in pairs)


def _rebuild(value: Any, build: Any) -> Any:
    kind = pytree.kind_of(value)
    assert kind is not None, "what is no leaf is a structure"
    return kind.rebuild(value, [build(part) for part in kind.children(value).values()])


def is_within(path: str, container: str) -> bool:
    """Whether a path is that of a container or of a part of it."""
    return path == container or path.startswith((container + "[", container + "."))


SEVERAL = 6  # lengths or values that get a trace each, where one trace for all of them would run as plain Python


@dataclass
class Policy:
    """How the arguments of a function are generalized and specialized in traces to come.

    Attributes:
        static: paths of leaves that are part of the signature; `x.shape[0]` for a dimension.
        whole: paths of lists and dicts that are one object, whose contents the graph reads when it runs.
        apart: paths of lists and dicts that are flattened at all depths, however long.
        dynamic_dims: for the path and rank of an array, which of its dimensions are unknown.
        late: numbers in the environment that vary, so that the graph reads them when it runs; see `Guard.late`.
        pinned: numbers in the environment that are part of the trace.
        named: paths that the user declared static, for values of any kind; otherwise only numbers are.
        variadic: the parameters `*args` and `**kwargs`, which are always flattened.
        indivisible: paths of lists and dicts that must be one object, because flattening them failed.
        generalized: paths in `whole` and numbers in `late` for which one trace serves all lengths, texts or values.
        specialized: those for which that was undone, because it prevented staging; with the number of lengths or values
            since.
    """

    static: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    apart: set[str] = field(default_factory=set)
    dynamic_dims: dict[tuple[str, int], tuple[bool, ...]] = field(default_factory=dict)
    late: set[Any] = field(default_factory=set)
    pinned: set[Any] = field(default_factory=set)
    named: frozenset[str] = frozenset()
    variadic: frozenset[str] = frozenset()
    indivisible: set[str] = field(default_factory=set)
    generalized: set[Any] = field(default_factory=set)
    specialized: dict[Any, int] = field(default_factory=dict)

    def is_static(self, path: str, kind: type) -> bool:
        """Whether a leaf of this class is part of the signature."""
        return path in self.static and (path in self.named or issubclass(kind, _VALUES))

    def shape(self, path: str, shape: Shape) -> Shape:
        """A shape with its varying dimensions unknown."""
        mask = self.dynamic_dims.get((path, len(shape)))
        if mask is None:
            return shape
        return tuple([None if dynamic else length for dynamic, length in zip(mask, shape)])

    def leaf(self, path: str, leaf: Leaf) -> Leaf:
        """A leaf with the varying dimensions of its shape unknown."""
        if isinstance(leaf, Dynamic) and isinstance(leaf.type, TensorType):
            return replace(leaf, type=replace(leaf.type, shape=self.shape(path, leaf.type.shape)))
        return leaf

    def stays_specialized(self, source: Any) -> bool:
        """Whether a trace serves one length or value only, although that has just varied; at most SEVERAL times."""
        if source in self.specialized:
            self.specialized[source] += 1
        return 0 < self.specialized.get(source, 0) <= SEVERAL

    def is_apart(self, path: str) -> bool:
        """Whether a container is flattened although it is long."""
        return any(is_within(path, each) for each in self.apart)

    def concerns(self, name: str) -> bool:
        """Whether the policy mentions the parameter `name` or its parts."""
        paths = [*self.static, *self.whole, *self.apart, *(path for path, _ in self.dynamic_dims)]
        return any(is_within(path, name) for path in paths)


_VALUES = (int, float, complex, str, bytes, range, np.generic)


class Respecialize(BaseException):
    """Raised by the tracer: trace again, with these leaves static, or these containers taken as one object.

    Args:
        static: paths as in `Signature.paths`, or `x.shape[0]` for a dimension.
        whole: paths of lists, tuples and dicts.
        reason: why, with file and line: "`n` is the length of a list, file.py:3".
    """

    def __init__(self, static: tuple[str, ...] = (), whole: tuple[str, ...] = (), reason: str = "") -> None:
        super().__init__(reason)
        self.static = static
        self.whole = whole
        self.reason = reason


@dataclass
class Guard:
    """A condition for using a trace.

    Attributes:
        expression: a Python expression; the guard holds if it is true, and fails if it raises. `a0`, `a1`, … are the
            leaves of the arguments, static ones included, `p0`, `p1`, … the flattened arguments.
        names: the other objects in the expression by name. The same name may mean another object in another guard.
        reason: the reason to report if it fails: "the global `y` changed, file.py:3".
        late: for a guard of a number, the key under which the graph can read the number instead.
        details: further reasons to report.
    """

    expression: str
    names: dict[str, Any]
    reason: str
    late: Any = None
    details: Callable[[], str] = str


Names: TypeAlias = "dict[str, Any]"


@dataclass(frozen=True)
class Checks:
    """The conditions of a call for a trace, as texts of Python; see `dispatch/trace_entry.py`.

    Attributes:
        conditions: expressions that must be true, in order, each with the objects that it names.
        passed: expressions for the arguments of the graph's code.
        names: the objects that these name.
        places: the places of the arguments, by their names in these.
        leaves: expressions for the leaves that are no arguments, by their names.
        tests: conditions of the dispatcher, which come first.
        parameters: the names of the arguments in these.
    """

    conditions: list[tuple[str, Names]]
    passed: list[str]
    names: Names
    places: dict[str, int]
    leaves: dict[str, str]
    tests: Sequence[tuple[str, Names]] = ()
    parameters: Sequence[str] = ()


@disk_cache.storable
@dataclass(frozen=True)
class Event:
    """An event of tracing, for `explain`.

    Attributes:
        kind: `unroll`, `callback`, `specialize`, `plain` or `retrace`, which `strict` can refuse; or another word, such
            as `loop` or `note`, for mere reports.
        message: the event and its cause.
        place: the user's file and line.
        about: the user's text of the operation, and more about it, if known.
        seconds: the time that it has taken so far, if known.
    """

    kind: str
    message: str
    place: Where | None = None
    about: str = ""
    seconds: float = 0.0


@dataclass
class Traced:
    """The result of tracing.

    Attributes:
        graph: its params are the staged leaves in order, and then the containers.
        guards: checked in order before each run.
        containers: paths of lists, dicts and objects among the arguments that the graph is given themselves, by
            reference, because it changes them or gives them back.
        events: in the order in which they happened.
        plain: why this signature must run as plain Python, if it must; `graph` is then of no use.
        sourceless: whether that is because the function has no source, and so holds for all signatures.
        seconds: how long the parts of tracing took, by name, such as `conversion`.
    """

    graph: Graph | None
    guards: list[Guard] = field(default_factory=list)
    containers: tuple[str, ...] = ()
    events: list[Event] = field(default_factory=list)
    plain: str = ""
    sourceless: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
