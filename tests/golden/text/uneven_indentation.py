# Blocks that are indented unevenly come out even where they move, multi-line statements by as much as their first line.
# >>> f(3)
def f(n):
        if n > 0:
          n = [n,
               n]
        else:
            n = []
        return (n,
            n)

# ------------------------------------------------------------ becomes
def f(n):
    def if_body():
        nonlocal n
        n = [n,
             n]

    def else_body():
        nonlocal n
        n = []
    ag__.if_stmt(n > 0, if_body, else_body, ('n',))
    return (n,
        n)
