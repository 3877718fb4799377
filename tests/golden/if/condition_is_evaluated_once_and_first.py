# The condition stands as an argument: evaluated once, before either body.
# >>> once([2]), once([])
def once(stack):
    if stack and stack.pop() > 1:
        stack.append(0)
    return stack

# ------------------------------------------------------------ becomes
def once(stack):
    def if_body():
        ag__.call(stack.append)(0)
    ag__.if_stmt(ag__.and_(lambda: stack, lambda: ag__.call(stack.pop)() > 1, test=True), if_body)
    return stack
