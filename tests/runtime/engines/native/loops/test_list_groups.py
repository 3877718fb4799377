"""Small lists of numbers that only the next statements read, and that are no objects in machine code."""

import pytest

import autograph as ag
from tests.outcomes import run

NAN = float("nan")


class Sub(list):
    def __getitem__(self, index):
        return [7, 8, 9] if isinstance(index, slice) else list.__getitem__(self, index)


SIGNALS = {
    "integers": [i * 37 % 23 - 9 for i in range(40)], "floats": [i * 37 % 23 / 2 - 3 for i in range(40)],
    "one_float": [*range(20), 2.5, *range(20)], "one_integer": [0.5, 1.5, 2.0, 7, 3.5, 1.0],
    "truths": [True, False, 3, True, 0, 2], "nan": [1.0, 2.0, NAN, 4.0, 0.5, 2.5],
    "zeros": [0.0, -0.0, 0.0, -0.0, -1.0],
    "minus_zeros": [-0.0] * 6, "long": [2**31, 5, -(2**40), 2**57, 3, 2**57], "longer": [2**62, 2**62, 2**62, 1],
    "huge": [1, 2**70, 3, 4, -(2**80)], "infinities": [float("inf"), -float("inf"), 1.0, 2.0], "empty": [], "one": [4],
    "texts": ["b", "a", "c"], "none": [1, None, 2, 3], "lists": [[2], [1], [3]], "sub": Sub([3, 1, 2, 5]),
    "tuple": (3, 1, 2, 5, 4), "rounded": [0.1, 0.2, 0.3, 1e16, 1.0, -1e16],
}  # fmt: skip


def medians(xs, k):
    out, h = [], k // 2
    for i in range(len(xs)):
        w = sorted(xs[max(0, i - h) : min(len(xs), i + h + 1)])
        out.append(w[len(w) // 2])
    return out


def sorted_in_place(xs, k):
    out = []
    for i in range(len(xs)):
        w = xs[i - k : i + k]
        w.sort()
        if len(w) > 1:
            out.append(w[-1])
        out.append(len(w))
    return out


def of_window(xs, k):
    total, out = 0, []
    for i in range(len(xs)):
        w = xs[i : i + k]
        total += w[0] + w[-1]
        out.append((max(w), min(w), sum(w)))
    return total, out


def extremes(xs, k):
    out = []
    for i in range(len(xs) - 1):
        out.append(max(xs[i : i + k]))
        out.append(min(xs[i : i + k]))
        out.append(sum(xs[i : i + k]) / k)
    return out


def display(xs, k):
    out = []
    for i in range(1, len(xs) - 1):
        w = [xs[i - 1], xs[i], xs[i + 1]]
        w.sort()
        out.append(w[1])
        out.append(sorted([xs[i], xs[0], xs[i - 1]])[0])
    return out


def sorted_displays(xs, k):
    out = []
    for i in range(1, len(xs) - 1):
        out.append(sorted([xs[i - 1], xs[i], xs[i + 1]])[1])
        out.append(sorted([xs[i - 1], xs[i], xs[k % len(xs)]]))
        out.append(max([xs[i - 1], xs[i]]))
        out.append(min([xs[i - 1], xs[i]]) if i % 3 else sum([xs[i], i]))
    return out


def out_of_bounds(xs, k):
    out = []
    for i in range(len(xs)):
        w = sorted(xs[i : i + k])
        out.append(w[k - 1])
    return out


def changed_meanwhile(xs, k):
    out = []
    for i in range(len(xs)):
        w = sorted(xs[-k:])
        xs.append(w[0])
        xs[i % 3] = w[-1]
        out.append(sum(xs[:k]))
    return out, xs


def kept(xs, k):
    out, last = [], None
    for i in range(len(xs)):
        w = sorted(xs[i : i + k])
        v = xs[i : i + k]
        if i % 7 == 3:
            out.append(w)
            last = v
        out.append(w[0])
    return out, last


FUNCTIONS = [
    *(medians, sorted_in_place, of_window, extremes, display, sorted_displays, out_of_bounds, changed_meanwhile, kept),
]


@pytest.mark.parametrize("engine", ["numpy", "native", "default"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_and_errors_are_pythons(function, engine):
    """One function gets all signals, so that its code expects numbers of one class and meets other objects."""
    staged = ag.function(function) if engine == "default" else ag.function(function, engine=engine)
    names = {"SIGNALS": SIGNALS}
    for name in [*SIGNALS, *reversed(SIGNALS)]:
        for k in (3, 5):
            text = f"SIGNALS[{name!r}][:], {k}" if name != "sub" else f"type(SIGNALS['sub'])(SIGNALS['sub']), {k}"
            wanted, actual = run(function, text, names), run(staged, text, names)
            assert actual == wanted, (name, k)
            assert actual.raised_at == wanted.raised_at, (name, k)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", SIGNALS)
def test_code_for_each_signal(function, name):
    staged = ag.function(function, engine="native")
    for k in (0, 1, 3, 3, 30, 30):
        text = f"SIGNALS[{name!r}] * 1, {k}"
        wanted, actual = (run(each, text, {"SIGNALS": SIGNALS}) for each in (function, staged))
        assert actual == wanted and actual.raised_at == wanted.raised_at


def test_each_size():
    staged = ag.function(medians, engine="native")
    for k in range(1, 60, 3):
        for xs in (SIGNALS["integers"] * 3, SIGNALS["floats"] * 3):
            assert repr(staged(xs, k)) == repr(medians(xs, k))
