# Both.
# >>> words(["a", "", "b", "stop", "c"])
def words(lines):
    count = 0
    for line in lines:
        if not line:
            continue
        if len(line) > 1:
            break
        count += 1
    return count

# ------------------------------------------------------------ becomes
def words(lines):
    count = 0
    break_ = False

    def loop_body(line):
        nonlocal count, break_

        def if_body():
            pass

        def else_body():
            nonlocal count, break_

            def if_body():
                nonlocal break_
                break_ = True

            def else_body():
                nonlocal count
                count += 1
            ag__.if_stmt(ag__.len_(line) > 1, if_body, else_body, ('count', 'break_'))
        ag__.if_stmt(ag__.not_(line), if_body, else_body, ('count', 'break_'))
    ag__.for_stmt(lines, loop_body, ('count', 'break_'), until=lambda: break_)
    return count
