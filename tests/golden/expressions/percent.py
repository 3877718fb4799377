# A text formatted by `%`; literals alone need no backend, and numbers have their own.
# >>> f("a", 2)
# >>> f("a", "b")
def f(name, n):
    line = "%s: %5.2f" % (name, n) + "%d%%" % 5
    line += '%(n)d' % {"n": n} if n else ""
    return line, n % 3, b"%d" % n, "%d" % n == "2"

# ------------------------------------------------------------ becomes
def f(name, n):
    line = ag__.percent("%s: %5.2f", (name, n)) + "%d%%" % 5
    line += ag__.if_exp(n, lambda: ag__.percent('%(n)d', {"n": n}), lambda: "")
    return line, n % 3, ag__.percent(b"%d", n), ag__.percent("%d", n) == "2"
