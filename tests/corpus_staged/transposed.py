"""`zip(*rows)` of rows whose number only the graph knows."""

from tests.corpus_staged import calls

ROWS = (
    "[[i * j for j in range(5)] for i in range(20)]", "[[1.5, 2], [3, 4.5], [5, 6]]", "[[1, 2, 3], [4]]", "[[], []]",
    "[]", "[(1, 2), 'ab', [None, True]]", "[[1, 2], 3]",
)  # fmt: skip


@calls(*ROWS)
def columns(rows):
    return [*zip(*rows)], list(zip(*rows)), [list(column) for column in zip(*rows)]


@calls(*ROWS[:5])
def sums_of_columns(rows):
    return [sum(column) for column in zip(*rows)], [max(column) for column in zip(*rows[::-1])]


@calls(*ROWS[:2])
def products(rows):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*rows)] for row in rows[: len(rows[0])]]


@calls(*ROWS)
def turned(rows):
    """Rotate a grid, as puzzles do."""
    for _ in range(3):
        rows = [list(row) for row in zip(*rows[::-1])]
    return rows


@calls(*ROWS)
def changed_while_zipped(rows):
    """The iterator sees what the loop writes into the rows."""
    seen = []
    for column in zip(*rows, range(3)):
        seen.append(column)
        if len(rows) > 1 and isinstance(rows[1], list) and len(rows[1]) > 1:
            rows[1][1] = 77
            rows[0].append(len(seen))
    return seen, rows


@calls(*ROWS)
def with_others(rows):
    found = []
    for first, *rest in zip(range(9), *rows, (x * x for x in range(9))):
        found.append((first, rest))
        if len(found) > 3:
            break
    return found


@calls(*ROWS)
def strict(rows):
    return list(zip(*rows, strict=True))


@calls(*ROWS)
def bit_by_bit(rows):
    columns = zip(*rows)
    first = next(columns, None)
    rest = list(columns)
    return first, rest, next(columns, "end")


@calls(*ROWS[:5])
def unzipped(rows):
    """Unpack the columns into variables."""
    pairs = [(row[0], len(row)) for row in rows if row]
    firsts, lengths = zip(*pairs)
    return firsts, sum(lengths)
