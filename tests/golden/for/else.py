# `for … else` without and with `break`.
# >>> search([1, 2, 3], 2), search([1], 2)
def search(xs, x):
    for _ in xs:
        print("looking")
    else:
        print("ready")

    for y in xs:
        if x == y:
            where = "found"
            break
    else:
        where = "missing"
    return where

# ------------------------------------------------------------ becomes
def search(xs, x):
    def loop_body(_):
        ag__.print_("looking")
    ag__.for_stmt(xs, loop_body)
    ag__.print_("ready")

    break_ = False
    where: ag__.unbound

    def loop_body(y):
        nonlocal break_, where

        def if_body():
            nonlocal break_, where
            where = "found"
            break_ = True
        ag__.if_stmt(x == y, if_body, None, ('break_', 'where'))
    ag__.for_stmt(xs, loop_body, ('break_', 'where'), until=lambda: break_)

    def if_body():
        nonlocal where
        where = "missing"
    ag__.if_stmt(ag__.not_(break_), if_body, None, ('where',))
    return where
