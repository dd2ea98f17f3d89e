import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Threads of control, and a function run in a pool.
 *
 * <p>Timed: from before the thread is made, or the function is submitted, until that has returned, until the first line
 * there, until join or get has returned. Outside: storing the sample. A cold launch in a pool contains making it.
 */
final class Threads {
    private static final List<String> STAGES = List.of("call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns");
    private static final Map<String, String> NO_PROGRAM = Map.of("image_runs_ns", "no new program is started");
    private static final int VIRTUAL_FROM = 21;

    private Threads() {}

    static void addTo(Map<String, Workload> named) {
        named.put("os_thread", new Workload("runtime_thread", "new Thread, start(), run() returns, join()", STAGES,
                request -> stamps -> platform(request, stamps),
                "stages", "call_spin_ns", "stamp_spin_ns", "child_spin_ns")
                .without(NO_PROGRAM).calls("Thread.start", null));
        Workload task = new Workload("runtime_thread", "Thread.startVirtualThread, its function returns, join()", STAGES,
                request -> virtual()).without(NO_PROGRAM).calls("Thread.startVirtualThread", null);
        int version = Runtime.version().feature();
        task.reason = version < VIRTUAL_FROM ? "virtual threads need Java 21 or later, this is " + version : null;
        named.put("task", task);
        named.put("thread_pool", new Workload("runtime_call", "ExecutorService.submit of a function, get()",
                List.of("call_returns_ns", "task_runs_ns", "result_ns"), request -> new Pool())
                .containing("answer").calls("ExecutorService.submit", null));
    }

    private static void platform(Request request, long[] stamps) throws InterruptedException {
        boolean isStamped = request.text("stages").equals("all");
        long before = request.number("stamp_spin_ns");
        long after = request.number("child_spin_ns");
        stamps[0] = Measure.now();
        Thread thread = new Thread(() -> {
            if (before > 0) {
                Measure.spin(before);
            }
            if (isStamped) {
                stamps[2] = Measure.now();
            }
            if (after > 0) {
                Measure.spin(after);
            }
        });
        thread.start();
        if (request.number("call_spin_ns") > 0) {
            Measure.spin(request.number("call_spin_ns"));
        }
        stamps[1] = Measure.now();
        thread.join();
        stamps[4] = Measure.now();
    }

    /** It is looked up, so that older compilers build this file too. */
    private static Workload.Launcher virtual() throws ReflectiveOperationException {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        return stamps -> {
            Runnable task = () -> stamps[2] = Measure.now();
            stamps[0] = Measure.now();
            Thread thread = (Thread) start.invoke(null, task);
            stamps[1] = Measure.now();
            thread.join();
            stamps[4] = Measure.now();
        };
    }

    private static final class Pool implements Workload.Launcher {
        private ExecutorService pool;

        @Override
        public void launch(long[] stamps) throws Exception {
            stamps[0] = Measure.now();
            if (pool == null) {
                pool = Executors.newFixedThreadPool(1);
            }
            Future<Long> ran = pool.submit(Measure::now);
            stamps[1] = Measure.now();
            stamps[2] = ran.get();
            stamps[3] = Measure.now();
        }

        @Override
        public void close() {
            if (pool != null) {
                pool.shutdown();
            }
        }
    }
}
