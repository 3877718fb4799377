"""Finds example calls of public functions: in doctests, in Pythran's `#runas` lines, in npbench's descriptions.

An example is text: statements that prepare, and the arguments of the call. So nothing is imported to find it.

    >>> [*of_statements("n = 3; a = [1] * n; total(a, start=n)", {"total"})]
    [('total', Example(setup='n = 3\\na = [1] * n', arguments='a, start=n'))]
"""

from __future__ import annotations

import ast
import doctest
import json
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Example:
    setup: str  # statements, run among the names of the function's module
    arguments: str  # as in a call


Found = Iterator[tuple[str, Example]]  # the names of functions, each with an example


def of_doctests(file: Path) -> Found:
    """The calls of a function in its own docstring, each after the statements above it."""
    for node in _tree(file.read_text()).body:
        text = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
        if isinstance(node, ast.FunctionDef) and text and not node.decorator_list:
            yield from of_docstring(text, node.name)


def of_docstring(text: str, name: str) -> Found:
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:  # indented inconsistently
        return
    above: list[str] = []
    for each in examples:
        tree = _tree(each.source)
        calls = [*_calls(tree, {name})]
        if calls and not each.exc_msg:
            yield name, Example("\n".join(above), _arguments(calls[0]))
        if not calls or not isinstance(tree.body[0], ast.Expr):
            above.append(each.source.rstrip())


def of_runas(file: Path) -> Found:
    """The calls in Pythran's lines `#runas import numpy as np; x = np.ones(3); f(x)`, and in its `#bench` lines."""
    text = file.read_text()
    names = functions(text)
    for line in re.findall(r"^#\s*(?:runas|bench)\b:?(.*)", text, re.MULTILINE):
        yield from of_statements(line, names)


def of_statements(text: str, names: Set[str]) -> Found:
    """The calls of functions in a text, each with the statements above it that are no such calls themselves."""
    above: list[ast.stmt] = []
    for statement in _tree(text.strip()).body:
        calls = [*_calls(statement, names)]
        for call in calls:
            yield ast.unparse(call.func), Example("\n".join(map(ast.unparse, above)), _arguments(call))
        if not calls or not isinstance(statement, ast.Expr):
            above.append(statement)


def of_npbench(file: Path) -> Found:
    """The call that npbench times, of the smallest size: `bench_info/NAME.json` describes it."""
    info = _npbench(file)
    if info is None:
        return
    sizes = [f"{name} = {value!r}" for name, value in info["parameters"]["S"].items()]
    init = info.get("init")
    if init:
        made, given = (", ".join(init[each]) for each in ("output_args", "input_args"))
        sizes += [f"from {info['module_name']} import {init['func_name']}", f"{made} = {init['func_name']}({given})"]
    yield info["func_name"], Example("\n".join(sizes), ", ".join(info["input_args"]))


def functions(text: str) -> set[str]:
    """The names of the functions of a module, and of the methods of its classes: `Board.move`."""
    found = set()
    for node in _tree(text).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef)}
    return found


def _npbench(file: Path) -> dict[str, object] | None:
    module = file.stem.removesuffix("_numpy")
    root = next(folder for folder in file.parents if (folder / "bench_info").is_dir())
    for description in (root / "bench_info").glob("*.json"):
        info = json.loads(description.read_text())["benchmark"]
        if info["module_name"] == module and file.parent == root / "npbench/benchmarks" / info["relative_path"]:
            return info
    return None


def _tree(text: str) -> ast.Module:
    """The tree of a text, empty if it is no Python of this version."""
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def _calls(tree: ast.AST, names: Set[str]) -> Iterator[ast.Call]:
    """The calls of functions with these names, except those that use names of a comprehension or lambda."""
    if isinstance(tree, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.FunctionDef)):
        return
    if isinstance(tree, ast.Call) and ast.unparse(tree.func) in names:
        yield tree
    for part in ast.iter_child_nodes(tree):
        yield from _calls(part, names)


def _arguments(call: ast.Call) -> str:
    return ", ".join(map(ast.unparse, [*call.args, *call.keywords]))
