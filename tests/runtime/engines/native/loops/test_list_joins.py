"""Lists that are joined: `xs[i:] + ys`, `[x] + xs`, `xs += [x]`, each as one new list, or none."""

import gc
import sys

import pytest

import autograph as ag
from tests.outcomes import run
from tests.runtime.engines.native.programs import regions


class Mine(list):
    def __add__(self, other):
        return ["mine", *other]

    def __getitem__(self, at):
        return [at.start]


class Cyclic:
    """An object that shortens a list when it is collected as garbage."""

    def __init__(self, xs):
        self.me, self.xs = self, xs

    def __del__(self):
        self.xs.clear()


def merged(xs, ys, n):
    out = []
    for i in range(n):
        out.append(xs[:i] + ys[i:] + xs[-i:] + ys[: -i - 1])
        out.append([i, 0.5 * i, "t"] + xs + [[i], [xs]])
        out.append(ys + ys[1:3] + ys)
    return out


def kept(xs, n):
    found = []
    for i in range(n):
        head = xs[:i]
        both = head + [i]
        found.append((len(head), both + both, head))
        xs = both + xs[i + 1 :]
    return found, xs


def grown(xs, n):
    out = xs
    for i in range(n):
        out += [i, xs[0]]
        out += [[i]] + out[:1]
    return out, xs


def computed(xs, n):
    out = []
    for i in range(n):
        out.append(xs[: i // 2] + xs[i * 2**40 :] + xs[-i * i :])
    return out


def made(n):
    rows = [[1]]
    for _ in range(n):
        last = rows[-1]
        rows.append([1] + [last[i] + last[i + 1] for i in range(len(last) - 1)] + [1])
    return rows


LISTS = {
    "empty": [], "numbers": [1, 2**70, -5, 300, 0.5, -0.0], "same": [7] * 9, "objects": ["a", None, (1, 2), [3], 1j],
    "floats": [0.5, float("inf"), -2.5, 1e300],
}  # fmt: skip


@pytest.mark.parametrize("engine", ["native", "numpy", None])
@pytest.mark.parametrize("xs", LISTS)
def test_joined_lists_are_those_of_python(xs, engine):
    options = {} if engine is None else {"engine": engine}
    for function, calls in (
        (merged, ("xs, ys, 6", "xs, xs, 4", "ys, xs, 0")), (kept, ("xs, 5",)), (grown, ("[9], 3", "xs, 3")),
        (computed, ("xs, 7",)),
    ):  # fmt: skip
        staged = ag.function(function, **options)
        for call in (*calls, *calls):
            names = {"xs": list(LISTS[xs]), "ys": list(LISTS["numbers"])}
            others = {"xs": list(LISTS[xs]), "ys": list(LISTS["numbers"])}
            found, wanted = run(staged, call, names), run(function, call, others)
            assert found == wanted and found.raised_at == wanted.raised_at
            assert repr(names) == repr(others)


@pytest.mark.parametrize("other", [(1, 2), Mine([1]), "text", None, 3, {1: 2}])
def test_other_classes_and_errors_half_way(other):
    def joined(things, n):
        out = []
        for i in range(n):
            out.append(things[i][:1] + [i] + things[0])
        return out

    staged = ag.function(joined, engine="native")
    for call in ("[[1], [2], other], 2", "[[1], [2], other], 3", "[other, [2]], 2", "[[1], [2], other], 3"):
        names = {"other": other}
        found, wanted = run(staged, call, names), run(joined, call, names)
        assert found == wanted and found.raised_at == wanted.raised_at, call


def test_items_are_the_same_objects_and_counted():
    items = [object() for _ in range(5)]
    staged, counts = ag.function(merged, engine="native"), []
    for _ in range(6):
        result = staged(items, items, 3)
        assert result[0][0] is items[0] and result[-1][-1] is items[-1]
        del result
        counts.append([sys.getrefcount(each) for each in (items, *items)])
    assert counts[-1] == counts[-3]
    assert regions(staged)


def test_a_list_that_changes_while_garbage_is_collected():
    staged = ag.function(merged, engine="native")
    staged([1, 2], [3], 2)
    threshold = gc.get_threshold()
    try:
        for count in range(1, 40):
            xs = [1, 2, 3, 4]
            for _ in range(3):
                Cyclic(xs)
            gc.set_threshold(count)
            result = staged(xs, [5, 6, 7], 5)
            gc.set_threshold(*threshold)
            assert all(type(row) is list and len(row) <= 16 for row in result)
    finally:
        gc.set_threshold(*threshold)


def test_a_join_in_a_loop_is_machine_code():
    staged = ag.function(made, engine="native")
    for n in (5, 30, 60):
        assert staged(n) == made(n)
    assert "runs in Python, called by machine code" not in str(staged.explain(5))


def tuples(xs, n):
    out, empty = [], ()
    for i in range(n):
        path = xs[:i]
        out.append((path + (i,) + path + xs[-1:], (0.5,) + xs, xs + empty is xs, empty + xs is xs, xs + xs[:0] is xs))
        out.append((empty + empty, xs[1:] + empty, empty + (i,) + empty, path + empty + xs[9:]))
        xs = xs + ((i, "t"),)
    return out, xs


@pytest.mark.parametrize("engine", ["native", "numpy", None])
@pytest.mark.parametrize("xs", [(), (1, 2.5, 300), ("a", None, [1], 2**70)])
def test_joined_tuples_are_those_of_python(xs, engine):
    staged = ag.function(tuples, **({} if engine is None else {"engine": engine}))
    for n in (0, 1, 6, 6):
        assert repr(staged(xs, n)) == repr(tuples(xs, n))


@pytest.mark.parametrize("wrong", [[1], Mine([2]), "a", 3])
def test_tuples_and_other_classes_half_way(wrong):
    def joined(things, n):
        out = []
        for i in range(n):
            out.append(things[i] + (i,))
        return out

    staged = ag.function(joined, engine="native")
    for call in ("[(1,), (2,), wrong], 2", "[(1,), (2,), wrong], 3", "[(1,), (), ()], 3"):
        found, wanted = run(staged, call, {"wrong": wrong}), run(joined, call, {"wrong": wrong})
        assert found == wanted and found.raised_at == wanted.raised_at, call
