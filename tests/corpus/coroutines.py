"""`async def`, run by asyncio."""

import asyncio
import contextlib

from tests.corpus import calls


async def _double(x):
    await asyncio.sleep(0)
    if x < 0:
        raise ValueError(x)
    return 2 * x


@calls("[1, 2]", "[]", "[1, -1, 2]")
async def awaits_in_loop(xs):
    out = []
    for x in xs:
        y = await _double(x)
        if y > 2:
            out.append(y)
        else:
            out.append(-y)
    return out


@calls("3", "0")
async def loops_without_await(n):
    total = 0
    for i in range(n):
        if i == 2:
            break
        total += i
    else:
        total = -1
    return total


@calls("[3, 1, 2]")
async def gather(xs):
    order = []

    async def work(x):
        for _ in range(x):
            await asyncio.sleep(0)
        order.append(x)
        return x * 10

    return await asyncio.gather(*(work(x) for x in xs)), order


async def _ticks(n):
    for i in range(n):
        if i == 3:
            return
        yield i
        await asyncio.sleep(0)


@calls("5", "2", "0")
async def async_for(n):
    out = []
    async for t in _ticks(n):
        if t == 1:
            continue
        out.append(t)
    else:
        out.append("else")
    return out, [t async for t in _ticks(n) if t], {t: await _double(t) for t in range(2)}


@contextlib.asynccontextmanager
async def _session(name):
    print("open", name)
    try:
        yield name
    finally:
        print("close", name)


@calls("0", "1", "2")
async def async_with(n):
    async with _session("a") as a, _session("b"):
        if n == 1:
            return a
        while n:
            raise KeyError(n)
    return "end"


@calls("[1, -1]", "[1]")
async def try_in_coroutine(xs):
    for x in xs:
        try:
            x = await _double(x)
        except ValueError as e:
            print("caught", e)
            return "failed"
        finally:
            print("finally", x)
    return x


@calls("3")
async def cancellation(n):
    async def forever():
        try:
            while True:
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            print("cancelled")
            raise

    task = asyncio.ensure_future(forever())
    for _ in range(n):
        await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return task.cancelled()


@calls("True", "False")
async def await_in_expressions(flag):
    x = (await _double(1)) if flag else (await _double(2))
    y = flag and await _double(3)
    assert await _double(1) == 2, await _double(-1)
    return x, y, 1 < await _double(1) < 3, not await _double(0), [await _double(i) for i in range(2) if flag]


@calls("2")
async def async_generator_send(n):
    async def echo():
        x = None
        while True:
            x = yield x
            if x == n:
                return

    g = echo()
    out = [await g.asend(None)]
    for i in range(5):
        try:
            out.append(await g.asend(i))
        except StopAsyncIteration:
            out.append("stopped")
            break
    return out


@calls("3")
async def queue_of_work(n):
    queue, done = asyncio.Queue(), []

    async def worker(name):
        while True:
            x = await queue.get()
            if x is None:
                break
            done.append((name, x))
            queue.task_done()

    for i in range(n):
        queue.put_nowait(i)
    queue.put_nowait(None)
    await worker("w")
    return done
