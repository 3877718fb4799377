# Builtins that care whether they are given something staged have operators of their own; the others stay.
# >>> f([3, 1, 2])
def f(xs):
    print(len(xs), sum(xs), max(xs), sep="; ")
    pairs = list(zip(xs, enumerate(xs, start=1)))
    found = any(map(bool, xs)), all(filter(None, xs)), sorted(xs, key=abs), [*reversed(xs)]
    return pairs, found, int("7"), float(3), min(4, *xs), isinstance(xs, list), abs(-1), getattr(xs, "x", 0)

# ------------------------------------------------------------ becomes
def f(xs):
    ag__.print_(ag__.len_(xs), ag__.sum_(xs), ag__.max_(xs), sep="; ")
    pairs = ag__.list_(ag__.zip_(xs, ag__.enumerate_(xs, start=1)))
    found = ag__.any_(ag__.map_(bool, xs)), ag__.all_(ag__.filter_(None, xs)), ag__.sorted_(xs, key=abs), [*ag__.reversed_(xs)]
    return pairs, found, ag__.int_("7"), ag__.float_(3), ag__.min_(4, *xs), isinstance(xs, list), abs(-1), getattr(xs, "x", 0)
