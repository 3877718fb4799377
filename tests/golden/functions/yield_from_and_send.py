# Generators that delegate, and that take values.
# >>> list(flatten([1, [2, [3]]])), averages([4, 6])
def flatten(tree):
    if isinstance(tree, list):
        for branch in tree:
            yield from flatten(branch)
    else:
        yield tree


def averager():
    total = count = 0
    average = None
    while True:
        value = yield average
        if value < 0:
            value = 0
        total += value
        count += 1
        average = total / count


def averages(xs):
    g = averager()
    next(g)
    return [g.send(x) for x in xs]

# ------------------------------------------------------------ becomes
def flatten(tree):
    if isinstance(tree, list):
        for branch in tree:
            yield from ag__.call(flatten)(branch)
    else:
        yield tree


def averager():
    total = count = 0
    average = None
    while True:
        value = yield average

        def if_body():
            nonlocal value
            value = 0
        ag__.if_stmt(value < 0, if_body, None, ('value',))
        total += value
        count += 1
        average = total / count


def averages(xs):
    g = ag__.call(averager)()
    ag__.next_(g)
    return ag__.list_comp(xs, lambda x: ag__.call(g.send)(x))
