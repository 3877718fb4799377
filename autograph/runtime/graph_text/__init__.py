"""Graphs as text, HTML, JSON and pictures, and the verifier.

`notation.py` describes the text; `printer.py` writes it, `parser.py` reads it. `verifier.py` checks a graph, and
compares two. `graphviz.py`, `html.py` and `json_text.py` are other forms; `view.py` picks one for where it is shown.
"""
