"""Draws docs/staged.svg, README.md's program beside the graph it becomes: `python docs/picture.py`."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import tempfile
from html import escape
from pathlib import Path

SVG = Path(__file__).with_name("staged.svg")
README = Path(__file__).parent.parent / "README.md"

COLORS = ["#cfe8fc", "#fde2b3", "#d5efc9", "#f6d0e3", "#ddd5f7"]     # one for each line of source that is staged
LINE, CHARACTER = 20, 7.83      # pixels: the height of a line, the width of a character
MARGIN, GAP, TOP = 14, 70, 46


def draw() -> str:
    """The picture, as SVG."""
    source, graph = program_and_graph()
    staged = sorted({line for _, line in graph if line})
    colors = dict(zip(staged, COLORS))
    left = [(text, number) for number, text in source]
    right_at = MARGIN + width(left) + GAP
    parts = [*panel("Python, as you write it", left, MARGIN, colors)]
    parts += panel("the graph it becomes", graph, right_at, colors)
    for line in staged:
        begin = next(row for row, (_, number) in enumerate(left) if number == line)
        ends = [row for row, (_, number) in enumerate(graph) if number == line]
        parts.append(band(MARGIN + width(left), begin, right_at, ends, colors[line]))
    size = right_at + width(graph) + MARGIN, TOP + LINE * max(len(left), len(graph)) + MARGIN
    return "\n".join([HEAD.format(*map(round, size)), *parts, "</svg>\n"])


def program_and_graph() -> tuple[list[tuple[int, str]], list[tuple[str, int]]]:
    """The function of README.md's program, by numbered lines; and the lines of its graph, each with its source line."""
    found = re.search(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = Path(folder, "program.py")
        path.write_text(found[1], encoding="utf-8")
        names = runpy.run_path(str(path))
        text = names["excess"].graph(names["xs"], 1.0).to_text(places=True)
    lines = list(enumerate(found[1].splitlines(), 1))
    begin = next(number for number, line in lines if line.startswith("@ag.function"))
    function = [line for line in lines[begin - 1 :] if line[1].startswith(("@", "def", " "))]
    graph = [re.match(r"(.*?)(?: +# program\.py:(\d+))?$", line) for line in text.rstrip().splitlines()]
    return function, [(line[1], int(line[2] or 0)) for line in graph if line]


def width(lines: list[tuple[str, int]]) -> float:
    return max(len(text) for text, _ in lines) * CHARACTER + 12


def panel(title: str, lines: list[tuple[str, int]], x: float, colors: dict[int, str]) -> list[str]:
    """Lines of text, each on the color of its source line."""
    parts = [f'<text x="{x + 6:.0f}" y="{TOP - 18}" class="title">{title}</text>']
    for row, (text, number) in enumerate(lines):
        y = TOP + LINE * row
        if number in colors:
            place = f'x="{x:.0f}" y="{y}" width="{width(lines):.0f}" height="{LINE}"'
            parts.append(f'<rect {place} fill="{colors[number]}"/>')
        parts.append(f'<text x="{x + 6:.0f}" y="{y + 14}">{escape(text)}</text>')
    return parts


def band(left: float, begin: int, right: float, ends: list[int], color: str) -> str:
    """A band from a line of the source to the lines of the graph, which stand together."""
    first, last = TOP + LINE * begin, TOP + LINE * (begin + 1)
    above, below = TOP + LINE * ends[0], TOP + LINE * (ends[-1] + 1)
    middle = (left + right) / 2
    return (
        f'<path d="M{left:.0f} {first} C{middle:.0f} {first} {middle:.0f} {above} {right:.0f} {above} V{below} '
        f'C{middle:.0f} {below} {middle:.0f} {last} {left:.0f} {last} z" fill="{color}" fill-opacity="0.5"/>'
    )


HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}">
<style>
text {{ font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; fill: #1f2328 }}
.title {{ font-weight: bold }}
</style>
<rect width="100%" height="100%" rx="8" fill="#ffffff" stroke="#d0d7de"/>"""

if __name__ == "__main__":
    SVG.write_text(draw(), encoding="utf-8")
