"""/bin/true is run and waited for: the median of many times, in nanoseconds."""

import statistics
import subprocess
import sys
import time

times = []
for _ in range(int(sys.argv[1])):
    start = time.perf_counter_ns()
    subprocess.run(["/bin/true"], check=True)
    times.append(time.perf_counter_ns() - start)
print(int(statistics.median(times[len(times) // 5 :])))
