"""An asyncio task is created and awaited: the median of many times, in nanoseconds."""

import asyncio
import statistics
import sys
import time

ran = 0


async def job():
    global ran
    ran += 1


async def main(count):
    times = []
    for _ in range(count):
        start = time.perf_counter_ns()
        await asyncio.create_task(job())
        times.append(time.perf_counter_ns() - start)
    assert ran == count
    print(int(statistics.median(times[count // 5 :])))


asyncio.run(main(int(sys.argv[1])))
