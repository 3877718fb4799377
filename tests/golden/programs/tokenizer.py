# A little scanner: `while`s in a `while`, `continue`, `match`, `raise`.
# >>> tokens("12 + (x*3)")
# >>> tokens("1 ?")
def tokens(text):
    found, i = [], 0
    while i < len(text):
        c = text[i]
        if c.isspace():
            i += 1
            continue
        if c.isdigit():
            start = i
            while i < len(text) and text[i].isdigit():
                i += 1
            found.append(int(text[start:i]))
            continue
        match c:
            case "+" | "*" | "(" | ")":
                found.append(c)
            case _ if c.isalpha():
                found.append(("name", c))
            case _:
                raise SyntaxError(f"{c!r} at {i}")
        i += 1
    return found

# ------------------------------------------------------------ becomes
def tokens(text):
    found, i = [], 0

    def loop_test():
        return i < ag__.len_(text)

    def loop_body():
        nonlocal i
        c = ag__.ref(text)[i]

        def if_body():
            nonlocal i
            i += 1

        def else_body():
            nonlocal i

            def if_body():
                nonlocal i
                start = i

                def loop_test():
                    return ag__.and_(lambda: i < ag__.len_(text), lambda: ag__.call(ag__.ref(text)[i].isdigit)())

                def loop_body():
                    nonlocal i
                    i += 1
                ag__.while_stmt(loop_test, loop_body, ('i',))
                ag__.call(found.append)(ag__.int_(ag__.ref(text)[start:i]))

            def else_body():
                nonlocal i
                if c == "+" or c == "*" or c == "(" or c == ")":
                    ag__.call(found.append)(c)
                else:
                    def if_body():
                        ag__.call(found.append)(("name", c))

                    def else_body():
                        raise ag__.raise_(SyntaxError(ag__.fstring(lambda: f"{c!r} at {i}")))
                    ag__.if_stmt(ag__.call(c.isalpha)(), if_body, else_body)
                i += 1
            ag__.if_stmt(ag__.call(c.isdigit)(), if_body, else_body, ('i',))
        ag__.if_stmt(ag__.call(c.isspace)(), if_body, else_body, ('i',))
    ag__.while_stmt(loop_test, loop_body, ('i',))
    return found
