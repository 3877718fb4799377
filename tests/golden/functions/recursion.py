# A function that calls itself.
# >>> hanoi(3, "A", "B", "C")
def hanoi(n, a, b, c):
    if n == 0:
        return 0
    return hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)

# ------------------------------------------------------------ becomes
def hanoi(n, a, b, c):
    def if_body():
        return 0

    def else_body():
        return ag__.call(hanoi)(n - 1, a, c, b) + 1 + ag__.call(hanoi)(n - 1, c, b, a)
    return ag__.if_stmt(n == 0, if_body, else_body)
