"""`tf.train.Checkpoint`: saves the values of the variables in objects, and sets them again."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import normal
from autograph.compat.tensorflow.module import notice_attributes
from autograph.compat.tensorflow.ops.variables import Variable
from autograph.compat.tensorflow.train import files
from autograph.compat.tensorflow.train.tracking import ListWrapper, Tracked, children_of, is_iterator, is_optimizer

_VALUE = ".ATTRIBUTES/VARIABLE_VALUE"


class Checkpoint(Tracked):
    """Objects with variables, as attributes; `save` writes the values of these, and `restore` sets them.

    Variables are found by the names of the attributes that lead to them. Those that do not exist yet are set as soon as
    they do.

    Args:
        root: an object; what is in it belongs to the checkpoint as its own.
        kwargs: the attributes.
    """

    save_counter: Variable

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        if root is not None:
            self._root = root
        for name, each in kwargs.items():
            setattr(self, name, each)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, ListWrapper(value) if type(value) is list else value)

    def _counter(self) -> Variable:
        if "save_counter" not in vars(self):
            self.save_counter = Variable(0, False, name="save_counter", dtype="int64")
        return self.save_counter

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values to the file of that name; gives the name."""
        prefix = str(os.fspath(file_prefix))
        nodes, arrays = _collected(self)
        files.write(prefix, arrays, nodes)
        return prefix

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Write the values to a file of that name with a number; gives the name."""
        counter = self._counter()
        counter.assign_add(1)
        prefix = self.write(f"{os.fspath(file_prefix)}-{int(counter.numpy())}")
        directory = Path(prefix).parent
        kept = [each for each in files.read_state(directory) if Path(each).name != Path(prefix).name]
        files.write_state(directory, prefix, [*kept, prefix])
        return prefix

    def read(self, save_path: Any, options: Any = None) -> LoadStatus:
        """Set the variables to the values in a file that `write` has written.

        Raises:
            NotFoundError: there is no such file.
            LoadError: it is damaged.
            ValueError: a variable has another shape.
        """
        restoration = _Restoration(files.CheckpointReader(save_path))
        restoration.bind(self, 0)
        return LoadStatus(self, restoration)

    def restore(self, save_path: Any, options: Any = None) -> LoadStatus:
        """Set the variables to the values in a file that `save` has written; nothing for None."""
        if save_path is None:
            return LoadStatus(self, None)
        status = self.read(save_path)
        self._counter()
        return status


def _collected(root: Any) -> tuple[list[Any], dict[str, Any]]:
    """The graph of objects, and the arrays, each by the shortest path of names that leads to it."""
    numbers, things, paths = {id(root): 0}, [root], [""]
    nodes: list[Any] = []
    arrays: dict[str, Any] = {}
    waiting = deque([0])
    while waiting:
        number = waiting.popleft()
        thing, path = things[number], paths[number]
        children: dict[str, int] = {}
        for name, part in children_of(thing).items():
            if id(part) not in numbers:
                numbers[id(part)] = len(things)
                things.append(part)
                paths.append(f"{path}{name.replace('.', '..').replace('/', '.S')}/")
                waiting.append(numbers[id(part)])
            children[name] = numbers[id(part)]
        node: dict[str, Any] = {"children": children}
        if isinstance(thing, Variable):
            node["value"] = f"{path}{_VALUE}"
            arrays[node["value"]] = thing.numpy()
        elif is_iterator(thing):
            node["value"] = f"{path}.ATTRIBUTES/ITERATOR_STATE"
            arrays[node["value"]] = np.array([thing.position])
        nodes.append(node)
    variables = {id(each._storage): number for number, each in enumerate(things) if isinstance(each, Variable)}
    for number, thing in enumerate(things):
        if is_optimizer(thing):
            nodes[number]["slots"] = slots = []
            for storage, values in thing._slots.items():
                place = variables.get(id(storage))
                if place is not None:
                    begin = f"{paths[place]}.OPTIMIZER_SLOT/{paths[number]}"
                    named = {f"{begin}{name}/{_VALUE}": each for name, each in zip(thing._rule.remembered, values)}
                    arrays.update(named)
                    slots.append([place, list(named)])
    return nodes, arrays


class _Restoration:
    """A checkpoint that is being restored, into objects that exist, and those that come later.

    Attributes:
        matched: the objects that have got their values, by the numbers of nodes.
    """

    def __init__(self, reader: files.CheckpointReader) -> None:
        self.reader = reader
        self.matched: dict[int, Any] = {}
        self._done: set[tuple[int, int]] = set()    # optimizers and variables that have their arrays
        self._waiting: dict[int, list[tuple[Any, list[str]]]] = {}     # optimizers, by the numbers of variables

    def bind(self, thing: Any, number: int) -> None:
        """Give an object the values of a node, and of those below it."""
        if number in self.matched and self.matched[number] is thing:
            return
        self.matched[number] = thing
        node = self.reader.nodes[number]
        if isinstance(thing, Variable):
            if node["value"] is not None:
                _set(thing, self.reader.get_tensor(node["value"]))
            for optimizer, names in self._waiting.pop(number, ()):
                self._set_slots(optimizer, thing, names)
        elif is_iterator(thing):
            if node["value"] is not None:
                thing.seek(int(self.reader.get_tensor(node["value"]).reshape(-1)[0]))
        else:
            if isinstance(thing, ListWrapper):
                thing.changed = lambda: self._visit(thing, number)
            elif not isinstance(thing, (list, tuple, dict)):
                notice_attributes(thing, lambda: self._visit(thing, number))
            self._visit(thing, number)

    def _visit(self, thing: Any, number: int) -> None:
        """Restore what has come into an object."""
        node = self.reader.nodes[number]
        found = children_of(thing)
        for name, child in node["children"].items():
            if name in found:
                self.bind(found[name], child)
        for place, names in node["slots"] if is_optimizer(thing) else ():
            if (id(thing), place) in self._done:
                continue
            self._done.add((id(thing), place))
            variable = self.matched.get(place)
            if variable is None:
                self._waiting.setdefault(place, []).append((thing, names))
            else:
                self._set_slots(thing, variable, names)

    def _set_slots(self, optimizer: Any, variable: Any, names: list[str]) -> None:
        values = [np.array(self.reader.get_tensor(name)) for name in names]
        shape = np.shape(variable._storage.value)
        if len(values) == len(optimizer._rule.remembered) and all(each.shape == shape for each in values):
            optimizer._slots[variable._storage] = values
            optimizer._built = True     # it makes no variables of its own any more

    def unmatched(self) -> list[str]:
        """The names of values that no object has got."""
        nodes = enumerate(self.reader.nodes)
        return [node["value"] for at, node in nodes if node["value"] is not None and at not in self.matched]


def _set(variable: Variable, value: Any) -> None:
    """Set the value of a variable, also while a function is traced."""
    if not variable.shape.is_compatible_with(TensorShape(value.shape)):
        raise ValueError(
            f"Received incompatible tensor with shape {value.shape} when attempting to restore variable with shape "
            f"{variable.shape} and name {variable.name}."
        )
    is_text = value.dtype == object
    if is_text != (variable.dtype.name == "string"):
        raise ValueError(f"the checkpoint has a value of dtype {value.dtype} for the variable {variable.name}")
    variable._storage.value = value[()] if is_text else normal(np.array(value), variable.dtype)


class LoadStatus:
    """The result of restoring a checkpoint: what has been matched so far."""

    def __init__(self, root: Any, restoration: _Restoration | None) -> None:
        self._root = root
        self._restoration = restoration

    def assert_consumed(self) -> LoadStatus:
        """Check that all values of the file were used, and that all objects have got theirs.

        Raises:
            AssertionError: they have not.
        """
        restoration = self._matched()
        left = restoration.unmatched()
        if left:
            raise AssertionError(f"Some objects in the checkpoint have no counterpart in Python: {', '.join(left)}")
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> LoadStatus:
        """Check that all variables that exist were in the file.

        Raises:
            AssertionError: one was not.
        """
        restoration = self._matched()
        got = {id(each) for each in restoration.matched.values()}
        missing = [each.name for each in _variables(self._root) if id(each) not in got]
        if missing:
            raise AssertionError(f"Some Python objects were not bound to checkpointed values: {', '.join(missing)}")
        return self

    def assert_nontrivial_match(self) -> LoadStatus:
        """Check that something besides the root was in the file."""
        if len(self._matched().matched) < 2:
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def expect_partial(self) -> LoadStatus:
        """Accept that some values are not used: does nothing, as no warnings are given."""
        return self

    def _matched(self) -> _Restoration:
        if self._restoration is None:
            raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")
        return self._restoration


def _variables(root: Any) -> list[Variable]:
    found: list[Variable] = []
    seen, waiting = {id(root)}, [root]
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, Variable):
            found.append(thing)
        for part in children_of(thing).values():
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)
    return found
