"""Templates of the text of most nodes, with the fields of the node in braces:

    "while {test}"      the field is printed, parenthesized if it binds too weakly for its place
    "return{ value}"    what is beside a field in its braces is printed only if there is something in the field
    "[{elts}]"          of a list, the items are printed, separated by commas
    "({elt}{generators*})"          or one after the other, each with what is beside the field
    "class {name}{[type_params+]}"  or as a list in brackets, which may be broken into lines
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "Mod": "%", "Pow": "**", "LShift": "<<",
    "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&", "FloorDiv": "//",
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not",
    "In": "in", "NotIn": "not in", "Invert": "~", "Not": "not ", "UAdd": "+", "USub": "-",
}  # fmt: skip

EXPRESSIONS = {
    **OPERATORS,
    "Attribute": "{value}.{attr}",
    "Await": "await {value}",
    "DictComp": "{{key}: {value}{generators*}}",
    "GeneratorExp": "({elt}{generators*})",
    "IfExp": "{body} if {test} else {orelse}",
    "List": "[{elts}]",
    "ListComp": "[{elt}{generators*}]",
    "NamedExpr": "{target} := {value}",
    "SetComp": "{{elt}{generators*}}",
    "Slice": "{lower}:{upper}{:step}",
    "Starred": "*{value}",
    "UnaryOp": "{op}{operand}",
    "Yield": "yield{ value}",
    "YieldFrom": "yield from {value}",
    "MatchSequence": "[{patterns+}]",
    "MatchValue": "{value}",
    "ParamSpec": "**{name}{ = default_value}",
    "TypeVar": "{name}{: bound}{ = default_value}",
    "TypeVarTuple": "*{name}{ = default_value}",
    "alias": "{name}{ as asname}",
    "arg": "{arg}{: annotation}",
    "withitem": "{context_expr}{ as optional_vars}",
}

STATEMENTS = {
    "Assert": "assert {test}{, msg}",
    "Assign": "{targets* = }{value}{  # type: type_comment}",
    "AugAssign": "{target} {op}= {value}",
    "Break": "break",
    "Continue": "continue",
    "Delete": "del {targets}",
    "Expr": "{value}",
    "Global": "global {names}",
    "Import": "import {names}",
    "Nonlocal": "nonlocal {names}",
    "Pass": "pass",
    "Raise": "raise{ exc}{ from cause}",
    "Return": "return{ value}",
    "TypeAlias": "type {name}{[type_params+]} = {value}",
}

HEADS = {
    "AsyncFor": "async for {target} in {iter}",
    "For": "for {target} in {iter}",
    "If": "if {test}",
    "Match": "match {subject}",
    "Try": "try",
    "TryStar": "try",
    "While": "while {test}",
    "match_case": "case {pattern}{ if guard}",
}


class Field(NamedTuple):
    """A field in a template, with the text beside it in its braces; or only text, if it has no name."""

    before: str
    name: str
    mode: str  # `*`, `+` or nothing
    after: str


_FIELD = re.compile(r"\{(.*?)(\w+)([*+]?)(\W*?)\}")


@functools.cache
def fields(template: str) -> tuple[Field, ...]:
    """The parts of a template."""
    found: list[Field] = []
    end = 0
    for field in _FIELD.finditer(template):
        found += [Field(template[end : field.start()], "", "", ""), Field(*field.groups())]
        end = field.end()
    found.append(Field(template[end:], "", "", ""))
    return tuple(field for field in found if field.name or field.before)
