# Each loop has its own flag.
# >>> grid([[1, 0, 2], [3], [-1, 4], [5]])
def grid(rows):
    out = []
    for row in rows:
        for x in row:
            if x == 0:
                break
            out.append(x)
        if len(row) > 1:
            continue
        if sum(row) > 4:
            break
    return out

# ------------------------------------------------------------ becomes
def grid(rows):
    out = []
    break_1 = False

    def loop_body(row):
        nonlocal break_1
        break_ = False

        def loop_body(x):
            nonlocal break_

            def if_body():
                nonlocal break_
                break_ = True

            def else_body():
                ag__.call(out.append)(x)
            ag__.if_stmt(x == 0, if_body, else_body, ('break_',))
        ag__.for_stmt(row, loop_body, ('break_',), until=lambda: break_)

        def if_body():
            pass

        def else_body():
            nonlocal break_1

            def if_body():
                nonlocal break_1
                break_1 = True
            ag__.if_stmt(ag__.sum_(row) > 4, if_body, None, ('break_1',))
        ag__.if_stmt(ag__.len_(row) > 1, if_body, else_body, ('break_1',))
    ag__.for_stmt(rows, loop_body, ('break_1',), until=lambda: break_1)
    return out
