# Everything is evaluated once, in the user's order.
# >>> f()
def f():
    log = []

    def note(x):
        log.append(x)
        return x
    note([4, 5])[note(0)] = note(2) if note(1) else note(9)
    note(3) < note(4) < note(1) < note(7)
    note(0) or note(5) and note(6)
    return log

# ------------------------------------------------------------ becomes
def f():
    log = []

    def note(x):
        ag__.call(log.append)(x)
        return x
    ag__.ref(ag__.call(note)([4, 5]))[ag__.call(note)(0)] = ag__.if_exp(ag__.call(note)(1), lambda: ag__.call(note)(2), lambda: ag__.call(note)(9))
    ag__.compare(ag__.call(note)(3), '<', lambda: ag__.call(note)(4), '<', lambda: ag__.call(note)(1), '<', lambda: ag__.call(note)(7))
    ag__.or_(lambda: ag__.call(note)(0), lambda: ag__.and_(lambda: ag__.call(note)(5), lambda: ag__.call(note)(6)))
    return log
