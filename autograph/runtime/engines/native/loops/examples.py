"""Expected kinds of items, before the first call: from the items of the lists that the call gets.

Without them, machine code would be left at the first item of each list, and compiled again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import chain, cycle, islice, product
from typing import Any

from autograph.common.cpython_internals import WORD, attribute_place, read, value_address
from autograph.runtime.engines.native.loops.result_speculation import both, met
from autograph.runtime.graph.graph import Block, Constant, Node, Value, map_args
from autograph.runtime.graph.object_model import is_described, set_attribute
from autograph.runtime.graph.opdef import OPS
from autograph.runtime.graph.traits import (
    COPIES_ITEMS,
    ELEMENTWISE,
    GIVES_PARTS,
    HAS_DEFAULT,
    INSERTS,
    LOOKS_UP,
    MAKES_OBJECTS,
    ON_ATTRIBUTE,
    ON_CONTAINER,
    OVERLOADED,
)
from autograph.runtime.graph.types import ANY, FLOAT, PYTHON_TYPES, TensorType, type_of

_SEQUENCES = list, tuple, str
_ITERATORS: tuple[type, ...] = type(iter([])), type(iter(())), type(reversed([]))
MOST = 64       # examples of a value, at most
ALL = 1 << 14   # items that are looked at
KINDS = 9       # combinations of classes of operands, at most


def examples_in(root: Node, inputs: Mapping[Value, Any]) -> Examples:
    """Examples of the objects that a loop takes from lists and attributes, as far as those in its inputs tell."""
    found = Examples(inputs)
    for _ in range(2):  # stores may come after loads
        found.enter(root)
    return found


def _container(thing: Any) -> Any:
    """The list or tuple that an iterator goes through; anything else itself."""
    return thing.__reduce__()[1][0] if type(thing) in _ITERATORS else thing


def _attribute(thing: Any, name: str) -> list[Any]:
    """The attribute of an object, if reading it runs no code of the user's."""
    place = attribute_place(type(thing), name)
    address = 0 if place is None else value_address(thing, place, name)
    return [object.__getattribute__(thing, name)] if address and read(WORD, address)[0] else []


def _values(thing: Any) -> Any:
    """The values of a dict; anything else itself."""
    return [*islice(thing.values(), MOST)] if type(thing) is dict else thing


def _parts(iterable: Any) -> list[Any]:
    """Containers of the parts of the items of an iterable."""
    if type(iterable) is enumerate:
        return [(), iterable.__reduce__()[1][0]]
    if type(iterable) is zip:
        return [*iterable.__reduce__()[1]]
    if type(iterable) not in (list, tuple):
        return []
    return list(map(list, zip(*[item for item in iterable[:MOST] if type(item) in (list, tuple)])))


def _of_other_classes(lists: list[Any]) -> list[Any]:
    """An item of each class among those items of lists that are no examples."""
    return [*{type(item): item for item in islice(chain(*lists), MOST, ALL)}.values()]


def _repeats(node: Node, first: list[Any]) -> bool:
    """Whether a node repeats a list, or joins it with others."""
    return node.op in OVERLOADED and node.op in ELEMENTWISE and list in map(type, first)


class Examples:
    """Examples of the values of a loop: objects, of which some are lists of examples.

    Attributes:
        kinds: the kinds of items and attributes.
        classes: the classes of objects, by the nodes that read or set their attributes.
    """

    def __init__(self, inputs: Mapping[Value, Any]) -> None:
        self.kinds: dict[Value, Any] = {}
        self.classes: dict[Node, dict[type, None]] = {}
        self._of: dict[Value, list[Any]] = {value: [thing] for value, thing in inputs.items()}
        self._stored: dict[int, tuple[Any, list[Any]]] = {}     # by identity, lists, and examples stored in them

    def enter(self, loop: Node) -> None:
        """Find the examples in an iteration."""
        params, items = loop.blocks[0].params, loop.kwargs.get("target", 0) if loop.op == "for" else None
        carried = loop.args[1:] if loop.op == "for" else loop.args
        results = (loop.blocks[-1].results or ())[-len(carried) :] if carried else ()
        of_carried = [self._either(pair) for pair in zip(carried, results)] or list(map(self._examples, carried))
        for block in loop.blocks:
            self._of.update(zip(block.params[len(block.params) - len(carried) :], of_carried))
        if items is not None:
            self._assign(items, params, self._examples(loop.args[0]))
        for block in loop.blocks:
            self._walk(block)
        self._of.update(zip(loop.outputs, [self._either(pair) for pair in zip(carried, results)]))

    def _assign(self, target: Any, params: list[Value], iterables: list[Any]) -> None:
        """Find examples of what a loop assigns to its targets."""
        if isinstance(target, int):
            self._take(params[target], [_container(each) for each in iterables])
            return
        parts = [[_container(part) for part in _parts(each)] for each in iterables]
        for place, each in enumerate(target):
            self._assign(each, params, [found[place] for found in parts if place < len(found)])

    def _either(self, args: Iterable[Any]) -> list[Any]:
        """Examples of what one of some values is."""
        return [each for arg in args for each in self._examples(arg)[:MOST]]

    def _walk(self, block: Block) -> None:
        for node in block.nodes:
            if node.op in ("for", "while"):
                self.enter(node)
            elif node.blocks:
                for inner in node.blocks:
                    self._walk(inner)
                ends = [block.results for block in node.blocks if block.results is not None]
                self._of.update(zip(node.outputs, map(self._either, zip(*ends))))
            else:
                self._see(node)

    def _see(self, node: Node) -> None:
        """Find examples of what a node computes or stores."""
        first = self._examples(node.args[0]) if node.args else []
        if node.op in LOOKS_UP and node.op in GIVES_PARTS and not isinstance(node.args[-1], slice):
            defaults = node.args[2:] if node.op in HAS_DEFAULT else ()
            self._take(node.output, [*map(_values, first), *map(self._examples, defaults)][:MOST])
        elif node.op == "getitem" or node.op in COPIES_ITEMS or _repeats(node, first):
            self._of[node.output] = first
        elif node.op in ON_ATTRIBUTE:
            kinds = (type(each) for each in first if each is not None)      # which has no such attribute
            self.classes.setdefault(node, {}).update(dict.fromkeys(kinds))
            if node.outputs and len(node.args) == 2:
                self._take(node.output, [_attribute(each, node.args[1]) for each in first])
        elif (made := ON_CONTAINER.get(node.op, "")) in ("enumerate", "zip"):
            args = [[each for each in self._examples(arg) if type(each) in (list, tuple)] or [()] for arg in node.args]
            self._of[node.output] = [
                enumerate(each[0]) if made == "enumerate" else zip(*each) for each in islice(product(*args), KINDS)
            ]
        elif node.op == "unpack":
            for place, value in enumerate(node.outputs):
                self._take(value, [thing[place : place + 1] for thing in first if type(thing) in (list, tuple)])
        elif node.op in MAKES_OBJECTS:
            self._of[node.output] = [self._made(*node.args)]
        elif node.op == "build" and type(node.args[0]) is list:
            if node.output not in self._of:
                self._of[node.output] = [[each for arg in node.args[0] for each in self._examples(arg)]]
        elif node.op == "setitem" or node.op in INSERTS:
            for each in first if list in map(type, first) else ():
                _, stored = self._stored.setdefault(id(each), (each, []))
                stored += self._examples(node.args[-1])[: MOST - len(stored)]
        elif (made := ON_CONTAINER.get(node.op, "")) in ("sorted", "sum", "min", "max") and len(node.args) == 1:
            if type(node.args[0]) is list:
                first = [[each for arg in node.args[0] for each in self._examples(arg)]]
            if made == "sorted":
                self._of[node.output] = first
            else:
                self._take(node.output, first)
        elif len(node.outputs) == 1 and node.op in OPS:
            self._compute(node)

    def _made(self, kind: Constant, parts: Mapping[str, Any]) -> Any:
        """An object like one that a node makes; so the class has places for the attributes."""
        made = object.__new__(kind.value)
        for name, part in parts.items():
            found, is_special = self._examples(part)[:1], is_described(kind.value, name)
            if not is_special:
                object.__setattr__(made, name, *found or [None])
            if found and is_special:
                set_attribute(made, name, *found)
            if not found and not is_special:
                object.__delattr__(made, name)
        return made

    def _compute(self, node: Node) -> None:
        """Find examples of a number that is computed from others, for some classes of these."""
        inputs = list(dict.fromkeys(node.inputs))
        types = [dict.fromkeys(map(type_of, self._examples(arg))) for arg in inputs]
        kinds: dict[type, None] = {}
        for each in islice(product(*types), KINDS):
            found = _inferred(node, dict(zip(inputs, each)))
            if isinstance(found, TensorType) and found.kind == "python":
                if found.dtype.kind == "c" and not any(map(_is_complex, each)):
                    found = FLOAT       # powers of floats are seldom complex
                kinds[PYTHON_TYPES[found.dtype]] = None
        self._of[node.output] = [kind() for kind in kinds]

    def _take(self, value: Value, containers: list[Any]) -> None:
        """Find examples of an item of containers."""
        lists = [thing[:MOST] if type(thing) is str else thing for thing in containers if type(thing) in _SEQUENCES]
        stored = [self._stored[id(thing)][1] for thing in lists if id(thing) in self._stored]
        self._of[value] = items = [*islice(chain(*lists), MOST), *_of_other_classes(lists), *chain(*stored)]
        if items and value.type == ANY:
            self.kinds[value] = reduce(both, items, met(items[0]))

    def _examples(self, arg: Any) -> list[Any]:
        if type(arg) is tuple:      # made of values, such as `(a, b)`
            parts = [self._examples(part) for part in arg]
            most = min(max(map(len, parts), default=1), MOST)
            return [*islice(zip(*map(cycle, parts), strict=False), most)] if parts else [()]
        if not isinstance(arg, Value):
            return [arg]
        if isinstance(arg.type, TensorType) and arg.type.kind == "python" and arg.type.exact:
            return [PYTHON_TYPES[arg.type.dtype]()]
        return self._of.get(arg, [])


def _is_complex(type: Any) -> bool:
    return isinstance(type, TensorType) and type.dtype.kind == "c"


def _inferred(node: Node, types: dict[Value, Any]) -> Any:
    """The type of what a node computes from numbers of some types; None if these are not all numbers."""
    if not types or not all(isinstance(each, TensorType) for each in types.values()):
        return None
    args, kwargs = map_args(lambda arg: types.get(arg, arg), (node.args, node.kwargs))
    return OPS[node.op].infer(*args, **kwargs)
