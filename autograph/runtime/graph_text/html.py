"""Graphs as HTML: the text, colored, for notebooks.

Blocks fold at a click. Pointing at a value lights up all its places, and shows its type; pointing at an op shows its
effect and the user's line. There is no script in it, and nothing is loaded.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from autograph.runtime.graph.graph import Graph, Node, Value
from autograph.runtime.graph_text.graphviz import effect_of
from autograph.runtime.graph_text.printer import Line, Piece, Printer, describe, place_text

_MOST_RULES = 2000  # each value needs a rule of its own

# Notebooks of Jupyter define the colors of their theme as variables; other pages get colors that fit light and dark.
STYLE = """
.autograph-graph { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-x: auto; }
.autograph-graph div, .autograph-graph summary { white-space: pre; }
.autograph-graph summary { list-style: none; cursor: pointer; }
.autograph-graph summary::-webkit-details-marker { display: none; }
.autograph-graph details:not([open]) > summary::after { content: " …"; opacity: .6; }
.autograph-graph span { border-radius: 3px; }
.autograph-graph .keyword { color: var(--jp-mirror-editor-keyword-color, #8a5cd1); font-weight: 600; }
.autograph-graph .label { color: var(--jp-mirror-editor-def-color, #8a5cd1); }
.autograph-graph .definition { font-weight: 600; }
.autograph-graph .type { color: var(--jp-mirror-editor-comment-color, #808a94); }
.autograph-graph .constant { color: var(--jp-mirror-editor-number-color, #2f7fc1); }
.autograph-graph .object { color: var(--jp-mirror-editor-variable-2-color, #2f7fc1); font-style: italic; }
.autograph-graph .comment { color: var(--jp-mirror-editor-comment-color, #808a94); }
.autograph-graph .view { color: #2f7fc1; }
.autograph-graph .write { color: #c07a14; }
.autograph-graph .ordered { color: #cf4a56; }
"""


def to_html(graph: Graph) -> str:
    """The graph as a piece of HTML that needs nothing else."""
    return _Listing(graph).html()


class _Listing:
    def __init__(self, graph: Graph) -> None:
        self.printer = Printer(graph)
        self.numbers: dict[Value, int] = {}

    def html(self) -> str:
        lines = list(self.printer.lines())
        body = "".join(self._nested(lines))
        legend = "".join(f'<div class="comment">{html.escape(text)}</div>' for text in self.printer.legend())
        return f'<div class="autograph-graph"><style>{STYLE}{self._hover_rules()}</style>{body}{legend}</div>'

    def _hover_rules(self) -> str:
        """For each value a rule by which it lights up everywhere; the same ones in each listing of a page."""
        root = ".autograph-graph"
        return "".join(
            f"{root}:has(.v{number}:hover) .v{number} {{ background: #f5c51855; }}\n"
            for number in list(self.numbers.values())[:_MOST_RULES]
        )

    def _nested(self, lines: Sequence[Line]) -> Iterator[str]:
        """Lines; those with indented lines below them can be folded."""
        open_at: list[int] = []
        for index, line in enumerate(lines):
            while open_at and line.indent <= open_at[-1]:
                open_at.pop()
                yield "</details>"
            written = " " * line.indent + "".join(map(self._marked, line.pieces))
            if index + 1 < len(lines) and lines[index + 1].indent > line.indent:
                open_at.append(line.indent)
                yield f'<details open=""><summary>{written}</summary>'
            else:
                yield f"<div>{written}</div>"
        yield "</details>" * len(open_at)

    def _marked(self, piece: Piece) -> str:
        text = html.escape(piece.text)
        if not piece.kind:
            return text
        classes, title = piece.kind, ""
        if isinstance(piece.about, Value):
            number = self.numbers.setdefault(piece.about, len(self.numbers))
            classes += f" v{number}"
            title = f"{piece.text}: {self.printer.type(piece.about.type)}"
        elif isinstance(piece.about, Node):
            effect = effect_of(piece.about)
            classes += f" {effect}"
            title = ", ".join(filter(None, (piece.about.op, effect, place_text(piece.about))))
        elif piece.kind == "object":
            title = describe(piece.about)
        return f'<span class="{classes}"' + (f' title="{html.escape(title)}"' if title else "") + f">{text}</span>"
