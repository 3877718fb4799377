# Sets, dicts and generators.
# >>> f("abca")
def f(text):
    return sorted({c.upper() for c in text}), {c: ord(c) for c in text if c > "a"}, max(c for c in text)

# ------------------------------------------------------------ becomes
def f(text):
    return ag__.sorted_(ag__.set_comp(text, lambda c: ag__.call(c.upper)())), ag__.dict_comp(text, lambda c: c, lambda c: ag__.ord_(c), lambda c: c > "a"), ag__.max_(ag__.gen_exp(text, lambda c: c))
