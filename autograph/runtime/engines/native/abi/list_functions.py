"""`max(xs)`, `min(xs)` and `sum(xs)` of a list of numbers outside of loops: C functions in the place of Python's.

They go through the items without calls, as loops do (`emit/list_items.py`), and call Python's function for anything
else: other iterables, an empty list, items of other classes, integers of more than one digit, NaNs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from autograph.common import disk_cache
from autograph.common.cpython_internals import CLASS, HAS_DIGITS, LIST_ITEMS, SIZE
from autograph.errors import EngineError
from autograph.runtime.engines.native.abi.c_entry import CFunction, Rebindable, builtin
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.emit import list_items
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import Table
from autograph.runtime.engines.native.llvm.errors import Refused, compiling
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.engines.native.llvm.target import binding
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.graph.types import FLOAT, INT, ObjectType

ITEMS = 100     # of a call after which machine code is compiled


@disk_cache.storable
class ListFunction(Rebindable):
    """Such a function in a graph. After some items it is replaced by machine code.

    Args:
        function: Python's function.
        after: the number of calls with `ITEMS` items.
    """

    __ag_tame__ = True      # see `effects.tame`

    def __init__(self, function: Callable[..., Any], after: int) -> None:
        super().__init__(self)
        self._function, self._after = function, after
        self._left = after * ITEMS

    def __getstate__(self) -> Any:
        return self._function, self._after

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __call__(self, items: Any) -> Any:
        if self.entry is not self:      # it was loaded from disk into code that does not let others replace it
            return self.entry(items)
        self._left -= len(items) if type(items) is list else 0
        if self._left < 0:
            try:
                with compiling("functions of lists"):
                    self._rebind(entry_of(self._function))
            except Refused:
                self._rebind(self._function)
        return self._function(items)


def is_list_function(node: Node) -> bool:
    """Whether a node is such a function of what is known to be a list."""
    if len(node.args) != 1 or node.kwargs or not HAS_DIGITS:
        return False
    type = node.args[0].type if isinstance(node.args[0], Value) else None
    is_list = isinstance(type, ObjectType) and type.name == "list"
    return is_list and _target(node) in (sum, min, max)


def made_for(node: Node, after: int) -> ListFunction:
    """The function of a node."""
    return ListFunction(_target(node), after)


def _target(node: Node) -> Any:
    return getattr(lookup(node.op), "target", None)


@cache
def entry_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The builtin in the place of one of Python's; that function itself if there is no machine code."""
    try:
        binding()
        module = ir.Module()
        c = CFunction(module, 1, 1, function)
        thing = c.argument(0)
        c.demand_class(thing, list)
        _compute(c, module, function, c.load_at(ir.PTR, thing, LIST_ITEMS), c.load_at(ir.I64, thing, SIZE))
        code = Code(printed(verified(module)))
        return builtin(code.entry, Table.of(c.things), code)
    except (EngineError, ImportError, OSError):
        return function


def _compute(c: CFunction, module: ir.Module, function: Any, items: ir.Value, count: ir.Value) -> None:
    """Build the rest of the C function."""
    integers, floats = map(c.address, (int, float))
    if function is not sum:
        how = "lt" if function is min else "gt"
        found = c.b.call(list_items.extreme(module, how), items, count, integers, floats)
        c.demand(c.b.icmp("ne", found, ir.NULL))
        c.b.ret(c.another(found))
        return
    c.demand(c.b.icmp("sgt", count, 0))
    kind = c.load_at(ir.PTR, c.b.load(ir.PTR, items), CLASS)
    with c.b.if_then(c.b.icmp("eq", kind, floats)):
        _give_total(c, c.b.call(list_items.total(module, float), items, count, floats))
    _give_total(c, c.b.call(list_items.total(module, int), items, count, integers))


def _give_total(c: CFunction, found: ir.Value) -> None:
    c.demand(list_items.is_total(c.b, found))
    c.b.ret(c.number_object(found, FLOAT if found.type == ir.DOUBLE else INT))
