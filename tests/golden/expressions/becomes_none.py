# A variable that the function sets to None may be None only sometimes, when it comes to be compared; others are known.
# >>> f([3, 1, 2], 5), f([], 5), f([1], None)
def f(xs, limit):
    least, last = None, None
    for x in xs:
        if least is None or x < least:
            least = x
        if limit is not None and last is not None:
            limit -= last
        last = x if x else None
    return least, last is None, limit is None, [1 for x in xs if x is None]

# ------------------------------------------------------------ becomes
def f(xs, limit):
    least, last = None, None

    def loop_body(x):
        nonlocal limit, least, last

        def if_body():
            nonlocal least
            least = x
        ag__.if_stmt(ag__.or_(lambda: ag__.is_(least, None), lambda: x < least), if_body, None, ('least',))

        def if_body():
            nonlocal limit
            limit -= last
        ag__.if_stmt(ag__.and_(lambda: limit is not None, lambda: ag__.is_not(last, None)), if_body, None, ('limit',))
        last = ag__.if_exp(x, lambda: x, lambda: None)
    ag__.for_stmt(xs, loop_body, ('limit', 'least', 'last'))
    return least, ag__.is_(last, None), limit is None, ag__.list_comp(xs, lambda x: 1, lambda x: x is None)
