import java.util.Arrays;

/** A thread is started and joined. Prints the median in nanoseconds. */
public class ThreadStart {
    static volatile int ran;

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long[] times = new long[count];
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            Thread thread = new Thread(() -> ran++);
            thread.start();
            thread.join();
            times[i] = System.nanoTime() - start;
        }
        if (ran != count) throw new IllegalStateException("a thread did not run");
        times = Arrays.copyOfRange(times, count / 5, count);
        Arrays.sort(times);
        System.out.println(times[times.length / 2]);
    }
}
