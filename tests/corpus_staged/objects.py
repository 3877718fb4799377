"""Objects that traced code changes, and that are in lists, heaps and functions that only the graph knows, too."""

import functools
import heapq
from collections import defaultdict

from tests.corpus_staged import calls


class Scaler:
    def __init__(self, k):
        self.k = k
        self.calls = 0

    def apply(self, x):
        return -x * self.k

    def counted(self, x):
        self.calls += 1
        return x % self.k


@calls("3, [3, 1, 2]", "-1, [1.5, 2]", "0, [1]")
def bound_made(n, xs):
    s = Scaler(n)
    return sorted(xs, key=s.apply), max(xs, key=s.apply), list(map(s.apply, xs)), [s.apply(x) for x in xs]


@calls("Scaler(3), [3, 1, 2]", "Scaler(-1), [1.5, 2]", "Scaler(2), []")
def bound_argument(s, xs):
    return sorted(xs, key=s.apply), max(xs, key=s.apply, default=None), list(map(s.apply, xs))


@calls("Scaler(3), [3, 1, 2]", "Scaler(-1), [5, 2]", "Scaler(2), [1]")
def bound_counting(s, xs):
    xs.sort(key=s.counted)
    return xs, s.calls


@calls("Scaler(3), 2", "Scaler(4), 0")
def bound_returned(s, n):
    m = s.apply
    return m(n), (m.__self__ is s), m


@calls("Scaler(3), 2", "Scaler(4), 0")
def bound_in_dict(s, n):
    table = {"a": s.apply, "b": s.counted}
    d = defaultdict(list)
    d["x"].append(s.apply)
    return table["a"](n) + table["b"](n), d["x"][0](n), s.calls


class Item:
    def __init__(self, x):
        self.x = x

    def __lt__(self, other):
        return self.x < other.x


@calls("Item(1), 3", "Item(2.5), 0")
def changed_after_handing(p, n):
    q = []
    heapq.heappush(q, (n, p))
    p.x += n
    return heapq.heappop(q)[1].x, p.x


@calls("Item(1), 3", "Item(2.5), 0")
def changed_before_handing(p, n):
    q = []
    p.x += n
    heapq.heappush(q, (n, p))
    return heapq.heappop(q)[1].x, p.x


@calls("Item(1), 3", "Item(2.5), 0")
def changed_through_other(p, n):
    q = []
    heapq.heappush(q, (n, p))
    other = heapq.heappop(q)[1]
    other.x += n
    return other.x, p.x, other is p


@calls("1, 3", "2.5, 0")
def made_changed_through_other(x, n):
    p = Item(x)
    q = [(n, p), (n + 1, Item(n))]
    heapq.heapify(q)
    other = heapq.heappop(q)[1]
    other.x += n
    return other.x, p.x, other is p


@calls("[Item(3), Item(1), Item(2)], 3", "[Item(3), Item(1)], 0")
def sorted_objects(items, n):
    items.sort()
    items[0].x += n
    best = max(items)
    best.x *= 2
    return [i.x for i in items], min(items, key=lambda i: -i.x).x


@calls("[Item(3), Item(1), Item(2)], 3", "[Item(3), Item(1)], 0")
def objects_in_held_list(items, n):
    out = []
    for i in range(n):
        out.append(items[i % len(items)])
        items[0].x += 1
        if out[i].x > 3:
            out[i].x -= 2
    return [i.x for i in items], [o.x for o in out]


@calls("3", "0", "5")
def objects_made_in_loop(n):
    items = []
    for i in range(n):
        items.append(Item(i))
        items[-1].x += n
        items[0].x *= 2
    return [i.x for i in items], items


@calls("3, 1", "0, 2", "5, 5")
def one_of_two(a, b):
    p, q = Item(a), Item(b)
    best = p if a > b else q
    best.x += 10
    p.x += 1
    return p.x, q.x, best.x, best is p


@calls("4, [0, 0, 5, 0]", "4, [0] * 4", "0, []")
def made_in_a_tuple_that_a_loop_returns(n, limits):
    while n > 0:
        n -= 1
        if Item(n).x < limits[n]:
            return limits, Item(n), functools.partial(max, n)
    return n, limits


@functools.total_ordering
class Card:
    RANKS = "23456789TJQKA"

    def __init__(self, text):
        self.rank = self.RANKS.index(text[0]) + 2

    def __eq__(self, other):
        return self.rank == other.rank

    def __lt__(self, other):
        return self.rank < other.rank

    def __hash__(self):
        return self.rank


@calls("'2H 3D 5S 9C KD'", "'AS AH'")
def made_and_returned_in_a_tuple(text):
    cards = sorted((Card(part) for part in text.split()), reverse=True)
    return max(cards), min(cards) < cards[0]


class Invalid(ValueError):
    def __init__(self, field, value):
        self.field = field
        self.value = value
        super().__init__(f"{field}: {value!r}")


@calls("5, 'x'", "-1, 'x'", "5, ''", "200, 'y'")
def errors_kept_in_a_list(age, name):
    errors = []
    if age < 0:
        errors.append(Invalid("age", age))
    if not name:
        errors.append(Invalid("name", name))
    if age > 150:
        raise Invalid("age", age)
    return [str(error) for error in errors], [error.value for error in errors]


@calls("[3, 1, 2]", "[]", "[2.5]")
def method_of_a_list_as_key(xs):
    return max(range(len(xs)), key=xs.__getitem__, default=None)


class Mutator:
    """Called like a class of this library's."""

    def __init__(self, x):
        self.x = x


@calls("1", "2.5")
def object_of_a_class_with_a_name_of_the_librarys(x):
    made = Mutator(x + 1)
    return [made], made.x
