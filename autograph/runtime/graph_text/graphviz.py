"""Graphs as pictures, by Graphviz.

Boxes are nodes, with their operations and outputs. Arrows lead from where a value is computed to where it is used. The
blocks of a node are in frames. Colors show the effect of a node, and dashed arrows the order of visible effects.
"""

from __future__ import annotations

import html
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from autograph.errors import DrawingError
from autograph.runtime.graph import opdef
from autograph.runtime.graph.graph import Block, Graph, Node, Value
from autograph.runtime.graph.opdef import ORDERED, PURE, VIEW, WRITE
from autograph.runtime.graph_text import notation
from autograph.runtime.graph_text.printer import Piece, Printer, place_text

CONTROL = "control"
# Fill and outline.
COLORS = {
    PURE: ("#f6f8fa", "#8c9bad"),
    VIEW: ("#e6f0fb", "#5b8dc9"),
    WRITE: ("#fdf0dc", "#d08a26"),
    ORDERED: ("#fce6e6", "#c8505a"),
    CONTROL: ("#efe9fb", "#7d62bd"),
    "param": ("#e4f4e9", "#4c9a6a"),
    "result": ("#dcefe3", "#2f7d50"),
}
_FONT = "Helvetica,Arial,sans-serif"
_GREY = "#57606a"
_LONGEST = 64  # characters of a label


def effect_of(node: Node) -> str:
    """The effect of a node's op, or `control` if it has blocks; it determines the color."""
    if node.blocks:
        return CONTROL
    try:
        return opdef.lookup(node.op).effect
    except KeyError:
        return ORDERED


def to_dot(graph: Graph) -> str:
    """The graph in Graphviz's language."""
    return _Drawer(graph).draw()


PICTURES = ("svg", "png", "pdf")


def to_svg(graph: Graph) -> str:
    """The graph as SVG; raises as `to_picture` does."""
    return to_picture(graph, "svg").decode()


def to_picture(graph: Graph, form: str) -> bytes:
    """The contents of a file with a picture of the graph.

    Args:
        form: one of `PICTURES`.

    Raises:
        DrawingError: Graphviz is not installed, or fails.
    """
    dot = find_dot()
    if dot is None:
        raise DrawingError(
            "drawing needs the program `dot` of Graphviz, which is not on the PATH. Install it (`apt install "
            "graphviz`, `brew install graphviz`, `conda install graphviz` or `winget install graphviz`), or take the "
            "graph as text, as HTML, or in Graphviz's language (.txt, .html, .dot)"
        )
    done = subprocess.run([dot, f"-T{form}"], input=to_dot(graph).encode(), capture_output=True, check=False)
    if done.returncode:
        raise DrawingError(f"Graphviz could not draw the graph {graph.name}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def find_dot() -> str | None:
    """Graphviz's executable, if there is one."""
    return shutil.which("dot")


class _Drawer:
    """Writes a picture part by part. Each part has a key; `sources` are the parts where the arrows of values begin."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.printer = Printer.named(graph)
        self.written: list[str] = []
        self.arrows: list[str] = []
        self.joined: set[tuple[str, str]] = set()
        self.depth = 0
        self.count = 0
        self.sources: dict[Value, str] = {}
        self.busy: set[Node] = set()
        _find_busy(graph.block, self.busy)

    def draw(self) -> str:
        title = _quoted(f"graph {self.graph.name}")
        with self._braces(f"digraph {_quoted(self.graph.name)}"):
            self._write(f'graph [label={title}, labelloc=t, nodesep=0.25, ranksep=0.35, bgcolor="transparent"];')
            self._write(f'graph [fontname="{_FONT}", fontsize=11, fontcolor="{_GREY}"];')
            self._write(f'node [fontname="{_FONT}", fontsize=11, fontcolor="#1f2328"];')
            self._write('node [shape=box, style="rounded,filled", margin="0.12,0.05", height=0.3];')
            self._write('edge [color="#6e7781", arrowsize=0.6];')
            self._block(self.graph.block, None, "return")
            for arrow in self.arrows:
                self._write(arrow)
        return "\n".join(self.written)

    def _write(self, line: str) -> None:
        self.written.append("  " * self.depth + line)

    @contextmanager
    def _braces(self, head: str) -> Iterator[None]:
        self._write(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self._write("}")

    @contextmanager
    def _frame(self, label: str, color: str, fill: str) -> Iterator[None]:
        with self._braces(f"subgraph cluster_{self._key()}"):
            self._write(f'label={_quoted(label)}; labeljust=l; style="rounded,filled"; fontcolor="{color}";')
            self._write(f'color="{color}60"; fillcolor="{fill}"; margin=10;')
            yield

    def _key(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def _box(self, kind: str, label: str, tooltip: str = "", shape: str = "") -> str:
        key = self._key()
        fill, line = COLORS[kind]
        shaped = f", shape={shape}" if shape else ""
        self._write(f'{key} [label=<{label}>, tooltip={_quoted(tooltip)}, fillcolor="{fill}", color="{line}"{shaped}];')
        return key

    def _arrow(self, start: str, end: str, **look: str) -> None:
        looks = ", ".join(f'{name}="{value}"' for name, value in look.items())
        self.arrows.append(f"{start} -> {end}" + (f" [{looks}];" if looks else ";"))

    def _block(self, block: Block, head: str | None, ending: str) -> str | None:
        """Draw the contents of a block, to which `head` leads; gives the part that shows its results."""
        for param in block.params:
            self.sources[param] = self._box("param", self._defined([param]), shape="ellipse")
            if head is not None:
                self._arrow(head, self.sources[param], style="dotted", color=COLORS[CONTROL][1])
        start = self._entry(head) if head is not None and not block.params else None
        before: str | None = None
        for node in block.nodes:
            first, last = self._node(node)
            if start is not None:
                self._arrow(start, first, style="invis")
            if node in self.busy:
                if before is not None and (before, first) not in self.joined:
                    self._arrow(before, first, style="dashed", color=COLORS[ORDERED][1])
                before = last
        return self._results(block, ending, start)

    def _entry(self, head: str) -> str:
        """A dot where a block without params begins."""
        key = self._key()
        self._write(f'{key} [shape=point, width=0.06, color="{COLORS[CONTROL][1]}"];')
        self._arrow(head, key, style="dotted", color=COLORS[CONTROL][1], arrowhead="none")
        return key

    def _results(self, block: Block, ending: str, start: str | None) -> str | None:
        if not block.results:
            return None
        key = self._box("result", f"<b>{ending}</b> {_marked(self.printer.listed(block.results))}", shape="ellipse")
        values = self._lead(block.result_values, key)
        if start is not None and not values:
            self._arrow(start, key, style="invis")
        return key

    def _lead(self, values: Iterable[Value], end: str) -> int:
        """Draw arrows from the sources of values; gives their number."""
        found = [self.sources[value] for value in dict.fromkeys(values) if value in self.sources]
        for start in dict.fromkeys(found):
            self.joined.add((start, end))
            self._arrow(start, end)
        return len(found)

    def _node(self, node: Node) -> tuple[str, str]:
        """Draw a node; gives the parts in which it begins and ends."""
        if node.blocks:
            return self._construct(node)
        doing = _marked(self.printer.right_side(node))
        key = self._box(effect_of(node), f"{doing}{self._below(node)}", self._tooltip(node))
        self.sources.update(dict.fromkeys(node.outputs, key))
        self._lead(node.inputs, key)
        return key, key

    def _construct(self, node: Node) -> tuple[str, str]:
        """Draw a node with blocks: a frame around its head, its blocks and its outputs."""
        fill, line = COLORS[CONTROL]
        with self._frame("", line, f"{fill}80"):
            head = self._box(CONTROL, _marked(self.printer.right_side(node)), self._tooltip(node))
            self._lead(node.inputs, head)
            ends = []
            for index, block in enumerate(node.blocks):
                with self._frame(notation.label(node.op, index), line, "#ffffffb0"):
                    ends.append(self._block(block, head, "→"))
            if not node.outputs:
                return head, head
            foot = self._box(CONTROL, self._defined(node.outputs), self._tooltip(node))
        for end in ends:
            self._arrow(end or head, foot, style="dotted" if end else "invis", color=line)
        self.sources.update(dict.fromkeys(node.outputs, foot))
        return head, foot

    def _below(self, node: Node) -> str:
        return f"<br/>{self._defined(node.outputs, 9)}" if node.outputs else ""

    def _defined(self, values: Iterable[Value], size: int = 11) -> str:
        """Names and types, a line each."""
        lines = (
            f'{_escaped(self.printer.names.value(value))}<font color="{_GREY}">: '
            f"{_escaped(self.printer.type(value.type))}</font>"
            for value in values
        )
        return f'<font point-size="{size}">{"<br/>".join(lines)}</font>'

    def _tooltip(self, node: Node) -> str:
        text = "".join(piece.text for piece in self.printer.head(node))
        return f"{text}\n{place_text(node)}".rstrip("\n")


def _find_busy(block: Block, busy: set[Node]) -> bool:
    """Gather the nodes with visible effects, and those around them."""
    found = False
    for node in block.nodes:
        inner = [_find_busy(each, busy) for each in node.blocks]
        if any(inner) or effect_of(node) in (WRITE, ORDERED):
            busy.add(node)
            found = True
    return found


def _marked(pieces: Iterable[Piece]) -> str:
    """Pieces as a label of Graphviz's; a long one is cut."""
    marked, room = [], _LONGEST
    for piece in pieces:
        text = piece.text if len(piece.text) <= room else f"{piece.text[: max(room - 1, 0)]}…"
        room -= len(piece.text)
        escaped = _escaped(text)
        if piece.kind in ("op", "keyword"):
            escaped = f"<b>{escaped}</b>"
        elif piece.kind in ("constant", "object"):
            escaped = f'<font color="#0a5fa8">{escaped}</font>'
        marked.append(escaped)
        if room < 0:
            break
    return "".join(marked)


def _escaped(text: str) -> str:
    return html.escape(text).replace("]", "&#93;")  # Graphviz does not take a `]` right before a tag


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
