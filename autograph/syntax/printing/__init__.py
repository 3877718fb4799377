"""From trees back to source text.

`reprint.py` is on top: it keeps what the user typed. `splice.py` does so for expressions; `unparse.py` and
`unparse_expr.py` print trees that have no text; `literals.py` and `precedence.py` are the rules that they share.
"""
