# Inside f-strings, too.
# >>> show(3), show(0)
def show(n):
    return f"{n!r:>{n + 2}} {'many' if n > 1 else 'few'} {n:03d}"

# ------------------------------------------------------------ becomes
def show(n):
    return ag__.fstring(lambda: f"{ag__.repr_(n):>{n + 2}} {ag__.if_exp(n > 1, lambda: 'many', lambda: 'few')} {n:03d}")
