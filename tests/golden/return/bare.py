# A bare `return` is an exit like any other.
# >>> put([], 1), put([], 0)
def put(out, n):
    if n <= 0:
        return
    out.append(n)
    print(out)

# ------------------------------------------------------------ becomes
def put(out, n):
    def if_body():
        return

    def else_body():
        ag__.call(out.append)(n)
        ag__.print_(out)
    return ag__.if_stmt(n <= 0, if_body, else_body)
