"""Converted loops as functions of their own, so that each can be staged by itself.

The variables of a converted loop are in cells, so a loop is a function of their values: it has cells of its own, and
the code of the loop's bodies as it is. Of the loop in

    def mean(path):
        with open(path) as file:
            total, x = 0.0, read(file)
            for value in x:
                total += value
        return total / len(x)

this is

    def mean(iterable, total):
        if ag__.is_idle():
            return None

        def loop_body(value):
            nonlocal total
            total += value
        ag__.for_stmt(iterable, loop_body, ('total',), until=None, options=None)
        return ag__.results(('total',), loop_body)

Hoisted functions that the bodies call are in cells, too, and become part of it. `ag__` here is a `Staging`, which runs
the loop only while a backend traces.
"""

from __future__ import annotations

import ast
import dis
import functools
from collections.abc import Callable, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from autograph.common.code_flags import of_code
from autograph.common.code_marks import WHOLE, is_body
from autograph.common.parsing import parse
from autograph.operators.state import CellVariable

Path = tuple[int, ...]  # from the bodies to a cell: the number of a body, then those of free variables


class NoFunction(Exception):
    """A loop cannot be a function of its own, for a reason in the user's terms."""


class Loop:
    """A loop of converted code: facts about its bodies, which are the same in each run of it.

    Args:
        bodies: the functions that its operator gets: the body, then the test and `until`, if there are such.
        names: the variables that it changes and that are read afterwards or in the next iteration.
        captured: the cells that belong to functions around the user's.
        whole_of: gives the code that asks for all that is compared, instead of this, see `whole_code_of`.

    Attributes:
        inputs: the variables of the user's function that it may read before it sets them.
        outputs: those of `names` that are variables of the user's function.
        outputs_at: the place of each output among the inputs.
        cells: a function that gives the cells of the inputs in another run, given its bodies.
        paths: all variables of the user's function, with the way to the cell of each.
        stored: the variables that it sets.
        deleted: those of the user's function that it deletes.
        codes: the identities of its pieces of code.
    """

    def __init__(
        self,
        bodies: Sequence[FunctionType],
        names: Sequence[str],
        captured: Sequence[CellType],
        whole_of: Callable[[CodeType], CodeType | None],
    ) -> None:
        self.names = tuple(names)
        self._whole_of = whole_of
        self._roots = {f"ag__body_{number}": body.__code__ for number, body in enumerate(bodies)}
        self._pieces = dict(self._roots)
        self.paths: dict[str, Path] = {}
        self._captured: dict[str, CellType] = {}
        self._module = bodies[0].__globals__
        self._explore(bodies, {id(cell) for cell in captured})
        self.stored = frozenset[str]().union(*map(stored_variables, self._pieces.values()))
        deleted = frozenset[str]().union(*map(deleted_variables, self._pieces.values()))
        self.deleted = deleted & self.paths.keys()
        self.codes = frozenset(map(id, self._pieces.values()))
        self.outputs = tuple(name for name in names if name in self.paths)
        self.inputs = tuple(name for name in self.paths if name in self.outputs or name not in self.stored)
        self.outputs_at = tuple(map(self.inputs.index, self.outputs))
        self.cells = self._getter()

    def _explore(self, bodies: Sequence[FunctionType], captured: set[int]) -> None:
        """Find the variables of the bodies, and of the generated functions among these."""
        cells: dict[str, CellType] = {}
        queue: list[tuple[Path, FunctionType]] = [((number,), body) for number, body in enumerate(bodies)]
        for path, function in queue:
            for at, (name, cell) in enumerate(zip(function.__code__.co_freevars, function.__closure__ or ())):
                if name in cells:
                    if cells[name] is not cell:
                        raise NoFunction(f"two of its variables are called `{name}`")
                    continue
                cells[name] = cell
                content = CellVariable(name, cell).get()
                if type(content) is FunctionType and is_body(content.__code__):
                    self._pieces[name] = content.__code__
                    queue.append(((*path, at), content))
                elif id(cell) in captured:
                    self._captured[name] = cell
                else:
                    self.paths[name] = (*path, at)

    def _getter(self) -> Callable[[Sequence[Any]], tuple[CellType, ...]]:
        """A function that gives the cells of the inputs, given the bodies of a run."""
        texts = []
        for number, *path in (self.paths[name] for name in self.inputs):
            inner = "".join(f".__closure__[{at}].cell_contents" for at in path[:-1])
            texts.append(f"bodies[{number}]{inner}.__closure__[{path[-1]}], ")
        return eval(f"lambda bodies: ({''.join(texts)})", {})  # type: ignore[no-any-return]

    def function(self, loop: str, items: Sequence[str], bound: Sequence[str], options: Any, staging: Any) -> Any:
        """The loop as a function of the parts of its iterable and of the variables that are bound.

        Args:
            loop: a call of the operator, with the bodies as `ag__body_0` and so on, `ag__names` and `ag__options`.
            items: the names in it of parts of the iterable.
            staging: the object that `ag__` names.
        """
        unbound = [f"{name}: 0" for name in self.paths if name not in bound]
        pieces = [f"def {name}(): {_reading(code.co_freevars)}" for name, code in self._pieces.items()]
        results = f"return ag__.results(ag__names, {', '.join(self._roots)})"
        lines = ["if ag__.is_idle(): return None", *unbound, *pieces, loop, results]
        text = f"def loop({', '.join((*items, *bound))}):\n" + "".join(f"    {line}\n" for line in lines)
        text = f"def around({', '.join(self._captured)}):\n" + "".join(f"    {line}\n" for line in text.splitlines())
        constants = {"ag__": staging, "ag__names": self.names, "ag__options": options}
        made = self._made(text, constants, self._pieces)
        made.__ag_whole__ = functools.partial(self._whole, made, text, constants)
        return made

    def _made(self, text: str, constants: dict[str, Any], pieces: dict[str, CodeType]) -> Any:
        first = self._roots["ag__body_0"]
        code = _compiled(text, constants, pieces, first)
        closure = tuple(self._captured[name] for name in code.co_freevars)
        function = FunctionType(code, self._module, first.co_name, None, closure)
        function.__qualname__ = getattr(first, "co_qualname", first.co_name)
        return function

    def _whole(self, made: FunctionType, text: str, constants: dict[str, Any]) -> FunctionType:
        """The same function with pieces that ask for all that is compared; itself if there are none such."""
        pieces = {name: self._whole_of(code) for name, code in self._pieces.items()}
        return made if None in pieces.values() else self._made(text, constants, pieces)  # type: ignore[arg-type]


def _reading(names: Sequence[str]) -> str:
    return f"return {', '.join(names)}," if names else "pass"


def _compiled(text: str, constants: dict[str, Any], pieces: dict[str, CodeType], like: CodeType) -> CodeType:
    """The inner function of a text, with objects in place of names, and code in place of functions; on one line.

    Args:
        like: the code that gives name and place.
    """
    tree = parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword):
            node.lineno = node.end_lineno = like.co_firstlineno
            node.col_offset = node.end_col_offset = 0
    tree = ast.fix_missing_locations(_Placeholders(constants).visit(tree))
    code: Any = compile(tree, like.co_filename, "exec", dont_inherit=True)
    for _ in range(2):
        code = next(const for const in code.co_consts if isinstance(const, CodeType))
    named = {f"\0{name}": value for name, value in constants.items()}
    consts: list[Any] = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            piece = pieces[const.co_name]
            assert piece.co_freevars == const.co_freevars, "the compiler sorts free variables"
            const = piece
        consts.append(named.get(const, const) if type(const) is str else const)
    labels: dict[str, Any] = {"co_consts": (*consts, WHOLE), "co_name": like.co_name}
    if hasattr(like, "co_qualname"):
        labels["co_qualname"] = like.co_qualname
    return code.replace(**labels)  # type: ignore[no-any-return]


class _Placeholders(ast.NodeTransformer):
    """Puts strings in place of names of constants: the compiler accepts no other objects."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Constant(f"\0{node.id}"), node) if node.id in self.names else node


@of_code
def stored_variables(code: CodeType) -> frozenset[str]:
    """The variables in cells that a function, or one in it, sets or deletes."""
    return _variables(code, "STORE_DEREF", "DELETE_DEREF")


@of_code
def deleted_variables(code: CodeType) -> frozenset[str]:
    """The variables in cells that a function, or one in it, deletes."""
    return _variables(code, "DELETE_DEREF")


def _variables(code: CodeType, *operations: str) -> frozenset[str]:
    found = {str(each.argval) for each in dis.get_instructions(code) if each.opname in operations}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):     # its own variables may have the same names
            found |= _variables(inner, *operations).difference(inner.co_cellvars)
    return frozenset(found)


@of_code
def shared_variables(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The variables in converted code that functions of the user's in it have in common with it; and set."""
    read: set[str] = set()
    stored: set[str] = set()
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if not is_body(inner):
                read.update(inner.co_freevars)
                stored |= stored_variables(inner).intersection(inner.co_freevars)
            inside = shared_variables(inner)
            read |= inside[0]
            stored |= inside[1]
    return frozenset(read), frozenset(stored)
