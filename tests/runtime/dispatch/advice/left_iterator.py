# python 3.11
# A generator that goes on where a loop left it.
# >>> before([1.5, 2.5] * 9)
# >>> after(np.array([1.5, 2.5] * 9))


def halves(xs):
    for x in xs:
        yield x / 2


def before(xs):
    rest = halves(xs)
    total = 0.0
    for x in rest:
        if x > 1:
            break
    for x in rest:
        total += x
    return total


def after(xs):
    halves = xs / 2
    first = 0
    while halves[first] <= 1:
        first += 1
    total = 0.0
    for i in range(first + 1, len(halves)):
        total += halves[i]
    return total

# ------------------------------------------------------------ becomes
# before:
#   advice: line 8: Python itself needs `xs` to iterate over. Use `if`, `for` and NumPy's functions, or move this
#     line out of the function
# after:
#   no advice
