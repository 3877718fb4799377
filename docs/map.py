"""Draws docs/map.svg: the rooms of the package, each above those that it uses. Run it when rooms change.

An arrow goes from a room to one that it uses, unless it uses that through another one.
"""

from __future__ import annotations

import sys
from pathlib import Path

REPOSITORY = Path(__file__).parent.parent
sys.path.insert(0, str(REPOSITORY))

from tests.test_layers import GRAPH, KNOWN, room_of  # noqa: E402

SVG = REPOSITORY / "docs" / "map.svg"
WIDTH, HEIGHT, GAP, ROW = 148, 28, 14, 72       # pixels: of a box, between boxes, from row to row
HIDDEN = {"runtime", "runtime/engines", "compat", "compat/tensorflow/compat", "compat/tensorflow/python"}
HIDDEN |= {"compat/tensorflow/python/autograph", "__main__", "errors"}
COLORS = {
    "common": "#e8e8e8", "syntax": "#dcebd5", "converters": "#dcebd5", "operators": "#dcebd5", "conversion": "#dcebd5",
    "runtime": "#d8e6f5", "compat": "#f3e3d3",
}  # fmt: skip
OTHER = "#f5efc9"


def used_rooms() -> dict[str, set[str]]:
    """The rooms that each room uses, without those that it uses through others."""
    used: dict[str, set[str]] = {room_of(module, KNOWN): set() for module in KNOWN}
    for module, imported in GRAPH.items():
        used[room_of(module, KNOWN)] |= {room_of(name, KNOWN) for name in imported}
    used = {room: {each for each in rooms - {room} if each not in HIDDEN} for room, rooms in used.items()}
    reached: dict[str, set[str]] = {}

    def reach(room: str) -> set[str]:
        if room not in reached:
            reached[room] = used[room].union(*map(reach, sorted(used[room])))
        return reached[room]

    return {
        room: {each for each in rooms if not any(each in reach(other) for other in rooms)}
        for room, rooms in used.items()
        if room not in HIDDEN
    }


def rows(used: dict[str, set[str]]) -> list[list[str]]:
    """The rooms by how long the way down is, from the bottom up; in each row near to those that they use."""
    depth: dict[str, int] = {}

    def deep(room: str) -> int:
        if room not in depth:
            depth[room] = 1 + max(map(deep, used[room]), default=-1)
        return depth[room]

    found: list[list[str]] = [[] for _ in range(1 + max(map(deep, used)))]
    for room in sorted(used):
        found[depth[room]].append(room)
    column: dict[str, float] = {}
    for row in found:
        row.sort(key=lambda room: (sum(column[each] for each in used[room]) / max(len(used[room]), 1), room))
        for number, room in enumerate(row):
            column[room] = number - (len(row) - 1) / 2
    return found


def draw() -> str:
    used = used_rooms()
    found = rows(used)
    wide = max(map(len, found)) * (WIDTH + GAP) + GAP
    tall = len(found) * ROW + GAP
    at = {
        room: (wide / 2 + (number - (len(row) - 1) / 2) * (WIDTH + GAP), tall - GAP - HEIGHT / 2 - level * ROW)
        for level, row in enumerate(found)
        for number, room in enumerate(row)
    }
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="11">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#888"/></marker></defs>',
        f'<rect width="{wide}" height="{tall}" fill="white"/>',
    ]
    for room in sorted(used):
        x, y = at[room]
        for other in sorted(used[room]):
            to_x, to_y = at[other]
            begin, end = y + HEIGHT / 2, to_y - HEIGHT / 2
            lines.append(
                f'<path d="M{x:g},{begin:g} C{x:g},{begin + 28:g} {to_x:g},{end - 28:g} {to_x:g},{end:g}" fill="none" '
                'stroke="#888" stroke-width="0.8" marker-end="url(#arrow)"/>'
            )
    for room in sorted(used):
        x, y = at[room]
        color = COLORS.get(room.split("/")[0], OTHER)
        name = room.removeprefix("runtime/").replace("engines/native", "native").replace("tensorflow", "tf")
        lines += [
            f'<rect x="{x - WIDTH / 2:g}" y="{y - HEIGHT / 2:g}" width="{WIDTH}" height="{HEIGHT}" rx="4" '
            f'fill="{color}" stroke="#666"/>',
            f'<text x="{x:g}" y="{y + 4:g}" text-anchor="middle">{name}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    SVG.write_text(draw(), encoding="utf-8")
    print(f"{SVG} is written")
