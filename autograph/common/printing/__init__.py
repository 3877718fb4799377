"""Trees to Python text.

`unparse.py` is on top: a table that gives the text of each kind of node. `precedence.py` says where parentheses are
needed, `literals.py` how numbers and strings are written.
"""
