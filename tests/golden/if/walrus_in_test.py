# The condition is evaluated where it stood, so `:=` in it binds the function's own name.
# >>> first_long(["a", "bcd"]), first_long(["a"])
def first_long(words):
    if (n := max(len(w) for w in words)) > 2:
        n = -n
    return n

# ------------------------------------------------------------ becomes
def first_long(words):
    def if_body():
        nonlocal n
        n = -n
    ag__.if_stmt((n := ag__.max_(ag__.gen_exp(words, lambda w: ag__.len_(w)))) > 2, if_body, None, ('n',))
    return n
