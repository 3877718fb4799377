# A chain reads a name twice; what must be evaluated once is left to `ag__.compare`.
# >>> f(1, 2, [3]), f(2, 1, [3])
def f(a, b, xs):
    first = 0 < a < b
    second = a <= xs[0] < 9
    third = a < xs.pop() == 3 > b
    return first, second, third

# ------------------------------------------------------------ becomes
def f(a, b, xs):
    first = ag__.and_(lambda: 0 < a, lambda: a < b)
    second = ag__.compare(a, '<=', lambda: ag__.ref(xs)[0], '<', lambda: 9)
    third = ag__.compare(a, '<', lambda: ag__.call(xs.pop)(), '==', lambda: 3, '>', lambda: b)
    return first, second, third
