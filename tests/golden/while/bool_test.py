# A condition with `and` and a call.
# >>> skip("   x"), skip("  ")
def skip(text):
    i = 0
    while i < len(text) and text[i].isspace():
        i += 1
    return i

# ------------------------------------------------------------ becomes
def skip(text):
    i = 0

    def loop_test():
        return ag__.and_(lambda: i < ag__.len_(text), lambda: ag__.call(ag__.ref(text)[i].isspace)())

    def loop_body():
        nonlocal i
        i += 1
    ag__.while_stmt(loop_test, loop_body, ('i',))
    return i
