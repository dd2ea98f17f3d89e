package loops;

import org.openjdk.jmh.annotations.Benchmark;

/** The same launches timed by JMH. */
public class JmhLoops {
    @Benchmark
    public void os_thread() throws Exception {
        Launches.osThread();
    }

    @Benchmark
    public void command() throws Exception {
        Launches.command();
    }
}
