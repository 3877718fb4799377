"""The operators that converted code calls, as `ag__`: `ag__.if_stmt(…)`, `ag__.for_stmt(…)` and so on.

For plain values each does what the Python construct does. Values of a registered backend are handed to the backend:
see `autograph.operators.backend`.
"""

from autograph.operators.assertions import assert_stmt, raise_
from autograph.operators.backend import ACTIVE
from autograph.operators.calls import (
    add_item,
    bound,
    call,
    concrete,
    context,
    in_place,
    is_container,
    place,
    ref,
    whole,
)
from autograph.operators.comparisons import compare, in_, is_, is_not, not_in
from autograph.operators.comprehensions import dict_comp, gen_exp, list_comp, mapped, set_comp
from autograph.operators.conditionals import if_exp, if_stmt
from autograph.operators.fstrings import fstring, percent
from autograph.operators.logical import and_, not_, or_
from autograph.operators.loops import for_stmt, while_stmt
from autograph.operators.python_builtins import *  # noqa: F403
from autograph.operators.python_builtins import __all__ as _of_builtins
from autograph.operators.state import UNBOUND as unbound
from autograph.operators.tracebacks import trim

__all__ = [
    "ACTIVE", "add_item", "and_", "assert_stmt", "bound", "call", "compare", "concrete", "context", "dict_comp",
    "for_stmt", "fstring", "gen_exp", "if_exp", "if_stmt", "in_", "in_place", "is_", "is_container", "is_not",
    "list_comp", "mapped", "not_",
    "not_in", "or_", "percent", "place", "raise_", "ref", "set_comp", "trim", "unbound", "while_stmt", "whole",
]  # fmt: skip
__all__ += _of_builtins
