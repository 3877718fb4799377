"""Prints trees as source text, and keeps the user's text where the tree is unchanged.

Read `reprint.py` first, which prints statements; `splice.py` prints expressions; `slots.py` finds the changed places in
the user's text. `common/printing` prints new nodes.
"""
