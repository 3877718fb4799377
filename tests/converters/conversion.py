"""Converting a text, for the tests of converters."""

from __future__ import annotations

import ast

import gast

from autograph.converters import pipeline
from autograph.converters.context.base import Decision
from autograph.converters.context.known import module_context
from autograph.syntax import source


def convert(text: str) -> pipeline.Converted:
    """The conversion of a module's text."""
    parsed = source.parse(text, "user.py")
    return pipeline.convert(parsed.tree, module_context(parsed.tree, "user.py"))


def decisions(text: str, calls: bool = False) -> list[Decision]:
    """What was decided of each construct, or else of each call."""
    return [d for d in convert(text).decisions if d.construct.startswith("call of ") is calls]


def printed(text: str) -> str:
    """The converted text, its layout left to Python."""
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(convert(text).tree)))
