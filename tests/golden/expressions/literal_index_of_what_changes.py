# A literal index is marked if the function changes what it indexes: by a method, or by stores at computed indices.
# >>> f([1, 2], [3, 4], {"a": 5}, 1)
def f(stack, table, options, i):
    stack.append(options["a"])
    while stack[-1] > 2 and table[0]:
        stack.pop()
        table[i] -= 1
    return stack[-1], table[0], options["a"]

# ------------------------------------------------------------ becomes
def f(stack, table, options, i):
    ag__.call(stack.append)(options["a"])

    def loop_test():
        return ag__.and_(lambda: ag__.ref(stack)[-1] > 2, lambda: ag__.ref(table)[0])

    def loop_body():
        ag__.call(stack.pop)()
        ag__.ref(table)[i] -= 1
    ag__.while_stmt(loop_test, loop_body)
    return ag__.ref(stack)[-1], ag__.ref(table)[0], options["a"]
