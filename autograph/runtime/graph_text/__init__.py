"""Graphs as text, HTML, JSON and pictures, and the verifier.

`notation.py` describes the text; `printer.py` writes it, `parser.py` reads it. `verifier.py` checks a graph. Other
forms are in `graphviz.py`, `html.py` and `json_text.py`; `view.py` picks one for where it is shown.
"""
