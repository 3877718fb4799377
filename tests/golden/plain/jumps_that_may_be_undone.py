# A `return` runs the end of the `with` around it. Should that raise, and the exception be caught, there was no return:
# a flag could not tell, so these statements stay.
# >>> f([1])
class Refuses:
    def __enter__(self):
        pass

    def __exit__(self, *error):
        raise ValueError("no way out")


def f(xs):
    for x in xs:
        try:
            with Refuses():
                if x > 0:
                    return x
        except ValueError as error:
            print(error)
    return "undone"

# ------------------------------------------------------------ becomes
class Refuses:
    def __enter__(self):
        pass

    def __exit__(self, *error):
        raise ag__.raise_(ValueError("no way out"))


def f(xs):
    for x in xs:
        try:
            with ag__.call(Refuses)():
                if x > 0:
                    return x
        except ValueError as error:
            ag__.print_(error)
    return "undone"
