"""Advice: what keeps a call from being faster, in the user's terms, and what to do about it.

A `Rule` recognizes an event. `tests/runtime/dispatch/advice/` has a program for each, before and after its remedy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from autograph.common.printing.locations import place_in
from autograph.common.trace_rules import ROOT
from autograph.runtime.graph.signature import Event, Where

# The likely gain, by what runs as Python: all of a function, a loop, an operation in a loop, or next to nothing.
FUNCTION, LOOP, OPERATION, LITTLE = 4.0, 3.0, 2.0, 1.0
SHORT = 1e-4  # seconds of an operation for which there is no advice


@dataclass(frozen=True)
class Advice:
    """A reason why a call is not faster, and a remedy.

    Attributes:
        rule: the name of the mechanism.
        cause: in the user's terms.
        remedy: one thing to do.
        place: the user's file and line.
        gain: a greater number for a greater gain.
        count: how often there is the same advice.
        seconds: the time that the cause has taken so far, if known.
    """

    rule: str
    cause: str
    remedy: str
    place: Where | None = None
    gain: float = 0.0
    count: int = 1
    seconds: float = 0.0


class Rule(NamedTuple):
    """Advice for events of some kinds, in whose message and `about`, below each other, a pattern is found.

    The groups of the pattern fill in `cause` and `remedy`.
    """

    name: str
    kinds: Collection[str]
    pattern: str
    cause: str
    remedy: str
    gain: float


# The table -----------------------------------------------------------------------------------------------------------

PLAIN = ("plain",)
LOOPS = ("native",)
CALLS = ("native_callback",)
_NUMBERS = r"(?:(?:ints|floats|bools|complex numbers)(?:, | and )?)+$"

_SUBJECT = r"(?P<subject>`[^`]+`|this) is (?:of )?"      # `this`: its name is unknown, as often in Python 3.10

# The subject of operations that machine code leaves to Python: a pattern for `about`, the cause, and the remedy.
_SUBJECTS = [
    ("nested-list", rf"{_SUBJECT}(?P<kind>a (?:list|tuple) of (?:lists|tuples) of {_NUMBERS})",
     "{subject} is {kind}", "Make it a 2-D NumPy array, whose elements machine code reads and sets"),
    ("mixed-list", rf"{_SUBJECT}(?P<kind>a (?:list|tuple) of (?:ints|floats|bools)(?:, | and ){_NUMBERS})",
     "{subject} is {kind}", "Give all its numbers one type, or make it a NumPy array"),
    ("list", rf"{_SUBJECT}(?P<kind>a (?:list|tuple)(?: of {_NUMBERS}|$))",
     "{subject} is {kind}", "Make it a NumPy array, whose elements machine code reads and sets"),
    ("string", rf"{_SUBJECT}(?P<kind>a string|a (?:list|tuple) of strings)",
     "this loop works on strings: {subject} is {kind}",
     "Handle strings in a loop of their own, and numbers in this one"),
    ("dict", rf"{_SUBJECT}(?P<kind>a (?:dict|set|frozenset).*|an object of class "
     r"(?:defaultdict|Counter|OrderedDict))$",
     "{subject} is {kind}", "If its keys are small integers, make it an array, and use them as indexes"),
    ("attribute", r"`\.(?P<attribute>\w+) = …`(?:; `(?P<name>[^`]+)` is (?P<kind>an? object of class \w+))?",
     "this loop sets the attribute `{attribute}` of an object in each iteration",
     "Use a local variable in the loop, and set the attribute behind it"),
    ("deque", rf"{_SUBJECT}(?P<kind>an object of class deque)",
     "{subject} is a deque", "Use an array, and the places of its first and last element"),
    ("random", rf"{_SUBJECT}an object of class (?:Generator|Random|RandomState)$",
     "{subject} is a generator of random numbers, of a distribution that has no machine code",
     "Draw the numbers before the loop, into an array"),
    ("object", rf"{_SUBJECT}(?P<kind>an? object of class .*|a list of \w+ objects)$",
     "{subject} is {kind}", "Read what the loop needs of it into local variables or arrays before the loop"),
]  # fmt: skip

_OF_SUBJECTS = [
    Rule(name, kinds, pattern, cause, remedy, gain)
    for kinds, gain in ((LOOPS, LOOP), (CALLS, OPERATION))
    for name, pattern, cause, remedy in _SUBJECTS
]

_OF_FUNCTIONS = [
    Rule("handler", PLAIN, r"`(?P<what>except|finally|with|try)[^`]*` is around an",
         "operations in a loop are inside of `{what}`",
         "Move the loop into a function of its own, and call that inside of `{what}`", FUNCTION),
    Rule("exposed", PLAIN, r"it changes objects, and if it raises, code around it may read its variables",
         "this loop changes objects, and is inside of a `try` or `with`",
         "Move it into a function of its own, and call that there", FUNCTION),
    Rule("recursion", (*PLAIN, "signature"), r"to know how deep the recursion of (?P<name>[\w.<>]+) goes",
         "`{name}` calls itself, and is traced for each depth",
         "Decorate the one that recurses with ag.function, and not its caller; or write it as a loop", FUNCTION),
    Rule("recursion", PLAIN, r"(?P<name>\w+) calls itself too often|its recursion, or a nested structure, is too deep",
         "the recursion is too deep to be traced",
         "Decorate the one that recurses with ag.function, and not its caller; or write it as a loop", FUNCTION),
    Rule("class-test", PLAIN, r"the value of `(?P<name>[^`]+)` is needed to know its class",
         "the class of `{name}` is tested, which is known only when the loop runs",
         "Make a list of one class, such as `[float(x) for x in xs]`, before this function is called", FUNCTION),
    Rule("computed-key", PLAIN, r"the value of `(?P<name>[^`]+)` is needed as a key",
         "`{name}`, which is computed here, is a key of a dict or an element of a set",
         "If the keys are small integers, use an array, and the keys as indexes", FUNCTION),
    Rule("text", PLAIN, r"the value of `(?P<name>[^`]+)` is needed as text",
         "`{name}`, which is computed here, becomes part of a text",
         "Make the text outside of this function", FUNCTION),
    Rule("needed", PLAIN, r"the value of (?P<name>`[^`]+`|something of type \S+) is needed (?P<use>[^,]+)",
         "Python itself needs {name} {use}",
         "Use `if`, `for` and NumPy's functions, or move this line out of the function", FUNCTION),
    Rule("two-kinds", PLAIN, r"(?P<paths>`?(?P<name>[\w .]+)`? is .+ on one path.* on the other[^,]*)",
         "{paths}", "Give it the same type on both paths, such as -1 or math.nan instead of None", FUNCTION),
    Rule("unstaged-code", PLAIN, r"code that is not staged cannot take a staged value",
         "a function on this line takes only Python's own objects",
         "Use operators and NumPy's functions instead, or call it outside of this function", FUNCTION),
    Rule("two-names", PLAIN, r"a (?P<kind>list|dict|set) (?:is changed that is|that is made .* gets two names)",
         "a {kind} that is changed here is reachable under two names", "Change it under one name, or make a copy first",
         FUNCTION),
    Rule("generator", PLAIN, r"(?:the generator .* is left|a generator is used again|elements of a generator one by one"
         r"|an iterator \(of class|the end of an iteration is known only)",
         "an iterator or generator goes on where it was left before", "Make a list of its items first", FUNCTION),
    Rule("frames", PLAIN, r"(?P<name>[\w.]+) (?:looks at frames|inspects its caller)",
         "`{name}` looks at the variables of other functions", "Call it outside of this function", FUNCTION),
    Rule("module-attribute", PLAIN, r"an attribute of the (?P<what>module|function) (?P<name>[\w.]+) is set",
         "an attribute of the {what} `{name}` is set",
         "Return the value, and set the attribute in the caller", FUNCTION),
    Rule("sourceless", PLAIN, r"the source of '?(?P<name>[^']+)'? is not available|(?P<compiled>\S+) is compiled, and",
         "the source of this function is not available", "Define it in a file, or in a cell of a notebook", FUNCTION),
    Rule("often", PLAIN, r"traces were dropped after hardly a call",
         "most calls need a trace of their own", "Pass what varies as numbers or arrays, not as texts or new objects",
         FUNCTION),
    Rule("budget", PLAIN, r"budget|was stopped",
         "tracing it takes too long", "Decorate the functions that it calls in its innermost loops instead", FUNCTION),
    Rule("plain", PLAIN, r"(?:runs|ran) as plain Python: (?P<what>.+?)(?:, (?:[/\\<]|\w:\\).*)?$",
         "{what}", "Move this line out of the function, and the rest of it can be staged", FUNCTION),
]  # fmt: skip

_OF_LOOPS = [
    Rule("identity", LOOPS, r"compares numbers by identity",
         "numbers are compared by `is`", "Compare them by `==`, so that the loop can become machine code", LOOP),
    Rule("wide", LOOPS, r"ran in Python (?P<count>\d+) times, for integers of more than 64 bits",
         "the integers of this loop grow beyond 64 bits", "Use floats, or take them `% n` in each iteration", LOOP),
    Rule("changing-types", LOOPS, r"it is left to Python too often",
         "variables of this loop change their type from iteration to iteration",
         "Give each variable one type from the beginning, such as 0.0 instead of 0", LOOP),
    Rule("too-long", LOOPS, r"its code would be too long",
         "this loop is too long for machine code", "Move parts of it into loops of their own", LOOP),
    Rule("no-lowering", LOOPS, r"this loop stays in Python: there is no machine code for (?P<what>`[^`]+`)",
         "there is no machine code for {what} in this loop",
         "Compute that outside of the loop, or with numbers and elements of arrays", LOOP),
    Rule("left-to-python", LOOPS, r"this is left to Python: (?P<what>`(?!\w+`\n)[^;\n]+)\n",
         "{what} has no machine code",
         "Move it out of the loop, or compute it in the loop with numbers and elements of arrays", LOOP),
    Rule("numpy-call", CALLS, r"some (?P<each>\d(?:\.\d+)?) µs each.*\n(?P<what>`[^;]+`); NumPy runs this$",
         "{what} takes {each} µs each time, most of it for calling NumPy",
         "If its arrays are small, write it as a loop over their elements", OPERATION),
    Rule("python-call", CALLS, r"^(?!`iter`).*\n(?P<what>`[^;]+`)(?:; `.*)?$",
         "machine code calls Python for {what}",
         "Move it out of the loop, or compute it in the loop with numbers and elements of arrays", OPERATION),
    Rule("llvmlite", ("engine",), r"llvmlite is not installed",
         "llvmlite, which makes machine code, is not installed", "pip install 'autograph-py[native]'", FUNCTION),
    Rule("pinned", ("engine",), r"runs on the engine numpy: asked for by (?P<by>\S+)",
         "`{by}` keeps the loops of this function in Python",
         "Leave it out, and loops can become machine code", FUNCTION),
    Rule("unrolled", ("unroll",), r"(?P<count>\d+) iterations of this loop take (?P<operations>\d{4,}) operations",
         "{count} iterations of this loop are written out, which takes {operations} operations",
         "Loop over `range(n)` with `n` an argument, and use arrays instead of lists in it", OPERATION),
    Rule("package", ("callback",), r"(?P<name>[\w.]+) .*trace_packages=",
         "`{name}`, of an installed package, is called as it is",
         "Name its package in `trace_packages=`, and its loops are traced, too", LITTLE),
]  # fmt: skip

_OF_SIGNATURES = [
    Rule("static-value", ("signature",),
         r"`(?P<name>[^`]+)` is part of the signature from now on: its value is needed (?P<use>[^,]+)",
         "each value of `{name}` is traced anew, as it is needed {use}",
         "Pass few different values, or use an array and its elements instead", LITTLE),
    Rule("static-kind", ("signature",),
         r"`(?P<name>[^`]+)` is part of the signature from now on: (?P<why>.*), ",
         "each value of `{name}` is traced anew: {why}",
         "Choose between numbers on the paths, and make the object behind them", LITTLE),
]  # fmt: skip

RULES = (*_OF_FUNCTIONS, *_OF_SUBJECTS, *_OF_LOOPS, *_OF_SIGNATURES)


# Its use ------------------------------------------------------------------------------------------------------------


def advice_for(events: Iterable[Event]) -> list[Advice]:
    """The advice for some events, the greatest gain first; equal advice once, with its number."""
    found = (next(filter(None, (_applied(rule, event) for rule in RULES)), None) for event in events)
    return merged(advice for advice in found if advice is not None)


def merged(advice: Iterable[Advice]) -> list[Advice]:
    """Equal advice once, with its number and time; the greatest gain first."""
    found: dict[tuple[str, str], Advice] = {}
    for each in advice:
        first = found.get((each.cause, each.remedy))
        if first is not None:
            each = replace(first, count=first.count + each.count, seconds=first.seconds + each.seconds)
        found[each.cause, each.remedy] = each
    return sorted(found.values(), key=lambda each: (-each.gain, -each.seconds))


def _applied(rule: Rule, event: Event) -> Advice | None:
    if event.kind not in rule.kinds or 0 < event.seconds < SHORT:
        return None
    place = event.place or place_in(event.message)
    match = re.search(rule.pattern, f"{event.message}\n{event.about}".rstrip("\n"))
    if match is None or (place is not None and place[0].startswith(ROOT)):
        return None     # the user cannot change this library
    cause, remedy = (text.format_map(match.groupdict()) for text in (rule.cause, rule.remedy))
    return Advice(rule.name, cause, remedy, place, rule.gain, seconds=event.seconds)
