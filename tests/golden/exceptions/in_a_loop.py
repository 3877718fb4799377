# A `try` inside a loop inside a `try`.
# >>> f(["1", "a", "3"]), f(None)
def f(words):
    total = bad = 0
    try:
        for word in words:
            try:
                total += int(word)
            except ValueError:
                bad += 1
                if bad > 1:
                    raise
    except TypeError:
        total = -1
    return total, bad

# ------------------------------------------------------------ becomes
def f(words):
    total = bad = 0
    try:
        def loop_body(word):
            nonlocal total, bad
            try:
                total += ag__.int_(word)
            except ValueError:
                bad += 1

                def if_body():
                    raise
                ag__.if_stmt(bad > 1, if_body)
        ag__.for_stmt(words, loop_body, ('total', 'bad'))
    except TypeError:
        total = -1
    return total, bad
