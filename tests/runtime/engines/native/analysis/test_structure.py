"""Which values of a loop are live at a place of its body."""

from __future__ import annotations

from autograph.runtime.engines.native.analysis.structure import Point, Structure
from autograph.runtime.graph.graph import Graph, walk_blocks
from autograph.runtime.graph_text.parser import parse

LOOP = """
graph f(xs: f64[?], k: py.float):
    total: ~f64 = for(xs, 0.0, target=0):
      body(x: f64, total.1: ~f64):
        a: f64 = x * k
        b: bool = a > k
        c: f64 = if(b):
          then:
            d: f64 = a + x
            -> d
          else:
            -> a
        total.2: ~f64 = total.1 + c
        -> total.2
    -> total
"""


def structure_of(graph: Graph) -> Structure:
    return Structure(graph.block.nodes[0])


def names_at(structure: Structure, place: int, inner: bool = False) -> set[str]:
    block = structure.root.blocks[0]
    if inner:
        block = [each for each in walk_blocks(block) if each is not block][0]
    return {getattr(key, "name", "") for key in structure.live(Point(block, place))} - {""}


def test_a_value_is_live_from_where_it_is_computed_to_its_last_use() -> None:
    structure = structure_of(parse(LOOP))
    found = [names_at(structure, place) for place in (0, 1, 2, 3, 4)]
    assert found == [{"k", *names} for names in (
        {"x", "total"}, {"x", "a", "total"}, {"x", "a", "b", "total"}, {"c", "total"}, {"total"},
    )]  # fmt: skip


def test_places_may_be_asked_for_in_any_order() -> None:
    structure, again = structure_of(parse(LOOP)), structure_of(parse(LOOP))
    assert [names_at(structure, place) for place in (4, 1, 3, 0, 2)] == [
        [names_at(again, place) for place in range(5)][place] for place in (4, 1, 3, 0, 2)
    ]


def test_within_a_branch_the_values_behind_it_are_live_as_well() -> None:
    assert names_at(structure_of(parse(LOOP)), 0, inner=True) == {"x", "a", "c", "k", "total"}
