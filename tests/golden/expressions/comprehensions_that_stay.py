# Several `for`s, targets that are more than names, or a captured variable: these run as they are; what is in them is
# converted.
# >>> f([[1, 2], [3, 4]])
def f(rows):
    flat = [x for row in rows for x in row]
    sums = {a: b and a + sum(b) for a, *b in rows}
    late = [g() for g in [lambda: x for x in flat]]
    return flat, sums, late

# ------------------------------------------------------------ becomes
def f(rows):
    flat = ag__.list_comp(rows, lambda row: ag__.gen_exp(row, lambda x: x), flat=True)
    sums = {a: ag__.and_(lambda: b, lambda: a + ag__.sum_(b)) for a, *b in rows}
    late = ag__.list_comp([lambda: x for x in flat], lambda g: ag__.call(g)())
    return flat, sums, late
