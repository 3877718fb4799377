"""A backend that traces is shown the containers that augmented assignments change, though no text tells."""

import pytest

import autograph as ag
from tests.recording import Recorder, recorded


class Showing(Recorder):
    def __init__(self):
        super().__init__()
        self.seen = []

    def ref(self, value):
        self.seen.append(value if not isinstance(value, list) else list(value))
        return NotImplemented


def showing():
    return recorded(tracing=True, backend=Showing())


def names(xs, s, n, text):
    ys = xs
    xs += [len(xs)]
    s |= {n}
    n += 1
    n += n
    text += "b"
    return xs is ys, xs, s, n, text


def parts(table, box):
    table[0] += [1]
    table["n"] += 1
    box.items *= 2
    return table, box.items


class Box:
    def __init__(self):
        self.items = [1]


def test_text_stays_as_it_is():
    assert "xs += [ag__.len_(xs)]" in ag.to_code(names)
    assert "ag__.ref(table)[0] += [1]" in ag.to_code(parts)


def test_names():
    converted = ag.to_graph(names)
    wanted = True, [1, 1], {2, 3}, 8, "ab"
    assert converted([1], {2}, 3, "a") == wanted
    with showing() as backend:
        assert converted([1], {2}, 3, "a") == wanted
    assert backend.seen == [[1], {2, 3}]


def test_items_and_attributes():
    converted = ag.to_graph(parts)
    box = Box()
    with showing() as backend:
        assert converted({0: [0], "n": 1}, box) == ({0: [0, 1], "n": 2}, [1, 1])
    assert [part for part in backend.seen if isinstance(part, list)] == [[0], [1]]


def test_errors_are_pythons():
    def unbound():
        if not ag:
            xs = []
        xs += [1]

    def wrong(xs):
        xs += 1

    with showing(), pytest.raises(UnboundLocalError, match="xs"):
        ag.to_graph(unbound)()
    with showing(), pytest.raises(TypeError, match="'int' object is not iterable"):
        ag.to_graph(wrong)([])
