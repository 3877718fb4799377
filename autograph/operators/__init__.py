"""What converted code calls, as `ag__`: `ag__.if_stmt(…)`, `ag__.for_stmt(…)` and so on.

For plain values these do what the Python they stand for does. Values that a registered backend owns are handed
to it: see `autograph.operators.backend`.
"""

from autograph.operators.assertions import assert_stmt, raise_
from autograph.operators.backend import ACTIVE
from autograph.operators.calls import bound, call, concrete, context, in_place, is_container, place, ref, whole
from autograph.operators.comparisons import compare, in_, is_, is_not, not_in
from autograph.operators.comprehensions import dict_comp, gen_exp, list_comp, set_comp
from autograph.operators.conditionals import if_exp, if_stmt
from autograph.operators.for_loop import for_stmt
from autograph.operators.fstrings import fstring, percent
from autograph.operators.logical import and_, not_, or_
from autograph.operators.python_builtins import (
    all_,
    any_,
    ascii_,
    bool_,
    chr_,
    complex_,
    dict_,
    enumerate_,
    filter_,
    float_,
    format_,
    frozenset_,
    int_,
    iter_,
    len_,
    list_,
    map_,
    max_,
    min_,
    next_,
    ord_,
    print_,
    range_,
    repr_,
    reversed_,
    set_,
    sorted_,
    str_,
    sum_,
    tuple_,
    type_,
    zip_,
)
from autograph.operators.state import UNBOUND as unbound
from autograph.operators.tracebacks import trim
from autograph.operators.while_loop import while_stmt

__all__ = [
    "ACTIVE", "all_", "and_", "any_", "ascii_", "assert_stmt", "bool_", "bound", "call", "chr_", "compare", "complex_",
    "concrete", "context", "dict_", "dict_comp", "enumerate_", "filter_", "float_", "for_stmt", "format_",
    "frozenset_", "fstring", "gen_exp", "if_exp", "if_stmt", "in_", "in_place", "int_", "is_", "is_container",
    "is_not", "iter_", "len_", "list_", "list_comp", "map_", "max_", "min_", "next_", "not_", "not_in", "or_",
    "ord_", "percent", "place", "print_", "raise_", "range_", "ref", "repr_", "reversed_", "set_", "set_comp",
    "sorted_", "str_", "sum_", "trim", "tuple_", "type_", "unbound", "while_stmt", "whole", "zip_",
]  # fmt: skip
