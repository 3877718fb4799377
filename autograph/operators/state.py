"""The variables that the bodies of a construct share with the user's function.

A body accesses them through the cells of its closure; an empty cell is an unbound variable. Variables declared `global`
are in the globals of the body.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from autograph.common.code_marks import UNBOUND, Unbound

__all__ = ["UNBOUND", "CellVariable", "GlobalVariable", "State", "Unbound", "Variable"]


class Variable(ABC):
    """A variable that is read and written from outside its function."""

    __slots__ = ("holder", "name")

    def __init__(self, name: str, holder: Any) -> None:
        self.name = name
        self.holder = holder

    def __repr__(self) -> str:
        return f"<variable {self.name}: {self.get()!r}>"

    @abstractmethod
    def get(self) -> Any:
        """Return the value, or UNBOUND."""

    @abstractmethod
    def set(self, value: Any) -> None:
        """Bind the variable to `value`; unbind it if `value` is UNBOUND."""


class CellVariable(Variable):
    """A variable in a closure cell, its holder."""

    __slots__ = ()

    def get(self) -> Any:
        try:
            return self.holder.cell_contents
        except ValueError:
            return UNBOUND

    def set(self, value: Any) -> None:
        if value is not UNBOUND:
            self.holder.cell_contents = value
        elif self.get() is not UNBOUND:
            del self.holder.cell_contents


class GlobalVariable(Variable):
    """A variable of a module, whose `__dict__` is its holder."""

    __slots__ = ()

    def get(self) -> Any:
        return self.holder.get(self.name, UNBOUND)

    def set(self, value: Any) -> None:
        if value is not UNBOUND:
            self.holder[self.name] = value
        else:
            self.holder.pop(self.name, None)


class State:
    """The variables that the bodies of a construct can read and write.

    Attributes:
        carried: the variables that the bodies change and that are read afterwards, in order of appearance.
        passing: the other variables of the bodies; their new values are not read afterwards.
        beyond: variables of the enclosing functions that the bodies access only by calling inner functions.
        functions: the bodies.
    """

    __slots__ = ("beyond", "carried", "functions", "passing")

    def __init__(self, names: Sequence[str], *bodies: object) -> None:
        functions = self.functions = tuple(_functions(bodies))
        module = functions[0].__globals__ if functions else {}
        named: dict[str, Variable] = {}
        for function in functions:
            named.update({variable.name: variable for variable in _cells(function)})
        self.carried: tuple[Variable, ...] = tuple(
            named.pop(name) if name in named else GlobalVariable(name, module) for name in names
        )
        self.passing: tuple[Variable, ...] = tuple(named.values())
        self.beyond: tuple[Variable, ...] = tuple(_beyond(functions))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the carried variables."""
        return tuple(variable.name for variable in self.carried)

    def get(self) -> tuple[Any, ...]:
        """Return the values of the carried variables; UNBOUND for unbound ones."""
        return tuple(variable.get() for variable in self.carried)

    def set(self, values: Iterable[Any]) -> None:
        """Set the carried variables, in the order of `names`; UNBOUND unbinds."""
        for variable, value in zip(self.carried, values):
            variable.set(value)

    def snapshot(self) -> dict[Variable, Any]:
        """Return the values of all variables that the bodies can access, for `restore` and `changed`."""
        return {variable: variable.get() for variable in (*self.carried, *self.passing, *self.beyond)}

    def module_variables(self) -> Iterator[GlobalVariable]:
        """Yield the variables of modules that the bodies name, and those that functions among their variables name."""
        rest: list[Any] = [*self.functions, *(variable.get() for variable in (*self.passing, *self.beyond))]
        visited: set[int] = set()
        for content in rest:
            if type(content) is not FunctionType or id(content) in visited:
                continue
            visited.add(id(content))
            for name in sorted(_names(content.__code__) & content.__globals__.keys()):
                yield GlobalVariable(name, content.__globals__)
                rest.append(content.__globals__[name])

    def restore(self, snapshot: dict[Variable, Any]) -> None:
        """Set all variables to their values in a snapshot."""
        for variable, value in snapshot.items():
            variable.set(value)

    def changed(self, snapshot: dict[Variable, Any]) -> tuple[Variable, ...]:
        """Return the variables, carried or not, that are bound to other objects than in a snapshot."""
        return tuple(variable for variable, value in snapshot.items() if variable.get() is not value)


def _functions(bodies: Iterable[object]) -> Iterator[FunctionType]:
    """Yield the functions among bodies, and those in partial functions."""
    for body in bodies:
        if type(body) is FunctionType:
            yield body
        elif isinstance(body, partial):
            yield from _functions((body.func, *body.args))


def _names(code: CodeType) -> set[str]:
    inner = [_names(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)


def _cells(function: FunctionType) -> Iterator[CellVariable]:
    return map(CellVariable, function.__code__.co_freevars, function.__closure__ or ())


def _beyond(functions: Iterable[FunctionType]) -> Iterator[CellVariable]:
    """Yield the variables of functions that are values of `functions`' variables, of those of these, and so on."""
    found = [variable for function in functions for variable in _cells(function)]
    visited = {id(variable.holder) for variable in found}  # by identity: cells with equal contents are equal
    for known in found:
        content = known.get()
        for variable in _cells(content) if type(content) is FunctionType else ():
            if id(variable.holder) not in visited:
                visited.add(id(variable.holder))
                found.append(variable)
                yield variable


def reached_by(*thunks: Any) -> State:
    """Return the variables that expressions can access; they may change them by calling functions."""
    state = State((), *thunks)
    state.beyond, state.passing = (*state.passing, *state.beyond), ()
    return state
