"""Lists, dicts, sets, stacks, queues: built, changed, passed on."""

import bisect
import heapq
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

from tests.corpus_staged import calls


@calls("5", "0")
def append_in_a_loop(n):
    squares = []
    for i in range(n):
        squares.append(i**2)
    return squares


@calls("np.array([3.0, -1.0, 2.0])", "np.array([])")
def append_conditionally(x):
    low, high = [], []
    for v in x:
        if v > 0:
            high.append(v)
        else:
            low.append(v)
    return low, high, len(low) - len(high)


@calls("np.array([1.0, 2.0])", "np.array([])")
def stack_what_was_appended(x):
    rows = []
    for v in x:
        rows.append(np.array([v, v**2, v**3]))
    return np.array(rows), len(rows)


@calls("[1, 2, 3], 4", "[], 0")
def changes_the_callers_list(xs, x):
    xs.append(x)
    xs.insert(0, -x)
    xs.extend([x, x])
    xs += [0]
    return len(xs)


@calls("[3, 1, 2]", "[1]", "[]")
def list_methods(xs):
    xs.sort(reverse=True)
    ys = xs.copy()
    ys.reverse()
    return xs, ys, xs.index(1), xs.count(1), xs.pop()


@calls("[4, 2, 7], 2", "[4, 2], 9")
def remove_from_list(xs, x):
    xs.remove(x)
    del xs[0]
    xs.clear()
    return xs


@calls("[1, 2, 3], 0", "[1, 2, 3], -1", "[1, 2, 3], 3", "[], 0")
def list_by_index(xs, i):
    x = xs[i]
    xs[i] = x * 10
    return xs, x


@calls("[0, 1, 2, 3, 4, 5], 1, 4", "[0, 1], 0, 9", "[], 2, 1", "[0, 1, 2], -2, 3")
def list_slices(xs, i, j):
    middle = xs[i:j]
    xs[i:j] = [9]
    return middle, xs, xs[::-1], xs[::2], xs[:i] + xs[j:]


@calls("5", "3", "0")
def pop_until_empty(n):
    stack, out = list(range(n)), []
    while stack:
        x = stack.pop()
        out.append(x)
        if x % 3 == 2:
            stack.append(x - 2)
    return out


@calls("'([]{})'", "'([)]'", "'(('", "''")
def balanced(text):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for c in text:
        if c in "([{":
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
    return not stack


@calls("'3 4 + 2 *'", "'1 2 3 - -'", "'1 0 /'", "'+'")
def reverse_polish(text):
    stack = []
    for token in text.split():
        if token in "+-*/":
            b, a = stack.pop(), stack.pop()
            if token == "+":
                stack.append(a + b)
            elif token == "-":
                stack.append(a - b)
            elif token == "*":
                stack.append(a * b)
            else:
                stack.append(a / b)
        else:
            stack.append(float(token))
    return stack


@calls("[3, 0, 2], 6", "[], 3")
def queue(times, rounds):
    waiting = deque(enumerate(times))
    done = []
    while waiting and rounds > 0:
        name, left = waiting.popleft()
        if left <= 1:
            done.append(name)
        else:
            waiting.append((name, left - 1))
        rounds -= 1
    return done, list(waiting)


@calls("[1, 2, 1, 3, 1]", "[]", "['a', 'b', 'a']", "[1, 1.0, True]")
def count_items(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    return counts


@calls("np.array([1, 2, 1, 3])", "np.array([], dtype=int)")
def count_array_items(x):
    counts = {}
    for v in x:
        key = int(v)
        if key in counts:
            counts[key] += 1
        else:
            counts[key] = 1
    return counts


@calls("[3, 1, 3, 2]", "[]")
def with_counter_and_defaultdict(xs):
    groups = defaultdict(list)
    for i, x in enumerate(xs):
        groups[x % 2].append(i)
    return Counter(xs).most_common(2), dict(groups)


@calls("{'a': 1}, 'b', 2", "{}, 'a', 1.5", "{'b': [1]}, 'b', 0")
def dict_methods(d, key, value):
    d.setdefault("c", []).append(value)
    old = d.pop(key, None)
    d.update({key: value}, z=0)
    return old, sorted(d), list(d.items()), key in d, d.get("q"), len(d)


@calls("{1: 'x'}, 1", "{1: 'x'}, 2", "{}, 1.0")
def missing_key(d, key):
    return d[key]


@calls("4", "0")
def dict_with_computed_keys(n):
    memo = {}
    for i in range(n):
        memo[i, i * 2] = i
        memo[i % 2] = memo.get(i % 2, 0) + i
        memo[f"k{i}"] = [i]
    return memo


@calls("[1, 2, 3], [2, 3, 4]", "[], [1]")
def sets(xs, ys):
    a, b = set(xs), set(ys)
    a.add(10)
    b.discard(4)
    return a & b, a | b, a - b, a ^ b, a <= b, 10 in a, sorted(a)


@calls("[1, 2, 3, 2, 1]", "[]")
def duplicates(xs):
    seen, twice = set(), []
    for x in xs:
        if x in seen:
            twice.append(x)
        else:
            seen.add(x)
    return twice


@calls("[5, 3, 8, 1]", "[]")
def heap_sort_by_heapq(xs):
    heap, out = [], []
    for x in xs:
        heapq.heappush(heap, x)
    while heap:
        out.append(heapq.heappop(heap))
    return out


@calls("[1, 3, 5], 4", "[], 1", "[2.5, 3.5], 0")
def insert_sorted(xs, x):
    place = bisect.bisect_left(xs, x)
    xs.insert(place, x)
    return place


@calls("[1, 2, 3]", "[1]", "[]")
def unpack_list(xs):
    first, *rest = xs
    *init, last = xs
    return first, rest, init, last


@calls("(1, 2.5)", "[3, 4]", "np.array([5, 6])", "(1, 2, 3)")
def unpack_pair(pair):
    a, b = pair
    return b, a


@calls("1, 2", "1.5, 'x'")
def swap_in_lists(a, b):
    xs = [a, b]
    xs[0], xs[1] = xs[1], xs[0]
    (p, q), r = xs, a
    return xs, p, q, r


def _add_all(target, items):
    for item in items:
        if item > 0:
            target.append(item)
    return target


@calls("[1, -1, 2]", "[]")
def list_changed_in_called_function(xs):
    out = []
    _add_all(out, xs)
    same = _add_all(out, [7])
    return out, same is out


def _tally(counts, key):
    counts[key] = counts.get(key, 0) + 1


@calls("[1, 2, 1]", "[]")
def dict_changed_in_called_function(xs):
    counts = {}
    for x in xs:
        if x < 5:
            _tally(counts, x)
    return counts


@calls("3", "0")
def list_of_lists(n):
    rows = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if i < j:
                rows[i][j] = i + j
    same = [[0]] * 2
    same[0][0] += n
    return rows, same


@calls("[1, 2, 3], 2", "[], 1")
def membership(xs, x):
    return x in xs, x not in xs, x in (1, 2), x in {2: 3}, x in {5}, x in range(2, 9), str(x) in "123"


@calls("{'x': np.zeros(2), 'n': 0}, 3", "{'x': np.ones(1), 'n': 5}, 0")
def dict_of_state(state, steps):
    for _ in range(steps):
        state["x"] += 1
        state["n"] = state["n"] + 1
        if state["n"] > 2:
            state["done"] = True
    return state


@calls("np.arange(3.0)", "np.zeros(0)")
def tuple_of_arrays(x):
    parts = (x, x + 1, x * 2)
    total = sum(p.sum() for p in parts)
    return parts, total, parts[1] + parts[-1]


@calls("[1, 2, 3], [1, 2, 3]", "[1], [1.0]", "[], [0]", "[3], [1, 2]")
def lists_compared(xs, ys):
    return xs == ys, xs < ys, xs + ys, xs * 2, tuple(xs) == tuple(ys)


@calls("3", "0")
def ordered(n):
    cache = OrderedDict()
    for i in range(n + 3):
        cache[i % 4] = i
        cache.move_to_end(i % 4)
        if len(cache) > 2:
            cache.popitem(last=False)
    return list(cache.items())


@calls("[3, 1, 2]", "[]")
def while_list_changes(xs):
    log = []
    while len(xs) > 1:
        a = xs.pop(0)
        if a > xs[0]:
            xs.append(a - xs[0])
        log.append(a)
        if len(log) > 9:
            break
    return log, xs


@calls("[10, 20, 30], np.array([2, 0])", "[10], np.array([0])", "[10], np.array([1])")
def list_by_array_element(xs, indices):
    return [xs[i] for i in indices], xs[indices[0]], xs[int(indices[-1])]


@calls("['a', 'b'], 1", "['a'], 0", "['a'], 5")
def texts_by_index(names, i):
    return names[i], ("x", "y", "z")[i], "word"[i], "word"[i:]


@calls("2", "0")
def aliases_of_lists(n):
    a = []
    b = a
    c = {"list": a}
    for i in range(n):
        b.append(i)
    c["list"].append("end")
    return a, b is a, c


@calls("[1, 2]", "[]")
def grows_while_iterated(xs):
    for x in xs:
        if len(xs) < 6:
            xs.append(x * 2)
    return xs


@calls("{'a': 1, 'b': 2}", "{}")
def changes_size_while_iterated(d):
    for k in d:
        d[k + "!"] = 0
    return d


@calls("[[1], [2, 3]]", "[]")
def pushes_down(tree):
    def depth(node):
        return 1 + max([depth(n) for n in node], default=0) if isinstance(node, list) else 0

    tree.append([[tree[0]] if tree else []])
    return depth(tree), tree
