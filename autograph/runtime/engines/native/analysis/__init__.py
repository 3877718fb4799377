"""Analyses of a loop of the graph. Nothing here emits code.

`structure.py` has the nesting of blocks and liveness, `range_analysis.py` the ranges of integers,
`induction_variables.py` values that iterations add to or halve, `if_conversion.py` branches that can be computed on
both sides, `side_exits.py` the continuations of side exits, `view_groups.py` views that need no objects,
`list_groups.py` such lists.
"""
