"""From trees back to source text, with what the user typed kept.

`reprint.py` is on top, for statements; `splice.py` does the same for expressions; `slots.py` finds the places in the
user's text where something has changed. New nodes are printed by `common/printing`.
"""
