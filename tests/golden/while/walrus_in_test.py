# A name bound by the condition is shared with the test function.
# >>> drain([1, 2, 0, 3])
def drain(stack):
    total = 0
    while (top := stack.pop()) > 0:
        total += top
    return total, top

# ------------------------------------------------------------ becomes
def drain(stack):
    total = 0
    top: ag__.unbound

    def loop_test():
        nonlocal top
        return (top := ag__.call(stack.pop)()) > 0

    def loop_body():
        nonlocal total, top
        total += top
    ag__.while_stmt(loop_test, loop_body, ('total', 'top'))
    return total, top
