# Inside a class, Python stores `__x` as `_Safe__x`; the state must say so.
# >>> Safe().open(3), Safe().open(0)
class Safe:
    __code = 3

    def open(self, __code):
        __tries = 0
        if __code == self.__code:
            __tries += 1
            self.__opened = True
        return __tries

# ------------------------------------------------------------ becomes
class Safe:
    __code = 3

    def open(self, __code):
        __tries = 0

        def if_body():
            nonlocal __tries
            __tries += 1
            ag__.ref(self).__opened = True
        ag__.if_stmt(__code == self.__code, if_body, None, ('_Safe__tries',))
        return __tries
