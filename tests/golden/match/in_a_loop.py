# In a loop, with jumps out of it.
# >>> run([1, 1, 2, 3, 9, 1])
def run(codes):
    n = 0
    for code in codes:
        match code:
            case 1:
                n += 1
            case 2:
                continue
            case 9:
                break
        print(code)
    return n

# ------------------------------------------------------------ becomes
def run(codes):
    n = 0
    break_ = False

    def loop_body(code):
        nonlocal n, break_
        continue_ = False

        def if_body():
            nonlocal n
            n += 1

        def else_body():
            nonlocal break_, continue_

            def if_body():
                nonlocal continue_
                continue_ = True

            def else_body():
                nonlocal break_

                def if_body():
                    nonlocal break_
                    break_ = True
                ag__.if_stmt(code == 9, if_body, None, ('break_',))
            ag__.if_stmt(code == 2, if_body, else_body, ('break_', 'continue_'))
        ag__.if_stmt(code == 1, if_body, else_body, ('n', 'break_', 'continue_'))

        def if_body():
            ag__.print_(code)
        ag__.if_stmt(ag__.not_(ag__.or_(lambda: continue_, lambda: break_, test=True)), if_body)
    ag__.for_stmt(codes, loop_body, ('n', 'break_'), until=lambda: break_)
    return n
