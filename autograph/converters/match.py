"""Lowers `match` over values to a chain of `if`s, before anything else is converted.

Only patterns that compare the whole subject (literals, dotted names, `|` of them, captures, `_`) can depend on a staged
value. A `match` with any other pattern takes its subject apart, which is never staged, and stays.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import movable
from autograph.converters.context.base import Context, replace
from autograph.converters.context.bodies import silent_pass
from autograph.syntax import template


def lower(node: Any, why_plain: str | None, context: Context) -> list[Any] | None:
    """Return the statements for a `match`; None if it stays.

    Args:
        why_plain: the reason why all statements of its function stay plain, or None.
    """
    why = why_plain or _reason(node, context)
    if not context.decide(node, "match", why):
        return None
    subject = context.namer.fresh("subject_")
    if isinstance(node.subject, gast.Name) and not any(_capture(case.pattern) for case in node.cases):
        first, subject = [], node.subject.id
    else:
        first = [template.assign(subject, node.subject)]
    new: list[Any] = replace(node, [*first, *_chain(node.cases, subject)])
    if not first and _test(node.cases[0].pattern, subject) is not None:  # the line of the `match` itself is seen to run
        _first_load(new[0].test, node.subject)
    return new


def _reason(node: Any, context: Context) -> str | None:
    if not all(_comparable(case.pattern) and _guardable(case) for case in node.cases):
        return "its patterns take the subject apart, which is never staged"
    if not any(_staged(case.pattern) or case.guard for case in node.cases):
        return "its patterns are never staged"
    return movable.reason([statement for case in node.cases for statement in case.body], context)


def _comparable(pattern: Any) -> bool:
    if isinstance(pattern, gast.MatchOr):
        return all(_comparable(p) and not isinstance(p, gast.MatchAs) for p in pattern.patterns)
    if isinstance(pattern, gast.MatchAs):
        return pattern.pattern is None or (_comparable(pattern.pattern) and _capture(pattern.pattern) is None)
    return isinstance(pattern, (gast.MatchValue, gast.MatchSingleton))


def _guardable(case: Any) -> bool:
    """Whether a guard can become part of the condition of its case.

    A guard that reads a name captured behind a comparison would need the rest of the chain twice.
    """
    return case.guard is None or _capture(case.pattern) is None or case.pattern.pattern is None


def _staged(pattern: Any) -> bool:
    if isinstance(pattern, gast.MatchOr):
        return any(map(_staged, pattern.patterns))
    if isinstance(pattern, gast.MatchAs):
        return pattern.pattern is not None and _staged(pattern.pattern)
    if isinstance(pattern, gast.MatchSingleton):
        return False
    return not (isinstance(pattern.value, gast.Constant) and isinstance(pattern.value.value, (str, bytes)))


def _capture(pattern: Any) -> str | None:
    return pattern.name if isinstance(pattern, gast.MatchAs) else None


def _chain(cases: list[Any], subject: str) -> list[Any]:
    """Return the statements for these cases."""
    if not cases:
        return []
    case, *others = cases
    name, test = _capture(case.pattern), _test(case.pattern, subject)
    bind = [] if name is None else [template.assign(name, template.name(subject))]
    for new in bind:
        gast.copy_location(new, case.pattern)
    if test is None:
        if case.guard is None:
            return [*bind, gast.copy_location(silent_pass(), case.pattern), *case.body]
        return [*bind, _if(case.guard, case.body, _chain(others, subject), case.guard)]
    if case.guard is not None:
        test = gast.BoolOp(gast.And(), [test, case.guard])
    return [_if(test, [*bind, *case.body], _chain(others, subject), case.pattern)]


def _if(test: Any, body: list[Any], orelse: list[Any], at: gast.AST) -> gast.If:
    new = gast.copy_location(gast.If(test, body, orelse), at)
    new.construct = "case"
    return new


def _test(pattern: Any, subject: str) -> Any:
    """Return the condition of a pattern; None if it always holds."""
    if isinstance(pattern, gast.MatchAs):
        return None if pattern.pattern is None else _test(pattern.pattern, subject)
    if isinstance(pattern, gast.MatchOr):
        test: gast.AST = gast.BoolOp(gast.Or(), [_test(p, subject) for p in pattern.patterns])
    elif isinstance(pattern, gast.MatchSingleton):
        test = gast.Compare(template.name(subject), [gast.Is()], [template.constant(pattern.value)])
    else:
        test = gast.Compare(template.name(subject), [gast.Eq()], [pattern.value])
    return gast.copy_location(test, pattern)


def _first_load(test: Any, subject: gast.AST) -> None:
    """Let the first comparison load the subject at the position where the user wrote it."""
    while isinstance(test, gast.BoolOp):
        test = test.values[0]
    if isinstance(test, gast.Compare):
        test.left = subject
