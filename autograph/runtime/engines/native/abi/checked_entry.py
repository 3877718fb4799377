"""The entry of a trace as a C function: checks the arguments and the guards, takes the arguments apart, runs the graph.

The dispatcher and the entry of a trace have texts of Python for that (`dispatch/trace_entry.py`), such as

    type(x) is list and len(x) == 2 and type(x[0]) is kind and module['scale'] is value

which take half a microsecond for a dozen of objects. Those that this module knows how to read become machine code. It
runs none of the user's code (a key of a dict that equals a text may have a method `__eq__`, as in the text of Python).
If a check fails, the function returns `miss`, and the text of Python decides; so a check may be stricter than its text.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from types import CellType, FunctionType
from typing import Any, cast

import numpy as np

from autograph.common.cpython_internals import (
    HAS_SIMPLE_COUNTS,
    ITEMS,
    LIST_ITEMS,
    SIZE,
    TUPLE_ITEMS,
    VALUE,
)
from autograph.common.numpy_internals import DTYPE, NDIM, SHAPE
from autograph.errors import EngineError
from autograph.runtime.engines.native.abi.c_entry import CFunction, builtin
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, Count, Table
from autograph.runtime.engines.native.llvm.errors import Refused, compiling
from autograph.runtime.engines.native.llvm.function_layouts import FUNCTION_PLACES, HAS_CELLS
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.graph.signature import Checks, Names

MOST = 200      # checks: more would take long to compile
_ARGUMENT = "§"     # begins the name of an argument, as no name of a text does


class _Unknown(Refused):
    """A text that this module does not read."""

    def __init__(self) -> None:
        super().__init__("a condition of its trace has no machine code")


class _Miss(CFunction):
    """Builds a C function that returns an object if a check fails."""

    def hand_over(self, function: Any) -> None:
        self.b.ret(self.another(self.address(function)))


def checked_entry(
    checks: Checks, run: list[Callable[..., Any]], count: Count, miss: object, name: str
) -> Callable[..., Any] | None:
    """A builtin that does what the texts say; None if some of them are not read here.

    Args:
        run: the function to call with the leaves; a list of this one, in which it may be replaced.
        count: counts the calls of that.
        miss: what the builtin returns if a check fails.
        name: of the user's function, for reports.
    """
    if not HAS_SIMPLE_COUNTS or len(checks.tests) + len(checks.conditions) > MOST:
        return None
    try:
        with compiling(name):
            module = ir.Module()
            c = _Miss(module, len(checks.parameters), 1, cast("Any", miss))
            _Writer(c, checks).write(run, count)
            code = Code(printed(verified(module)), baseline=None)
            return builtin(code.entry, Table.of(c.things), code)
    except (Refused, EngineError, ImportError, OSError):
        return None


class _Writer:
    """Builds the checks.

    Args:
        c: builds the C function.
    """

    def __init__(self, c: CFunction, checks: Checks) -> None:
        self._c = c
        self._b = c.b
        self._checks = checks
        self._names: Names = {}     # the constants of the condition that is read
        self._items: dict[tuple[int, str], ir.Value] = {}       # of dicts that are constants
        self._known: dict[str, ir.Value] = {}       # what expressions of arguments give
        self._classes: dict[str, type] = {}     # of these
        self._lengths: dict[str, int] = {}

    def write(self, run: list[Callable[..., Any]], count: Count) -> None:
        """Build the whole function.

        Items of dicts come first, since to look them up might run code of the user's, after which items of lists that
        have been read before might be gone.
        """
        c, b, checks = self._c, self._b, self._checks
        own = {f"p{place}": place for place in range(len(checks.parameters))} | checks.places
        arguments: dict[str, ast.expr] = {name: ast.Name(f"{_ARGUMENT}{place}") for name, place in own.items()}
        leaves = {name: _renamed(text, arguments) for name, text in checks.leaves.items()}
        tested = {name: arguments[f"p{place}"] for place, name in enumerate(checks.parameters)}
        tests = [(_renamed(text, tested, names), names) for text, names in checks.tests]
        tests += [(_renamed(text, arguments | leaves, names), names) for text, names in checks.conditions]
        for test, self._names in tests:
            self._look_up(test)
        for test, self._names in tests:
            self._demand(test)
        self._names = checks.names
        values = [self._pointer(_renamed(text, arguments | leaves, checks.names)) for text in checks.passed]
        at = b.gep(c.address(count), ITEMS)
        b.store(b.add(b.load(ir.I64, at), 1), at)
        function = c.load_at(ir.PTR, c.load_at(ir.PTR, c.address(run), LIST_ITEMS), 0)
        for each in (function, *values):
            c.acquire(each)
        found = c.call(function, values)
        for each in (function, *values):
            c.release(each)
        b.ret(found)

    def _look_up(self, test: ast.expr) -> None:
        """Look up the items of dicts in a condition."""
        needed = test.values[:1] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
        for each in (each for part in needed for each in ast.walk(part)):
            key = each.slice.value if isinstance(each, ast.Subscript) and isinstance(each.slice, ast.Constant) else None
            if isinstance(each, ast.Subscript) and type(key) is str:
                of = self._constant(each.value)
                if type(of) is not dict:
                    raise _Unknown
                if (id(of), key) not in self._items:
                    self._items[id(of), key] = self._item_of_dict(of, key)

    def _item_of_dict(self, of: dict[str, Any], key: str) -> ir.Value:
        c, b = self._c, self._b
        item = c.python("PyDict_GetItemWithError", c.address(of), c.address(key))
        failed, on = b.new_block("failed"), b.new_block("found")
        b.cond_br(b.is_null(item), failed, on)
        b.begin(failed)
        c.python("PyErr_Clear")
        b.br(c.other)
        b.begin(on)
        return item

    # Conditions -------------------------------------------------------------------------------------------------------

    def _demand(self, test: ast.expr) -> None:
        """Demand that a condition holds."""
        if isinstance(test, ast.BoolOp):
            # the other sides of an `or` are left to Python
            for each in test.values if isinstance(test.op, ast.And) else test.values[:1]:
                self._demand(each)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            self._demand_comparison(test.left, test.ops[0], test.comparators[0])
        elif isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "isdisjoint":
            one, other = self._identities(test.func.value), self._identities(test.args[0])
            self._demand_different([(a, b) for a in one for b in other])
        else:
            raise _Unknown

    def _demand_comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> None:
        of, function = self._called(left)
        if function is type and isinstance(op, ast.Is):
            self._demand_class(of, self._constant(right))
        elif function is len and isinstance(of, ast.Set) and isinstance(op, ast.Eq):
            if self._constant(right) != len(of.elts):
                raise _Unknown
            self._demand_different([*combinations(self._identities(of), 2)])
        elif function is len and isinstance(op, (ast.Eq, ast.Gt)):
            self._demand_length(of, op, self._constant(right))
        elif isinstance(op, (ast.Is, ast.IsNot)):
            same = self._b.icmp("eq", self._pointer(left), self._pointer(right))
            self._c.demand(same if isinstance(op, ast.Is) else self._b.xor(same, ir.TRUE))
        elif isinstance(left, ast.Attribute) and left.attr in ("shape", "ndim") and isinstance(op, ast.Eq):
            self._demand_shape(left.value, self._constant(right))
        elif isinstance(op, ast.Eq) and type(self._constant(right)) is str:     # it is usually the same text
            self._c.demand(self._b.icmp("eq", self._pointer(left), self._pointer(right)))
        else:
            raise _Unknown

    def _called(self, call: ast.expr) -> tuple[ast.expr, Any]:
        """The argument of a call of `type`, `len` or `id`, and that function; None for other expressions."""
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and len(call.args) == 1:
            return call.args[0], self._names.get(call.func.id, vars(builtins).get(call.func.id))
        return call, None

    def _demand_class(self, of: ast.expr, kind: Any) -> None:
        thing = self._pointer(of)
        if not isinstance(kind, type) or self._is_item_of_dict(of):
            raise _Unknown
        if isinstance(of, ast.Attribute):
            self._c.demand(self._b.icmp("ne", thing, ir.NULL))
        self._c.demand_class(thing, kind)
        self._classes[self._text(of)] = kind

    def _demand_length(self, of: ast.expr, op: ast.cmpop, count: Any) -> None:
        thing, text = self._pointer(of), self._text(of)
        if self._classes.get(text) not in (list, tuple) or type(count) is not int:
            raise _Unknown
        found = self._c.load_at(ir.I64, thing, SIZE)
        self._c.demand(self._b.icmp("eq" if isinstance(op, ast.Eq) else "sgt", found, count))
        self._lengths[text] = count

    def _demand_shape(self, of: ast.expr, wanted: Any) -> None:
        """Demand an array of a shape, or of a number of dimensions."""
        c, thing, is_count = self._c, self._pointer(of), type(wanted) is int
        if self._classes.get(self._text(of)) is not np.ndarray or not (is_count or type(wanted) is tuple):
            raise _Unknown
        c.demand(self._b.icmp("eq", c.load_at(ir.I32, thing, NDIM), wanted if is_count else len(wanted)))
        lengths = c.load_at(ir.PTR, thing, SHAPE)
        for axis, length in enumerate(() if is_count else wanted):
            c.demand(self._b.icmp("eq", c.load_at(ir.I64, lengths, SLOT * axis), length))

    def _demand_different(self, pairs: Sequence[tuple[ir.Value, ir.Value]]) -> None:
        for one, other in pairs:
            self._c.demand(self._b.icmp("ne", one, other))

    def _identities(self, things: ast.expr) -> list[ir.Value]:
        """The objects in `{id(a), id(b)}` or `[id(a), id(b)]`."""
        found = []
        for each in things.elts if isinstance(things, (ast.Set, ast.List)) else [things]:
            of, function = self._called(each)
            if function is not id:
                raise _Unknown
            found.append(self._pointer(of))
        return found

    # Expressions ------------------------------------------------------------------------------------------------------

    def _constant(self, expression: ast.expr) -> Any:
        """The object of an expression that is a constant."""
        if isinstance(expression, ast.Constant):
            return expression.value
        if isinstance(expression, ast.Name) and expression.id in self._names:
            return self._names[expression.id]
        raise _Unknown

    def _pointer(self, expression: ast.expr) -> ir.Value:
        """The address of the object of an expression; it may be null, and only be compared, if it is an attribute."""
        if isinstance(expression, ast.Name) and expression.id.startswith(_ARGUMENT):
            return self._c.argument(int(expression.id[len(_ARGUMENT) :]))
        if isinstance(expression, (ast.Name, ast.Constant)):
            thing = self._constant(expression)
            if isinstance(expression, ast.Constant) and not (thing is None or isinstance(thing, bool)):
                raise _Unknown      # it might be one of several equal objects
            return self._c.address(thing)
        text = self._text(expression)
        if text not in self._known:
            if isinstance(expression, ast.Subscript):
                found = self._item(expression.value, self._constant(expression.slice))
            elif isinstance(expression, ast.Attribute):
                found = self._attribute(expression.value, expression.attr)
            else:
                raise _Unknown
            self._known[text] = found
        return self._known[text]

    def _text(self, expression: ast.expr) -> str:
        """A text that is the same for the same objects."""
        constants = [each for each in ast.walk(expression) if isinstance(each, ast.Name) and each.id in self._names]
        return f"{ast.unparse(expression)} {[id(self._names[each.id]) for each in constants]}"

    def _item(self, of: ast.expr, key: Any) -> ir.Value:
        """An item of a list or tuple, by its place; or of a dict, by a text."""
        c, b, text = self._c, self._b, self._text(of)
        if type(key) is str:
            return self._items[id(self._constant(of)), key]
        if type(key) is not int or key < 0 or self._is_item_of_dict(of):
            raise _Unknown
        thing, kind = self._pointer(of), self._classes.get(text)
        if kind not in (list, tuple):
            kind = tuple
            c.demand(b.icmp("ne", thing, ir.NULL))
            c.demand_class(thing, tuple)
        if self._lengths.get(text, 0) <= key:
            c.demand(b.icmp("sgt", c.load_at(ir.I64, thing, SIZE), key))
        begin = c.load_at(ir.PTR, thing, LIST_ITEMS) if kind is list else b.gep(thing, TUPLE_ITEMS)
        return c.load_at(ir.PTR, begin, SLOT * key)

    def _is_item_of_dict(self, expression: ast.expr) -> bool:
        """Whether an object is an item of a dict, which may be gone after the next one has been looked up."""
        return any(isinstance(each, ast.Constant) and type(each.value) is str for each in ast.walk(expression))

    def _attribute(self, of: ast.expr, name: str) -> ir.Value:
        if self._classes.get(self._text(of)) is np.ndarray and name == "dtype":
            return self._c.load_at(ir.PTR, self._pointer(of), DTYPE)
        thing = self._constant(of)
        if type(thing) is FunctionType and name in FUNCTION_PLACES:
            return self._c.load_at(ir.PTR, self._c.address(thing), FUNCTION_PLACES[name])
        if type(thing) is CellType and name == "cell_contents" and HAS_CELLS:
            return self._c.load_at(ir.PTR, self._c.address(thing), VALUE)
        raise _Unknown


class _Renamer(ast.NodeTransformer):
    def __init__(self, new: Mapping[str, ast.expr]) -> None:
        self._new = new

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._new.get(node.id, node)


def _renamed(text: str, new: Mapping[str, ast.expr], names: Collection[str] = ()) -> ast.expr:
    """The expression of a text, with others in the place of names, unless they are those of constants."""
    found = ast.parse(text.strip(), mode="eval").body
    renamed: ast.expr = _Renamer({name: each for name, each in new.items() if name not in names}).visit(found)
    return renamed
