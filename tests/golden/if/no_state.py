# Names that die inside a branch are the branch's own; what is only mutated is no state.
# >>> greet([], True), greet([], False)
def greet(out, loud):
    if loud > 0:
        text = "HELLO"
        out.append(text)
    else:
        text = "hello"
        out.append(text)
    return out

# ------------------------------------------------------------ becomes
def greet(out, loud):
    def if_body():
        text = "HELLO"
        ag__.call(out.append)(text)

    def else_body():
        text = "hello"
        ag__.call(out.append)(text)
    ag__.if_stmt(loud > 0, if_body, else_body)
    return out
