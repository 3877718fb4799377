"""Loops over dicts, sets, texts, heaps and sorted lists, which machine code runs by calls of C functions."""

import bisect
import heapq
from collections import Counter, OrderedDict, defaultdict, deque  # noqa: F401 -- arguments

from tests.corpus_staged import calls


@calls("[0.5, 2.0, 1.5, 2.0] * 20, 5", "[3, 1, 2] * 30, 4", "[3, 1.5, True, 2**70] * 20, 3", "['b', 'a'] * 40, 3",
       "[float('nan'), 1.0] * 40, 4")
def sorted_window(signal, width):
    window, found = sorted(signal[:width]), []
    for i in range(width, len(signal)):
        window.remove(signal[i - width])
        bisect.insort(window, signal[i])
        at = bisect.bisect_left(window, signal[i])
        found.append((window[width // 2], at, bisect.bisect(window, signal[i]), window.index(window[at])))
        if signal[i] not in window:
            break
    return found


@calls("[1, 5, 5, 2, 1] * 20, 5", "[1.0, True, 1] * 30, 1", "[0.0, -0.0] * 40, 0", "[float('nan')] * 70, 1")
def searched(xs, x):
    found = []
    for i in range(len(xs)):
        found.append((x in xs, xs[i] in xs, xs.count(x), xs.index(xs[i])))
        if len(xs) > 3:
            xs.remove(xs[i // 2])
    return found, xs


@calls("[3, 1, 2] * 30, 7", "[3] * 70, 3")
def removed_until_there_is_none(xs, x):
    for i in range(100):
        xs.remove(x if i > 5 else xs[0])
    return xs


@calls("['the', 'of', 'the'] * 30", "[1, 2, 1] * 30", "[(1, 'a'), (2, 'b'), (1, 'a')] * 30", "[1, 1.0, True] * 30",
       "[1, [2]] * 40", "[(1, [2])] * 70", "[None, 'a'] * 40", "[float('nan')] * 70")
def counted(words):
    counts, seen, order, kinds = {}, set(), [], defaultdict(int)
    for i, word in enumerate(words):
        counts[word] = counts.get(word, 0) + 1
        kinds[word] += i
        if word not in seen:
            seen.add(word)
            order.append(word)
        elif counts[word] > 20:
            seen.discard(word)
            kinds.pop(word, None)
    return counts, order, kinds, len(seen)


@calls("12", "1")
def flooded(n):
    distance, queue = {(0, 0): 0}, deque([(0, 0)])
    while queue:
        x, y = queue.popleft()
        for dx, dy in ((1, 0), (0, 1), (-1, 0)):
            a, b = x + dx, y + dy
            if 0 <= a < n and 0 <= b < n and (a * b) % 5 != 4 and (a, b) not in distance:
                distance[a, b] = distance[x, y] + 1
                queue.append((a, b))
    return distance


@calls("{i: [(i * 7 % 40, i % 5 + 1), (i * 3 % 40, 2.5)] for i in range(40)}, 1", "{0: [(1, 1)]}, 0")
def nearest(graph, start):
    best, heap = {}, [(0, start)]
    while heap:
        distance, at = heapq.heappop(heap)
        if at not in best:
            best[at] = distance
            for to, length in graph[at]:
                heapq.heappush(heap, (distance + length, to))
    return best


@calls("'abz ABZ 019 é€𝄞 ' * 9, 3", "'', 1", "'abc' * 30, -4")
def ciphered(text, shift):
    found, digits = [], 0
    for letter in text:
        if letter.isdigit():
            digits += int(letter)
        elif letter.islower() and letter.isascii():
            found.append(chr((ord(letter) - 97 + shift) % 26 + 97))
        else:
            found.append(letter.upper())
        if letter in "aé€":
            digits += len(found)
    return "".join(found), digits


@calls("list(range(90))", "[0.5] * 80", "[]")
def cut(xs):
    found = []
    for i in range(30):
        found.append([[i, xs[i::7]], [xs[-i:-1:-2]]])
        xs[i:i + 2] = [i, i + 0.5, i]
        del xs[3:4]
        found.extend(xs[:2])
        xs[-1:] = []
    return found, xs


@calls("{i: i * i for i in range(90)}, 5", "{'a': 1, 'b': 2.5}, 50", "{}, 5")
def gone_through(table, n):
    found = []
    for i in range(n):
        for key, value in table.items():
            found.append((key, value + i))
        for key in table:
            found.append(table[key])
        found.append(sum(table.values()))
    return found, list(table.keys())


@calls("{i: i for i in range(90)}", "{}")
def changed_while_iterated(table):
    total = 0
    for key, value in table.items():
        total += value
        if key == 70:
            table[key + 1000] = total
        table[key] = total
    return total


@calls("{i: i for i in range(90)}, 71", "{i: i for i in range(90)}, 100")
def deleted_while_iterated(table, last):
    found = []
    for key in table:
        found.append(key * 2)
        if key == last:
            del table[key]
    return found


@calls("OrderedDict((i, i % 3) for i in range(80)), Counter('abca' * 20)")
def of_other_dicts(ordered, counts):
    for i in range(80):
        ordered[i % 7] = ordered.get(i, 0) + counts["a"]
        counts["abz"[i % 3]] += ordered[i]
        if i % 9 == 8:
            del ordered[i]
    return ordered, counts


@calls("{i: i for i in range(80)}, [1, 2, 3, 500] * 20", "{}, ['a']", "{}, [(1, 2)]", "{}, [[]]")
def missed(table, keys):
    total = 0
    for key in keys:
        total += table[key]
    return total


@calls("'abcba' * 9, 'xbcy' * 9", "'aé€𝄞' * 9, 'é𝄞ab' * 9", "'ab' * 9, 'a'", "'a' * 50, 'a' * 40")
def compared_letters(one, other):
    found = []
    for i in range(-len(one), len(one)):
        same = one[i] == other[i // 2]
        for j in range(5):
            if one[i] != other[j]:
                same = same + 1
        found.append((same, one[i] == "a", one[i:] == other[i:], ord(one[i])))
    return found


@calls("[5, 1, 4] * 30, 3", "[2.5, 0.5] * 40, 5")
def greatest_of_windows(xs, width):
    places, found = deque(), []
    for i in range(len(xs)):
        while places and xs[places[-1]] <= xs[i]:
            places.pop()
        places.append(i)
        if places[0] <= i - width:
            places.popleft()
        found.append(xs[places[0]])
    return found, places[len(places)]
