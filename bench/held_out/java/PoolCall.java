import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A function is called in a pool's thread. Prints the median in nanoseconds. */
public class PoolCall {
    static volatile int ran;

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long[] times = new long[count];
        ExecutorService pool = Executors.newFixedThreadPool(1);
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            pool.submit(() -> ran++).get();
            times[i] = System.nanoTime() - start;
        }
        pool.shutdown();
        if (ran != count) throw new IllegalStateException("a call did not run");
        times = Arrays.copyOfRange(times, count / 5, count);
        Arrays.sort(times);
        System.out.println(times[times.length / 2]);
    }
}
