"""A thread is started and joined: the median of many times, in nanoseconds."""

import statistics
import sys
import threading
import time

ran = 0


def job():
    global ran
    ran += 1


times = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter_ns()
    thread = threading.Thread(target=job)
    thread.start()
    thread.join()
    times.append(time.perf_counter_ns() - start)
assert ran == len(times)
print(int(statistics.median(times[len(times) // 5 :])))
