"""The options of `ag.function`."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypedDict

from autograph.common import forking
from autograph.common.defects import log
from autograph.common.packages import check_names
from autograph.errors import EngineError, StrictError, UnstagedDerivativeError
from autograph.runtime.graph.effects import is_array
from autograph.runtime.graph.graph import Graph, walk
from autograph.runtime.graph.recursion import helper_in, itself_in
from autograph.runtime.graph.traits import AS_UFUNC_OF, IN_PLACE, LOOP

# The kinds that `strict` can refuse.
KINDS = {
    "retrace": "tracing again after the first time",
    "unroll": "a loop that is unrolled without being asked to",
    "callback": "a call of a function that is unknown to the graph",
    "specialize": "a staged argument that is made part of the signature",
    "plain": "code that runs as plain Python",
    "native_callback": "an operation that machine code leaves to Python",
}
# Kinds and passes by the names that they had in earlier versions.
RENAMED = {
    "detour": "native_callback",
    "broadcasts": "redundant_broadcasts",
    "fold": "constant_folding",
    "branches": "prune_branches",
    "tables": "hoist_constants",
    "dead": "dce",
    "reuse": "buffer_reuse",
}
DIFFERENTIATED = ("plain", "derivative")     # the kinds that functions under differentiation refuse
TIERS = "AUTOGRAPH_TIERS"    # the variable that switches tiers off, or changes them by chance
# The engines, and their modules.
ENGINES = {"numpy": "autograph.runtime.engines.numpy.engine", "native": "autograph.runtime.engines.native.engine"}
DEFAULT, VARIABLE = "auto", "AUTOGRAPH_ENGINE"     # the engine by default, and the variable that names another one


class FunctionOptions(TypedDict, total=False):
    """The options of `ag.function` as they are written: for type checkers, and for `help`.

    `check_options` takes the same ones and gives their defaults.
    """

    engine: str | None
    static_argnames: str | Sequence[str]
    input_signature: Sequence[Any] | None
    strict: bool | Iterable[str]
    passes: Mapping[str, bool] | bool
    max_traces: int
    fastmath: bool
    trace_packages: str | Iterable[str]


@dataclass(frozen=True)
class Options:
    """The options of `ag.function`, checked.

    Attributes:
        engine: "auto" or one of `ENGINES`.
        chosen: the source of that choice.
        static_argnames: parameters whose values are part of the signature.
        input_signature: specs of the positional arguments of every call.
        strict: the kinds of events that are errors, see `KINDS`.
        without: the names of the passes that are switched off.
        max_traces: how many traces are kept.
        fastmath: whether machine code may compute with floats differently from NumPy.
        trace_packages: names or globs of installed packages that are traced, besides the function's own.
    """

    engine: str = DEFAULT
    chosen: str = "the default"
    static_argnames: tuple[str, ...] = ()
    input_signature: tuple[Any, ...] | None = None
    strict: frozenset[str] = field(default_factory=frozenset)
    without: frozenset[str] = field(default_factory=frozenset)
    max_traces: int = 64
    fastmath: bool = False
    trace_packages: tuple[str, ...] = ()

    @property
    def is_tiered(self) -> bool:
        """Whether calls run as plain Python until a graph has proved to be faster, see `tiers`."""
        is_free = self.engine == "auto" and not self.strict and self.input_signature is None
        return is_free and os.environ.get(TIERS) != "off"


def _no_such_option(name: str) -> str:
    import difflib

    there = _listed(sorted(FunctionOptions.__annotations__))
    close = difflib.get_close_matches(name, FunctionOptions.__annotations__, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"ag.function has no option {name!r}; the options are {there}{hint}"


def check_options(
    parameters: Iterable[str],
    *,
    passes: Mapping[str, bool] | bool = True,
    engine: str | None = None,
    static_argnames: str | Sequence[str] = (),
    input_signature: Sequence[Any] | None = None,
    strict: bool | Iterable[str] = False,
    max_traces: int = 64,
    fastmath: bool = False,
    trace_packages: str | Iterable[str] = (),
    **unknown: Any,
) -> Options:
    """Check the user's options.

    Raises:
        ValueError: an option has an impossible value, or names a parameter that does not exist.
        TypeError: an option has the wrong type, or does not exist.
    """
    for name in unknown:
        raise TypeError(_no_such_option(name))
    if not isinstance(max_traces, int) or max_traces < 1:
        raise ValueError(f"max_traces is the number of traces to keep, at least 1, not {max_traces!r}")
    engine, chosen = _engine(engine)
    if input_signature is not None and not isinstance(input_signature, (list, tuple)):
        raise TypeError(
            "input_signature is a list with a spec for each positional argument, such as "
            f"[ag.TensorSpec((None,), 'f8')], not {input_signature!r}"
        )
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    parameters = tuple(parameters)
    for name in names:
        if name not in parameters:
            there = _listed(parameters) if parameters else "none"
            raise ValueError(f"static_argnames names {name!r}, but the parameters are {there}")
    return Options(
        engine,
        chosen,
        names,
        None if input_signature is None else tuple(input_signature),
        _kinds(strict),
        _switched_off(passes),
        max_traces,
        _fastmath(fastmath, engine, chosen),
        check_names(trace_packages, "trace_packages"),
    )


def _engine(name: str | None) -> tuple[str, str]:
    """The chosen engine, checked, and the source of the choice."""
    chosen = "asked for by engine="
    if name is None:
        name = os.environ.get(VARIABLE)
        chosen = f"asked for by {VARIABLE}" if name else "the default"
    engine = name or DEFAULT
    if engine not in ("auto", *ENGINES):
        where = f"{VARIABLE}: " * (VARIABLE in chosen)
        there = _listed(("auto", *ENGINES))
        raise ValueError(f"{where}there is no engine {engine!r}; the engines are {there}")
    if engine == "native" and not can_compile():
        raise EngineError(
            "engine='native' needs llvmlite, which is not installed: pip install 'autograph-py[native]', or leave "
            "engine= out, as engine='numpy' runs the same programs"
        )
    if engine == "native":
        with forking.undivided():
            importlib.import_module(ENGINES[engine]).get_ready()    # now, so that the first call need not wait for it
    return engine, chosen


def engine_for(graph: Graph, options: Options, function: str) -> tuple[str, str, dict[str, Any]]:
    """The engine for a function's graph, the reason for it, and its options."""
    if options.engine == "native":
        kind = "native_callback"
        strict = {"refuse": partial(refuse, options, function, kind)} if kind in options.strict else {}
        fast = {"fastmath": True} if options.fastmath else {}
        return options.engine, options.chosen + ", with fastmath=True" * bool(fast), strict | fast
    if options.engine != "auto":
        return options.engine, options.chosen, {}
    if not _is_worth_a_try(graph):
        return "numpy", NOTHING, {}
    if not can_compile():
        if options.is_tiered:
            _tell_of_llvmlite(function)
        return "numpy", "llvmlite is not installed, which makes machine code", {}
    why = "loops and operations on arrays become machine code when that pays"
    return "native", why, {"patient": not options.is_tiered}


NOTHING = "no loop or operation here could become machine code"


_logged: list[str] = []   # the function that the log names, once it does


def _tell_of_llvmlite(function: str) -> None:
    """Log, once in a process, how to get machine code for a hot function."""
    if not _logged:
        _logged.append(function)
        log(
            f"{function} takes much time, and could become machine code, but llvmlite is not installed: "
            "pip install 'autograph-py[native]' (60 MB). This message comes once"
        )


def _is_worth_a_try(graph: Graph) -> bool:
    """Whether machine code may pay: there is a loop, a call of itself or a helper, or several operations on arrays."""
    nodes = [*walk(graph.block)]
    if any(node.op in LOOP or itself_in(node) or helper_in(node) for node in nodes):
        return True
    arrays = [node.op for node in nodes if any(map(is_array, node.outputs))]
    return len(arrays) > 1 and sum(op in AS_UFUNC_OF or op in IN_PLACE or op in _inner_loops() for op in arrays) > 1


def _inner_loops() -> Collection[str]:
    found: Collection[str] = importlib.import_module("autograph.runtime.ops.inner_loops").LOOPS   # takes its time
    return found


def _fastmath(fastmath: bool, engine: str, chosen: str) -> bool:
    if not isinstance(fastmath, bool):
        raise TypeError(f"fastmath is True or False, not {fastmath!r}")
    if fastmath and engine != "native":
        raise ValueError(
            f"fastmath=True is for machine code, but the engine is {engine!r} ({chosen}), which computes as NumPy "
            "does: say engine='native', or leave fastmath= out"
        )
    return fastmath


def can_compile() -> bool:
    """Whether llvmlite is installed, which compiles machine code."""
    return importlib.util.find_spec("llvmlite") is not None


def _kinds(strict: bool | Iterable[str]) -> frozenset[str]:
    if isinstance(strict, bool):
        return frozenset(KINDS) if strict else frozenset()
    kinds = [strict] if isinstance(strict, str) else list(strict)
    for kind in kinds:
        if kind not in KINDS and kind not in DIFFERENTIATED:
            raise ValueError(f"strict cannot refuse {kind!r}{_renamed(kind)}; it can refuse {_listed(KINDS)}")
    return frozenset(kinds)


def _switched_off(passes: Mapping[str, bool] | bool) -> frozenset[str]:
    if passes is True:
        return frozenset()
    all_passes: Collection[str] = importlib.import_module("autograph.runtime.passes").PASSES  # only now: it is slow
    if passes is False:
        return frozenset(all_passes)
    if not isinstance(passes, Mapping):
        raise TypeError(f"passes is a dict of the names of passes, such as {{'cse': False}}, not {passes!r}")
    for name in passes:
        if name not in all_passes:
            raise ValueError(f"there is no pass {name!r}{_renamed(name)}; the passes are {_listed(all_passes)}")
    return frozenset(name for name, runs in passes.items() if not runs)


def _renamed(name: str) -> str:
    return f", which is now called {RENAMED[name]!r}" if name in RENAMED else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def refuse(options: Options, function: str, kind: str, message: str, place: tuple[str, int] | None = None) -> None:
    """Raise an error if a function is strict about `kind`."""
    if kind not in options.strict:
        return
    if "derivative" in options.strict:
        advice = "Only staged code has derivatives: change the code so that this does not happen"
        raise UnstagedDerivativeError(f"{function} {message}. {advice}", *(place or ()))
    raise StrictError(
        f"{function} is strict about {kind!r} ({KINDS[kind]}), and {message}. Change the code so that this does not "
        f"happen, or leave {kind!r} out of strict=",
        *(place or ()),
    )
