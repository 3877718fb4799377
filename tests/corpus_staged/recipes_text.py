"""Recipes on text, and simulations of daily life."""

import numpy as np

from tests.corpus_staged import calls


@calls("'aaabbc'", "''", "'x'")
def run_length_encoding(text):
    out, i = "", 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out += f"{j - i}{text[i]}" if j - i > 1 else text[i]
        i = j
    return out


@calls("'3ab2c'", "'x'", "''")
def run_length_decoding(text):
    out, count = [], ""
    for c in text:
        if c.isdigit():
            count += c
        else:
            out.append(c * int(count or 1))
            count = ""
    return "".join(out)


@calls("1994", "4", "0", "-1")
def roman(n):
    if n < 0:
        raise ValueError("no Roman number for " + str(n))
    out = ""
    for value, letters in [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
                           (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:  # fmt: skip
        while n >= value:
            out += letters
            n -= value
    return out


@calls("'MCMXCIV'", "''", "'IZ'")
def from_roman(text):
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = previous = 0
    for c in reversed(text):
        v = values[c]
        total += v if v >= previous else -v
        previous = v
    return total


@calls("'Hello, World', 3", "'abc', -1", "'', 5")
def caesar(text, shift):
    out = []
    for c in text:
        if c.isalpha():
            base = ord("A") if c.isupper() else ord("a")
            out.append(chr((ord(c) - base + shift) % 26 + base))
        else:
            out.append(c)
    return "".join(out)


@calls("'the cat the dog'", "''")
def word_counts(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


@calls("'A man a plan'", "'Anna'", "''")
def palindrome(text):
    letters = [c.lower() for c in text if c.isalpha()]
    i, j = 0, len(letters) - 1
    while i < j:
        if letters[i] != letters[j]:
            return False
        i += 1
        j -= 1
    return True


@calls("12345.678, 2", "0, 1", "-999, 0")
def with_thousands(x, digits):
    whole, _, rest = f"{abs(x):.{digits}f}".partition(".")
    groups = []
    while len(whole) > 3:
        groups.insert(0, whole[-3:])
        whole = whole[:-3]
    text = ",".join([whole] + groups)
    return ("-" if x < 0 else "") + text + (f".{rest}" if rest else "")


@calls("'1,2;3,4'", "'1'", "'1,x'", "''")
def parse_table(text):
    rows = []
    for line in text.split(";"):
        row = []
        for cell in line.split(","):
            try:
                row.append(float(cell))
            except ValueError:
                row.append(None)
        rows.append(row)
    return rows


@calls("3725", "59", "0")
def clock(seconds):
    minutes, s = divmod(seconds, 60)
    h, m = divmod(minutes, 60)
    return f"{h:02d}:{m:02d}:{s:02d}" if h else f"{m}:{s:02d}"


@calls("np.array([[1, 0], [0, 1]])", "np.zeros((0, 2))", "np.array([[2, 3, 4]])")
def draw(board):
    lines = []
    for row in board:
        line = ""
        for v in row:
            line += ".#?"[v] if v < 3 else str(v)
        lines.append(line)
    text = "\n".join(lines)
    print(text)
    return text


@calls("100.0, [('deposit', 50), ('withdraw', 500), ('fee', 1)]", "0, []", "10, [('withdraw', 10)]")
def bank(balance, events):
    statement = []
    for kind, amount in events:
        if kind == "deposit":
            balance += amount
        elif kind == "withdraw" and balance >= amount:
            balance -= amount
        elif kind == "withdraw":
            statement.append(f"refused {amount}")
            continue
        else:
            raise ValueError(f"unknown event {kind!r} after {len(statement)} lines")
        statement.append(f"{kind:<10}{balance:>8.2f}")
    return balance, statement


@calls("[1, 4, 5], [3, 3, 1]", "[], []", "[0], [2]")
def bank_queue(arrivals, services):
    free_at, waits = 0, []
    for arrival, service in zip(arrivals, services):
        start = max(arrival, free_at)
        waits.append(start - arrival)
        free_at = start + service
    return waits, sum(waits) / len(waits) if waits else 0.0, free_at


@calls("[4, 2, 1], 2", "[5], 1", "[], 3")
def round_robin(jobs, quantum):
    time, finished, left = 0, {}, list(enumerate(jobs))
    while left:
        name, work = left.pop(0)
        if work > quantum:
            left.append((name, work - quantum))
            time += quantum
        else:
            time += work
            finished[name] = time
    return finished


@calls("{'apple': 3, 'pear': 0}, [('apple', 2), ('pear', 1), ('plum', 1)]", "{}, []")
def inventory(stock, orders):
    missing = []
    for item, wanted in orders:
        have = stock.get(item)
        if have is None:
            print(f"no such item: {item}")
        elif have < wanted:
            missing.append((item, wanted - have))
        else:
            stock[item] -= wanted
    return missing


@calls("10, 5, 20", "0, 3, 2", "3, 0, 2")
def predators_and_prey(rabbits, foxes, years):
    history = []
    for year in range(years):
        if rabbits <= 0 or foxes <= 0:
            break
        rabbits, foxes = rabbits + rabbits * 2 // 5 - rabbits * foxes // 40, foxes + foxes * rabbits // 100 - foxes // 4
        history.append((year, rabbits, foxes))
    else:
        return "survived", history[-1]
    return "died out", history


@calls("3, 2, [(0, 0, 'A'), (1, 1, 'B'), (5, 5, 'C')]", "1, 1, []")
def text_grid(width, height, marks):
    grid = [["."] * width for _ in range(height)]
    for x, y, mark in marks:
        if 0 <= x < width and 0 <= y < height:
            grid[y][x] = mark
    return "\n".join("".join(row) for row in grid)


@calls("['12', 'x', '7.5', '']", "[]")
def sum_of_texts(texts):
    total, bad = 0, []
    for i, text in enumerate(texts):
        if text.isdigit():
            total += int(text)
        elif text.replace(".", "", 1).isdigit():
            total += float(text)
        else:
            bad.append(i)
    return total, bad


@calls("'abracadabra', 'abra'", "'aaa', 'aa'", "'', 'x'")
def find_all(text, pattern):
    places, i = [], text.find(pattern)
    while i != -1:
        places.append(i)
        i = text.find(pattern, i + 1)
    return places


@calls("5, 3", "1, 0")
def christmas_tree(n, width):
    for i in range(n):
        print(("*" * (2 * i + 1)).center(2 * n + width))
    print("|".center(2 * n + width), end="")


@calls("'1 + 2 * 3'", "'2 * 3 + 4'", "'7'", "'1 +'")
def evaluate(text):
    tokens = text.split()
    position = 0

    def term():
        nonlocal position
        value = int(tokens[position])
        position += 1
        while position < len(tokens) and tokens[position] == "*":
            position += 1
            value *= int(tokens[position])
            position += 1
        return value

    value = term()
    while position < len(tokens):
        if tokens[position] != "+":
            raise SyntaxError(tokens[position])
        position += 1
        value += term()
    return value


@calls("4", "0")
def look_and_say(n):
    text = "1"
    for _ in range(n):
        out, count = "", 1
        for i in range(len(text)):
            if i + 1 < len(text) and text[i + 1] == text[i]:
                count += 1
            else:
                out += str(count) + text[i]
                count = 1
        text = out
    return text


@calls("'4539 1488 0343 6467'", "'1'", "''", "'12a'")
def luhn(number):
    total = 0
    digits = [int(c) for c in number if c != " "]
    for i, d in enumerate(reversed(digits)):
        if i % 2 == 1:
            d *= 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0


@calls("np.array([72, 105])", "np.array([], dtype=int)", "[300, -1]")
def codes_to_text(codes):
    return "".join(chr(c) for c in codes)


@calls("'hello'", "''")
def letter_histogram(text):
    counts = np.zeros(26, dtype=int)
    for c in text:
        counts[ord(c) - ord("a")] += 1
    return "".join(chr(i + 97) + str(n) for i, n in enumerate(counts) if n), counts.argmax()
