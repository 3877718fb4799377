# Several early exits, one behind the other.
# >>> kind(-1), kind(0), kind(5), kind(50)
def kind(n):
    if n < 0:
        return "negative"
    if n == 0:
        return "zero"

    if n < 10:
        return "small"
    return "large"

# ------------------------------------------------------------ becomes
def kind(n):
    def if_body():
        return "negative"

    def else_body():
        def if_body():
            return "zero"

        def else_body():
            def if_body():
                return "small"

            def else_body():
                return "large"
            return ag__.if_stmt(n < 10, if_body, else_body)
        return ag__.if_stmt(n == 0, if_body, else_body)
    return ag__.if_stmt(n < 0, if_body, else_body)
