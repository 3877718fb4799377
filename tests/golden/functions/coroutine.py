# `await`, `async for` and `async with` belong to their coroutine.
# >>> asyncio.run(main(3))
import asyncio


async def ticks(n):
    for i in range(n):
        yield i


async def main(n):
    total = 0
    async for tick in ticks(n):
        if tick > 0:
            total += tick
    if total > 1:
        await asyncio.sleep(0)
    while total < 10:
        total += 3
    return total, [t async for t in ticks(2)]

# ------------------------------------------------------------ becomes
import asyncio


async def ticks(n):
    for i in ag__.range_(n):
        yield i


async def main(n):
    total = 0
    async for tick in ag__.call(ticks)(n):
        def if_body():
            nonlocal total
            total += tick
        ag__.if_stmt(tick > 0, if_body, None, ('total',))
    if total > 1:
        await asyncio.sleep(0)

    def loop_test():
        return total < 10

    def loop_body():
        nonlocal total
        total += 3
    ag__.while_stmt(loop_test, loop_body, ('total',))
    return total, [t async for t in ag__.call(ticks)(2)]
