# python 3.12
# Quotes inside quotes, and comments inside f-strings.
# >>> f("a", 2)
def f(k, n):
    table = {"a": n}
    return f"{table["a"] if n > 1 else f"{n}"} {
        k  # the key
    :>{n + 3}}"

# ------------------------------------------------------------ becomes
def f(k, n):
    table = {"a": n}
    return ag__.fstring(lambda: f"{ag__.if_exp(n > 1, lambda: table["a"], lambda: ag__.fstring(lambda: f"{n}"))} {
        k  # the key
    :>{n + 3}}")
