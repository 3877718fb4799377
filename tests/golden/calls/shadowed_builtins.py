# A name that the module or the function binds itself is not the builtin.
# >>> f([1, 2]), g(3)
def len(x):
    return "my len"


def f(range):
    return len(range), sum(range)


def g(n):
    for sum in [n]:
        pass
    return max([sum])

# ------------------------------------------------------------ becomes
def len(x):
    return "my len"


def f(range):
    return ag__.call(len)(range), ag__.sum_(range)


def g(n):
    sum: ag__.unbound

    def loop_body(item):
        nonlocal sum
        sum = item
        pass
    ag__.for_stmt([n], loop_body, ('sum',))
    return ag__.max_([sum])
