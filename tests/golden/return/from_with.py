# Out of a `with`, the context manager is left properly.
# >>> read("ab"), read("")
import contextlib


@contextlib.contextmanager
def opened(text):
    print("open")
    yield list(text)
    print("close")


def read(text):
    with opened(text) as letters:
        if len(letters) > 0:
            return letters[0]
        print("empty")
    return "?"

# ------------------------------------------------------------ becomes
import contextlib


@contextlib.contextmanager
def opened(text):
    ag__.print_("open")
    yield ag__.list_(text)
    ag__.print_("close")


def read(text):
    do_return = False
    with ag__.call(opened)(text) as letters:
        retval_: ag__.unbound

        def if_body():
            nonlocal do_return, retval_
            retval_ = letters[0]
            do_return = True

        def else_body():
            ag__.print_("empty")
        ag__.if_stmt(ag__.len_(letters) > 0, if_body, else_body, ('do_return', 'retval_'))

    def if_body():
        return retval_

    def else_body():
        return "?"
    return ag__.if_stmt(do_return, if_body, else_body)
