"""Names that look like those that conversion gives."""

from tests.corpus import calls


@calls("3")
def names_like_generated_ones(n):
    if_body, else_body, loop_body, loop_test, item = 1, 2, 3, 4, 5
    break_ = do_return = retval_ = continue_ = "mine"
    for i in range(n):
        if i == 1:
            if_body += i
            continue
        if i == 2:
            else_body += i
            break
        loop_body += 1
        for item in [i]:
            loop_test += item
        while loop_test < 10:
            loop_test += 10
            if loop_test > 50:
                return "early"
    return if_body, else_body, loop_body, loop_test, item, break_, do_return, retval_, continue_


@calls("2")
def functions_named_like_generated_ones(n):
    def if_body():
        return "user's if_body"

    def loop_body(i):
        if i:
            return if_body()
        return i

    out = []
    for i in range(n):
        out.append(loop_body(i))
        if i:
            def if_body():
                return "second if_body"
            out.append(if_body())
    return out, if_body()
