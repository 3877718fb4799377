"""What staging the functions of libraries, which nobody here has written, has brought to light; as small as it gets."""

from __future__ import annotations

from xml.parsers.expat import ParserCreate

import autograph as ag
from tests.corpus_staged import calls

# Classes that say themselves what they hold.


class Forwarding:
    """An object without a `__dict__`, which has its names for keys."""

    __slots__ = ("items",)

    def __init__(self, items):
        self.items = items

    def __getitem__(self, key):
        return self.items[key]

    @ag.function
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@calls("Forwarding({'a': 1}), 1", "Forwarding({'a': 2, 'b': 3}), 5", "Forwarding({}), 5")
def an_object_that_has_its_names_for_keys(record, n):
    record.items["b"] = n
    return record.a + record["b"] + n


class Last(dict):
    """A dict of lists that shows the last item of each."""

    def add(self, key, value):
        self.setdefault(key, []).append(value)

    @ag.function
    def __getitem__(self, key):
        return super().__getitem__(key)[-1]

    def items(self):
        return [(key, self[key]) for key in self]


@calls("Last(), 1", "Last(a=[1, 2]), 5")
def a_dict_that_shows_other_values(d, n):
    d.add("a", n)
    if n > 2:
        d.add("b", d["a"] + 1)
    return d["a"], d.items(), sorted(map(len, dict.values(d)))


class Backwards(list):
    def __iter__(self):
        return reversed([*super().__iter__()])


@calls("Backwards([1, 2]), 3", "Backwards(), 0")
def a_list_that_is_read_backwards(xs, n):
    xs.append(n)
    if n > 1:
        xs[0] = n
    return list(xs), xs[0]


class Countdown:
    """An iterator whose steps are staged."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    @ag.function
    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n


@calls("3", "0")
def an_iterator_whose_steps_are_staged(n):
    countdown = Countdown(n)
    return list(countdown), countdown.n


# Arguments by names that only the caller knows.


class Holder:
    pass


@calls("a=[1]", "b=[2], c={'d': 3}", "b=4")
def keywords_are_kept(**options):
    holder = Holder()
    holder.options = options
    return vars(holder), [options[name] for name in options]


@calls("1, x=[2]", "3, x=[4, 5]")
def a_keyword_like_a_parameter(x, /, *, factor=[1], **options):
    options["x"].append(x)
    factor = [*factor, x]
    return options, factor


# Objects that know themselves.


class Branch:
    """A part of a tree, which knows the part that it is in."""

    def __init__(self, value, parent=None):
        self.value = value
        self.parent = parent
        self.parts = []

    def grow(self, value):
        self.parts.append(Branch(value, self))
        return self


class Network:
    def __init__(self, start):
        self.start = start
        self.hosts = self.first

    def first(self):
        return self.start


@calls("1", "2.5")
def a_tree_whose_parts_know_their_parents(x):
    root = Branch(x).grow(x + 1)
    return root.parts[0].parent is root, root


@calls("1", "2.5")
def an_object_that_has_a_method_of_its_own(x):
    network = Network(x + 1)
    return network.hosts(), network


class Parser:
    def __init__(self):
        self.seen = []

    def watch(self, parser):
        parser.StartElementHandler = self.begin

    @ag.function
    def begin(self, name, attributes):
        self.seen.append((name, attributes))


@calls("Parser(), '<a b=\"1\"/>'", "Parser(), '<c/>'")
def a_staged_method_that_others_call(watcher, text):
    parser = ParserCreate()
    watcher.watch(parser)
    parser.Parse(text, True)
    return watcher.seen


@calls("Parser(), 1", "Parser(), 2")
def a_staged_method_is_returned(watcher, n):
    return watcher.begin.__self__ is watcher, {n: watcher.begin}[n]("name", n), watcher.seen


@calls("Parser()", "Parser()")
def a_staged_method_alone(watcher):
    found = watcher.begin
    return found.__self__, [found]


def endless_list(x):
    xs = [x]
    xs.append(xs)
    return xs


def endless_dict(x):
    return {"x": x, "more": (d := {"x": x, "less": endless_list(x)})} | {"self": d.setdefault("self", d)}


@calls("endless_list(1), 2", "[1, [2, [3]]], 2", "endless_list(1.5), 3")
def a_list_that_contains_itself(xs, n):
    return xs is xs[1], n + xs[0], xs[1][0]


@calls("endless_dict(1), 2", "endless_dict(2.5), 3")
def a_dict_with_one_that_contains_itself(d, n):
    return d["self"] is d["more"], d["more"]["self"] is d["self"], d["x"] + n, len(d["more"]["less"])
