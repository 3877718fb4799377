# A global is state, too: it lives for ever.
# >>> count(5), count(0), count(7)
total = 0


def count(n):
    global total
    if n > 0:
        total += n
    return total

# ------------------------------------------------------------ becomes
total = 0


def count(n):
    global total

    def if_body():
        global total
        total += n
    ag__.if_stmt(n > 0, if_body, None, ('total',))
    return total
