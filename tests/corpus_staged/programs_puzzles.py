"""Puzzles, machines, grids and texts in pure Python."""

import heapq
import random
import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter, deque
from functools import cache
from itertools import accumulate

from tests.corpus_staged import calls


@calls("[1, 2, 3], 4", "[], 1", "[5, 5], 5")
def insort_use(xs, x):
    insort(xs, x)
    return xs, bisect_left(xs, x), bisect_right(xs, x)


@calls("'++>+++[<+>-]<.'", "'+[-]'", "''")
def brainf(program):
    tape, ptr, pc, out = [0] * 10, 0, 0, []
    steps = 0
    while pc < len(program) and steps < 200:
        c = program[pc]
        if c == ">":
            ptr += 1
        elif c == "<":
            ptr -= 1
        elif c == "+":
            tape[ptr] = (tape[ptr] + 1) % 256
        elif c == "-":
            tape[ptr] = (tape[ptr] - 1) % 256
        elif c == ".":
            out.append(tape[ptr])
        elif c == "[" and tape[ptr] == 0:
            depth = 1
            while depth:
                pc += 1
                depth += (program[pc] == "[") - (program[pc] == "]")
        elif c == "]" and tape[ptr] != 0:
            depth = 1
            while depth:
                pc -= 1
                depth += (program[pc] == "]") - (program[pc] == "[")
        pc += 1
        steps += 1
    return out, tape[:2]


@calls(
    "[('push', 3), ('push', 4), ('add', 0), ('dup', 0), ('mul', 0)]", "[('push', 1.5)]", "[('add', 0)]", "[('bad', 0)]"
)
def stack_machine(program):
    stack = []
    for op, arg in program:
        if op == "push":
            stack.append(arg)
        elif op == "dup":
            stack.append(stack[-1])
        elif op in ("add", "mul"):
            b = stack.pop()
            a = stack.pop()
            stack.append(a + b if op == "add" else a * b)
        else:
            raise ValueError(f"unknown op {op}")
    return stack


@calls("[1, 0, 0, 0, 99]", "[2, 3, 0, 3, 99]", "[1, 1, 1, 4, 99, 5, 6, 0, 99]")
def intcode(memory):
    pc = 0
    while memory[pc] != 99:
        op, a, b, c = memory[pc : pc + 4]
        if op == 1:
            memory[c] = memory[a] + memory[b]
        elif op == 2:
            memory[c] = memory[a] * memory[b]
        else:
            raise RuntimeError("bad opcode %d" % op)
        pc += 4
    return memory[0], memory


@calls("'1 + 2 * 3'", "'(1+2)*3'", "'2*(3+4)*5'", "'7'", "'1 +'")
def calculator(text):
    tokens = re.findall(r"\d+|[-+*/()]", text)
    pos = 0

    def peek():
        return tokens[pos] if pos < len(tokens) else None

    def take():
        nonlocal pos
        pos += 1
        return tokens[pos - 1]

    def factor():
        if peek() == "(":
            take()
            v = expr()
            take()
            return v
        return int(take())

    def term():
        v = factor()
        while peek() in ("*", "/"):
            if take() == "*":
                v *= factor()
            else:
                v /= factor()
        return v

    def expr():
        v = term()
        while peek() in ("+", "-"):
            v = v + term() if take() == "+" else v - term()
        return v

    return expr()


@calls("100", "27", "5")
def roulette(seed):
    rng = random.Random(seed)
    money = 100
    bet = 1
    history = []
    while 0 < money < 150 and len(history) < 30:
        if rng.random() < 0.5:
            money += bet
            bet = 1
        else:
            money -= bet
            bet = min(bet * 2, money)
        history.append(money)
    return money, history


@calls("30, 5", "30, 0", "7, 9")
def wheel(rule, steps):
    row = [0] * 5 + [1] + [0] * 5
    rows = ["".join(".#"[c] for c in row)]
    for _ in range(steps):
        row = [(rule >> (row[i - 1] * 4 + row[i] * 2 + row[(i + 1) % len(row)])) & 1 for i in range(len(row))]
        rows.append("".join(".#"[c] for c in row))
    return rows


@calls("5", "0", "11")
def langtons_ant(steps):
    black = set()
    x = y = 0
    dx, dy = 0, 1
    for _ in range(steps):
        if (x, y) in black:
            black.remove((x, y))
            dx, dy = -dy, dx
        else:
            black.add((x, y))
            dx, dy = dy, -dx
        x, y = x + dx, y + dy
    return sorted(black), (x, y)


@calls("[[0, 0, 1], [1, 0, 0], [1, 1, 0]]", "[[0]]", "[[0, 1], [1, 0]]")
def maze(grid):
    n, m = len(grid), len(grid[0])
    dist = {(0, 0): 0}
    queue = deque([(0, 0)])
    while queue:
        r, c = queue.popleft()
        if (r, c) == (n - 1, m - 1):
            return dist[r, c]
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = r + dr, c + dc
            if 0 <= a < n and 0 <= b < m and not grid[a][b] and (a, b) not in dist:
                dist[a, b] = dist[r, c] + 1
                queue.append((a, b))
    return None


@calls("[[1, 1, 0], [0, 1, 0], [0, 0, 1]]", "[[0]]", "[[1, 1]]")
def islands(grid):
    count = 0
    for r in range(len(grid)):
        for c in range(len(grid[0])):
            if grid[r][c] == 1:
                count += 1
                stack = [(r, c)]
                while stack:
                    a, b = stack.pop()
                    if 0 <= a < len(grid) and 0 <= b < len(grid[0]) and grid[a][b] == 1:
                        grid[a][b] = 2
                        stack += [(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)]
    return count, grid


@calls("[[1, 2], [3, 4]], 0, 0, 9", "[[1, 1], [1, 2]], 0, 0, 3")
def flood_fill(image, r, c, color):
    old = image[r][c]
    if old == color:
        return image

    def fill(a, b):
        if 0 <= a < len(image) and 0 <= b < len(image[0]) and image[a][b] == old:
            image[a][b] = color
            for da, db in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                fill(a + da, b + db)

    fill(r, c)
    return image


@calls("['X', 'X', 'X', 'O', 'O', ' ', ' ', ' ', ' ']", "[' '] * 9", "['O', 'X', 'X', 'X', 'O', ' ', ' ', ' ', 'O']")
def tic_tac_toe(board):
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    for a, b, c in lines:
        if board[a] != " " and board[a] == board[b] == board[c]:
            return board[a]
    return "draw" if " " not in board else None


@calls("[3, 2, 1]", "[1, 4, 2]", "[]")
def nim(piles):
    x = 0
    for p in piles:
        x ^= p
    if x == 0:
        return None
    for i, p in enumerate(piles):
        if p ^ x < p:
            piles[i] = p ^ x
            return i, p - (p ^ x)


@calls("7", "1", "12", "2.0")
def game_of_sticks(n):
    @cache
    def wins(k):
        return any(not wins(k - t) for t in (1, 2, 3) if t <= k)

    return wins(n)


@calls("[3, 9, 1, 2], True", "[5], False", "[4, 3], True")
def minimax(leaves, maximise):
    if len(leaves) == 1:
        return leaves[0]
    mid = len(leaves) // 2
    a, b = minimax(leaves[:mid], not maximise), minimax(leaves[mid:], not maximise)
    return max(a, b) if maximise else min(a, b)


@calls("100, 0.05, 3", "1000, 0, 2", "50.5, -0.1, 1", "1, 1, 0")
def compound(principal, rate, years):
    table = []
    for year in range(1, years + 1):
        interest = principal * rate
        principal += interest
        table.append((year, round(interest, 2), round(principal, 2)))
    return table


@calls("1000, 12, 3", "500.0, 0, 2", "1, 1, 1")
def loan(amount, rate, months):
    r = rate / 1200
    payment = amount / months if r == 0 else amount * r / (1 - (1 + r) ** -months)
    balance = amount
    for m in range(months):
        interest = balance * r
        balance -= payment - interest
        print(f"{m + 1:3d} {payment:10.2f} {interest:8.2f} {abs(balance):10.2f}")
    return round(payment, 2)


@calls("67", "99", "0", "100", "1.41")
def make_change(cents):
    coins = {}
    if isinstance(cents, float):
        cents = round(cents * 100)
    for coin in (25, 10, 5, 1):
        n, cents = divmod(cents, coin)
        if n:
            coins[coin] = n
    return coins


@calls("'hello world'", "''", "'AbC'")
def letter_stats(text):
    vowels = sum(1 for c in text.lower() if c in "aeiou")
    freq = Counter(text)
    longest = max(text.split(), key=len, default="")
    return vowels, freq.most_common(2), longest, text.title(), text.swapcase(), " ".join(reversed(text.split()))


@calls("'abcba'", "'abc'", "''", "'A man a plan'")
def palindrome(s):
    t = [c for c in s.lower() if c.isalnum()]
    i, j = 0, len(t) - 1
    while i < j:
        if t[i] != t[j]:
            return False
        i += 1
        j -= 1
    return True


@calls("'abcabcbb'", "''", "'bbb'")
def longest_unique(s):
    start = best = 0
    last = {}
    for i, c in enumerate(s):
        if c in last and last[c] >= start:
            start = last[c] + 1
        last[c] = i
        best = max(best, i - start + 1)
    return best


@calls("'babad'", "''", "'ac'")
def longest_palindrome(s):
    best = ""
    for i in range(len(s)):
        for j in (i, i + 1):
            lo, hi = i, j
            while lo >= 0 and hi < len(s) and s[lo] == s[hi]:
                lo -= 1
                hi += 1
            if hi - lo - 1 > len(best):
                best = s[lo + 1 : hi]
    return best


@calls("'aab', 'c*a*b'", "'aa', 'a'", "'ab', '.*'", "'', ''")
def regex_match(s, p):
    dp = [[False] * (len(p) + 1) for _ in range(len(s) + 1)]
    dp[0][0] = True
    for j in range(2, len(p) + 1):
        if p[j - 1] == "*":
            dp[0][j] = dp[0][j - 2]
    for i in range(1, len(s) + 1):
        for j in range(1, len(p) + 1):
            if p[j - 1] in (s[i - 1], "."):
                dp[i][j] = dp[i - 1][j - 1]
            elif p[j - 1] == "*":
                dp[i][j] = dp[i][j - 2] or (p[j - 2] in (s[i - 1], ".") and dp[i - 1][j])
    return dp[len(s)][len(p)]


@calls("'ABABDABACDABABCABAB', 'ABABCABAB'", "'aaa', 'b'", "'', 'a'")
def kmp(text, pattern):
    fail = [0] * len(pattern)
    k = 0
    for i in range(1, len(pattern)):
        while k and pattern[k] != pattern[i]:
            k = fail[k - 1]
        if pattern[k] == pattern[i]:
            k += 1
        fail[i] = k
    k = 0
    found = []
    for i, c in enumerate(text):
        while k and pattern[k] != c:
            k = fail[k - 1]
        if pattern[k] == c:
            k += 1
        if k == len(pattern):
            found.append(i - k + 1)
            k = fail[k - 1]
    return found, fail


@calls("'hello', 31", "'', 7", "'a', 2")
def polynomial_hash(s, base):
    h = 0
    for c in s:
        h = (h * base + ord(c)) & 0xFFFFFFFFFFFFFFFF
    return h


@calls("[1, 2, 3]", "[0]", "[255, 256]")
def checksum(data):
    a, b = 1, 0
    for x in data:
        a = (a + x) % 65521
        b = (b + a) % 65521
    return b << 16 | a


@calls("b'abc'", "b''", "bytearray(b'xyz')")
def crc32(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0xEDB88320 if crc & 1 else crc >> 1
    return crc ^ 0xFFFFFFFF


@calls("1, 5", "123456789, 3", "0, 4")
def xorshift(seed, n):
    x = seed
    out = []
    for _ in range(n):
        x ^= x << 13 & 0xFFFFFFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFFFFFF
        out.append(x)
    return out


@calls("61, 53, 17, 65", "3, 11, 7, 2")
def rsa(p, q, e, message):
    n, phi = p * q, (p - 1) * (q - 1)
    d = pow(e, -1, phi)
    c = pow(message, e, n)
    return n, d, c, pow(c, d, n)


@calls("{'a': 5, 'b': 2, 'c': 1}", "{'x': 1}")
def huffman(freq):
    heap = [(n, i, s) for i, (s, n) in enumerate(freq.items())]
    heapq.heapify(heap)
    counter = len(heap)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a[0] + b[0], counter, (a[2], b[2])))
        counter += 1
    codes = {}

    def walk(node, prefix):
        if isinstance(node, tuple):
            walk(node[0], prefix + "0")
            walk(node[1], prefix + "1")
        else:
            codes[node] = prefix or "0"

    walk(heap[0][2], "")
    return codes


@calls("[4, 2, 7]", "[1]", "[]")
def prefix_sums(xs):
    sums = list(accumulate(xs, initial=0))
    return sums, [sums[j] - sums[i] for i in range(len(xs)) for j in range(i + 1, len(xs) + 1)]


@calls("[4, 2, 7, 1], [(0, 2), (1, 3)]", "[1.5], [(0, 0)]")
def fenwick(xs, queries):
    tree = [0] * (len(xs) + 1)

    def add(i, v):
        i += 1
        while i < len(tree):
            tree[i] += v
            i += i & -i

    def total(i):
        s = 0
        i += 1
        while i > 0:
            s += tree[i]
            i -= i & -i
        return s

    for i, x in enumerate(xs):
        add(i, x)
    return [total(b) - (total(a - 1) if a else 0) for a, b in queries]
