"""What the tests of the native engine have in common: collections of programs, and what was made of a function."""


def collection():
    """A dict of functions by name, with what to call them with; and the decorator that enters one."""
    programs = {}

    def calls(*examples):
        def register(function):
            programs[function.__name__] = function, examples
            return function

        return register

    return programs, calls


def regions(function):
    """The loops of a staged function, for all kinds of arguments."""
    return [region for trace in function.traces if trace.executable for region in trace.executable.native.regions]
