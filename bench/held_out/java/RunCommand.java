import java.util.Arrays;

/** /bin/true is run and waited for. Prints the median in nanoseconds. */
public class RunCommand {
    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        long[] times = new long[count];
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            int status = new ProcessBuilder("/bin/true").start().waitFor();
            times[i] = System.nanoTime() - start;
            if (status != 0) throw new IllegalStateException("status " + status);
        }
        times = Arrays.copyOfRange(times, count / 5, count);
        Arrays.sort(times);
        System.out.println(times[times.length / 2]);
    }
}
