# Starred assignments set their names like any other.
# >>> f([1, 2, 3], 1), f([1, 2, 3], 0)
def f(xs, flag):
    head, *tail = xs
    if flag > 0:
        *tail, head = tail
        [a, (b)], *c = (tail + [0], 1)[:1]
        head = a, b
    return head, tail

# ------------------------------------------------------------ becomes
def f(xs, flag):
    head, *tail = xs

    def if_body():
        nonlocal head, tail
        *tail, head = tail
        [a, (b)], *c = (tail + [0], 1)[:1]
        head = a, b
    ag__.if_stmt(flag > 0, if_body, None, ('head', 'tail'))
    return head, tail
