"""What the calls of one public function take, plain and staged, and whether they do the same.

The module of the function is loaded twice: one stays plain, in the other the function is decorated under its own name,
as users would, so that recursive calls are staged calls too. All of this runs in a process of its own.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import gc
import importlib.util
import inspect
import io
import itertools
import math
import os
import random
import statistics
import sys
import textwrap
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from real_examples import Example
from real_sources import Subject

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests import outcomes

sys.path.pop(0)
import autograph as ag
from autograph.runtime.dispatch.compilation import Hooks

Function = Callable[..., Any]


def _total(values: Any) -> Any:
    total = 0
    for value in values:
        total += value * value
    return total


for _engine in ("numpy", "native") if importlib.util.find_spec("llvmlite") else ("numpy",):
    ag.function(_total, engine=_engine)(np.arange(9.0))  # so that the processes find imported what first calls import

Result = dict[str, Any]
LONGEST = 0.05  # seconds that a plain call may take; four times that to prepare it
WARM = 1000, 0.15  # calls and seconds before calls are timed, so that the tier is settled
ENOUGH = 0.5  # seconds after which fewer calls will do, those of copying arguments included
ROUNDS = 9
clock = time.process_time


class Unsuitable(Exception):
    """The function cannot be measured, for it differs from call to call, takes too long, or has no call that works."""


def measure(subject: Subject) -> Result:
    """Compare and time the calls of a function; `skipped` says why it could not be."""
    with _quiet():
        try:
            plain, staged = (_Side(subject) for _ in range(2))
            examples = _suitable(plain, subject)
            staged.decorate()
        except Unsuitable as error:
            return {"skipped": str(error)}
        example = examples[0]
        result = _first_calls(plain, staged, example)
        result |= _later_calls(plain, staged, example, bool(result["mutates"]))
        for each in [example, *examples]:
            result["differs"] += _difference(staged.run(each), plain.run(each), "a late call", each)
        result |= _staging(staged, example) | _loops(plain.function)
        return result if result["whole"] or not result["loops"] else result | _own_loops(staged, example)


class _Side:
    """A function in a module of its own."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        with outcomes.time_limit():
            try:
                self.module = _load(subject)
                self.owner = self.module
                *path, self.name = subject.name.split(".")
                for part in path:
                    self.owner = getattr(self.owner, part)
                self.function: Function = vars(self.owner)[self.name]
            except BaseException as error:  # also that the time is over
                raise Unsuitable(f"cannot be imported: {type(error).__name__}: {error}") from None
        if not isinstance(self.function, types.FunctionType) or inspect.isgeneratorfunction(self.function):
            raise Unsuitable("no plain function")

    def decorate(self) -> None:
        self.function = ag.function(self.function)
        setattr(self.owner, self.name, self.function)

    def names(self, example: Example) -> dict[str, Any]:
        """The names among which the arguments are evaluated; random numbers begin anew."""
        sys.modules[self.module.__name__] = self.module
        names = dict(vars(self.module))
        random.seed(0)
        np.random.seed(0)
        exec(example.setup, names)
        random.seed(0)
        np.random.seed(0)
        return names

    def run(self, example: Example, function: Function | None = None) -> outcomes.Outcome:
        return outcomes.run(function or self.function, example.arguments, self.names(example))

    def arguments(self, example: Example) -> tuple[tuple[Any, ...], dict[str, Any]]:
        names = self.names(example) | {"_arguments": lambda *args, **kwargs: (args, kwargs)}
        return eval(f"_arguments({example.arguments})", names)


def _load(subject: Subject) -> types.ModuleType:
    sys.modules.update({name: _Stub(name) for name in subject.stubs if name not in sys.modules})
    path = [str(subject.root), str(subject.file.parent)]
    sys.path += [each for each in path if each not in sys.path]
    name = ".".join(subject.file.relative_to(subject.root).with_suffix("").parts)
    package = name.rpartition(".")[0]
    if (subject.file.parent / "__init__.py").exists() and package:
        importlib.import_module(package)
    spec = importlib.util.spec_from_file_location(name, subject.file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class _Stub(types.ModuleType):
    """A module of which everything is a decorator that gives the function; `numba` without compiling."""

    __path__: list[str] = []
    prange = range

    @staticmethod
    def overload(*_: Any, **options: Any) -> Any:
        return lambda function: function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __call__(self, *args: Any, **options: Any) -> Any:
        return args[0] if args and isinstance(args[0], types.FunctionType) else lambda function: function


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "w"))
        stack.enter_context(contextlib.redirect_stdout(nowhere))
        stack.enter_context(contextlib.redirect_stderr(nowhere))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        yield


def _suitable(plain: _Side, subject: Subject) -> list[Example]:
    """The examples that do the same at each call, the one that takes longest first."""
    found: list[tuple[float, Example]] = []
    why = "no example call"
    for example in subject.examples[:8]:
        try:
            with outcomes.time_limit(4 * LONGEST):
                args, kwargs = plain.arguments(example)
                begin = time.thread_time()  # under a time limit the clock of the process advances by ticks
                with contextlib.suppress(Exception):
                    plain.function(*args, **kwargs)
                spent = time.thread_time() - begin
            first = plain.run(example)
            if spent > LONGEST:
                why = "takes long"
            elif first.exception:
                why = f"raises {first.exception}"
            elif any(isinstance(each, Iterator) and not isinstance(each, io.IOBase) for each in args):
                why = "uses up an argument"
            elif plain.run(example) != first:
                why = "does something else at each call"
            else:
                found.append((spent, example))
        except BaseException as error:  # also that the time is over
            why = "takes long" if type(error) is BaseException else f"{type(error).__name__}: {error}"
    if not found:
        raise Unsuitable(why)
    return [example for _, example in sorted(found, key=lambda each: -each[0])]


def _first_calls(plain: _Side, staged: _Side, example: Example) -> Result:
    """The times of the first calls, staged and plain, and whether the first three staged calls do the same.

    The first plain call is one in a module of its own, too: it may change what later ones find.
    """
    spent: dict[str, list[float]] = {}

    def timed(side: str, function: Function) -> Function:
        def call(*args: Any, **kwargs: Any) -> Any:
            begin = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent.setdefault(side, []).append(time.thread_time() - begin)

        return call

    before = outcomes.described(plain.arguments(example))
    fresh = _Side(plain.subject)
    fresh.run(example, timed("fresh", fresh.function))
    differs = []
    for number in range(3):
        wanted = plain.run(example, timed("plain", plain.function))
        actual = staged.run(example, timed("staged", staged.function))
        differs += _difference(actual, wanted, f"call {number + 1}", example)
    return {
        "first": spent["staged"][0],
        "first_plain": spent["fresh"][0],
        "mutates": before != wanted.arguments,
        "differs": differs,
    }


def _difference(actual: outcomes.Outcome, wanted: outcomes.Outcome, when: str, example: Example) -> list[str]:
    parts = ("value", "exception", "printed", "warnings", "arguments")
    different = [(part, getattr(actual, part), getattr(wanted, part)) for part in parts]
    return [
        f"{when} ({_short(example.arguments)}), {part}: {_short(is_)} instead of {_short(was)}"
        for part, is_, was in different
        if is_ != was
    ]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:200] + "…"


def _later_calls(plain: _Side, staged: _Side, example: Example, mutates: bool) -> Result:
    """The times of a call after many: plain, and the ratio of staged to plain, the median of pairs."""
    # a loop for each, since Python specializes a call for the function that it finds there
    loops = [_loop("function", *plain.arguments(example)) for _ in range(2)]
    empty = _loop("", *plain.arguments(example))
    sides = [(loop, side.function, _calls(side, example, mutates)) for loop, side in zip(loops, (plain, staged))]
    for loop, function, calls in sides:
        _warm(loop, function, calls)
    guess = min(_timed(loops[0], plain.function, sides[0][2](1)) for _ in range(5))
    begin = clock()
    sides[0][2](10)
    copying = (clock() - begin) / 10
    number = max(1, min(20_000, int(2e-3 / max(guess, 1e-7)), int(2e-2 / max(copying, 1e-7))))
    best: Result = {"ratio": math.inf}
    for _ in range(3):  # again if the machine may have been at fault
        result = _alternately(empty, sides, number, ROUNDS if guess < 0.01 else 3)
        best = min(best, result, key=lambda each: each["ratio"])
        if best["ratio"] * best["plain"] <= 1.05 * best["plain"] + 0.1e-6 or guess > 0.01:
            break
    return best


def _warm(loop: Function, function: Function, calls: Callable[[int], list[Any]]) -> None:
    spent, number, many, begin = 0.0, 0, 1, clock()
    while (number < WARM[0] or spent < WARM[1]) and (clock() - begin < ENOUGH or number < 5):
        spent += _timed(loop, function, calls(many))
        number += many
        many = min(2 * many, 100, max(1, int(0.1 * ENOUGH / max(spent / number, 1e-6))))


def _alternately(empty: Function, sides: list[Any], number: int, rounds: int) -> Result:
    pairs = []
    for first in itertools.islice(itertools.cycle((0, 1)), rounds):
        pair = {}
        for index in (first, 1 - first):
            loop, function, calls = sides[index]
            given = calls(number)
            gc.collect()
            spent = _timed(loop, function, given) - _timed(empty, function, given)
            pair[index] = max(spent / number, 1e-8)
        pairs.append((pair[0], pair[1]))
    plain = statistics.median(pair[0] for pair in pairs)
    return {"plain": plain, "ratio": statistics.median(pair[1] / pair[0] for pair in pairs)}


def _calls(side: _Side, example: Example, mutates: bool) -> Callable[[int], list[Any]]:
    """Gives the arguments of many calls: the same, or copies if the function changes them."""
    side.names(example)
    args, kwargs = side.arguments(example)
    given = (*args, *kwargs.values())
    return lambda number: [copy.deepcopy(given) if mutates else given for _ in range(number)]


def _loop(function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Function:
    """A loop of calls as users write them; without calls if there is no function."""
    names = [f"a{index}" for index in range(len(args) + len(kwargs))]
    words = [*names[: len(args)], *(f"{word}={name}" for word, name in zip(kwargs, names[len(args) :]))]
    target = "".join(f"{name}, " for name in names) or "_"
    call = f"{function}({', '.join(words)})" if function else "pass"
    made: dict[str, Any] = {}
    exec(f"def loop(function, calls):\n    for {target} in calls:\n        {call}", made)
    return made["loop"]


def _timed(loop: Function, function: Function, calls: list[Any]) -> float:
    gc.disable()
    try:
        begin = clock()
        loop(function, calls)
        return clock() - begin
    finally:
        gc.enable()


def _staging(staged: _Side, example: Example) -> Result:
    """The tier in which the calls ended, and whether the function can be traced as a whole."""
    function: Any = getattr(staged.function, "__ag_function__", staged.function)
    tier, reason = _tier(function)
    args, kwargs = staged.arguments(example)
    with outcomes.time_limit():
        report = function.explain(*args, **kwargs)  # traces it, if no call did
    reasons = list(dict.fromkeys(str(trace.plain) for trace in function.traces if trace.plain))
    loops = [loop.tier for loop in getattr(report, "loops", ())]
    return {"tier": tier, "reason": reason, "whole": not reasons, "reasons": reasons, "loops_staged": loops}


def _own_loops(staged: _Side, example: Example) -> Result:
    """What became of the loops of a function that cannot be traced as a whole.

    They are staged; or were, and that is slower; or can be, but do not run long enough here; or cannot be.
    """
    function: Any = getattr(staged.function, "__ag_function__", staged.function)
    tiers = function._tiers
    runner = None if tiers is None else tiers.runner
    loops = [] if runner is None else runner.loops
    if any(loop.tier for loop in loops):
        return {"own_loops": "slower" if tiers.is_resting else "staged"}
    if any("not faster" in loop.reason for loop in loops):
        return {"own_loops": "slower"}
    at_once = Hooks.loops(function.python_function, function._specializer.options, 0.0, 0)
    if at_once is None:
        return {"own_loops": "cannot be", "loop_reasons": ["they are plain in converted code"]}
    for _ in range(2):
        staged.run(example, at_once.function)
    if any(loop.tier for loop in at_once.loops):
        return {"own_loops": "short"}
    reasons = [loop.reason for loop in at_once.loops] or ["they do not run"]
    return {"own_loops": "cannot be", "loop_reasons": list(dict.fromkeys(reasons))}


def _tier(function: Any) -> tuple[int, str]:
    tiers = getattr(function, "_tiers", None)
    trials = [] if tiers is None else list(tiers.trials.values())
    reason = "; ".join(dict.fromkeys(trial.reason for trial in trials if trial.reason))
    if tiers is not None and (tiers.is_resting or not any(trial.faster == "staged" for trial in trials)):
        return 0, reason
    staged = [trace.executable for trace in function.traces if not trace.plain]
    is_native = any(getattr(each, "native", None) is not None and each.native.is_used for each in staged)
    return (2 if is_native else 1) if staged else 0, reason


def _loops(function: Function) -> Result:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return {"loops": sum(isinstance(node, (ast.For, ast.While)) for node in ast.walk(tree))}
