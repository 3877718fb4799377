# With a `break`, the `else` is guarded by its flag.
# >>> prime(7), prime(9)
def prime(n):
    d = 2
    while d * d <= n:
        if n % d == 0:
            answer = False
            break
        d += 1
    else:
        answer = True
    return answer

# ------------------------------------------------------------ becomes
def prime(n):
    d = 2
    break_ = False
    answer: ag__.unbound

    def loop_test():
        return d * d <= n

    def loop_body():
        nonlocal d, break_, answer

        def if_body():
            nonlocal break_, answer
            answer = False
            break_ = True

        def else_body():
            nonlocal d
            d += 1
        ag__.if_stmt(n % d == 0, if_body, else_body, ('d', 'break_', 'answer'))
    ag__.while_stmt(loop_test, loop_body, ('d', 'break_', 'answer'), until=lambda: break_)

    def if_body():
        nonlocal answer
        answer = True
    ag__.if_stmt(ag__.not_(break_), if_body, None, ('answer',))
    return answer
