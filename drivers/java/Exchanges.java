import java.util.List;
import java.util.Map;
import java.util.concurrent.SynchronousQueue;

/**
 * Data handed over to another thread and back, by reference.
 *
 * <p>Timed: from before the data is handed over until it has come back. Outside: making the data, starting the thread.
 */
final class Exchanges {
    private Exchanges() {}

    static void addTo(Map<String, Workload> named) {
        named.put("exchange_thread", new Workload("runtime_data",
                "bytes of message_bytes over a SynchronousQueue to a thread and back, by reference",
                List.of("call_returns_ns", "result_ns"), Echo::new, "message_bytes")
                .containing("answer").calls("SynchronousQueue", null));
    }

    private static final class Echo implements Workload.Launcher {
        private static final byte[] END = {};
        private final SynchronousQueue<byte[]> requests = new SynchronousQueue<>();
        private final SynchronousQueue<byte[]> answers = new SynchronousQueue<>();
        private final byte[] data;

        Echo(Request request) throws InterruptedException {
            data = new byte[(int) request.number("message_bytes")];
            Thread other = new Thread(this::serve);
            other.setDaemon(true);
            other.start();
        }

        private void serve() {
            try {
                for (byte[] message = requests.take(); message != END; message = requests.take()) {
                    answers.put(message);
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void launch(long[] stamps) throws InterruptedException {
            stamps[0] = Measure.now();
            requests.put(data);
            stamps[1] = Measure.now();
            answers.take();
            stamps[2] = Measure.now();
        }

        @Override
        public void close() throws InterruptedException {
            requests.put(END);
        }
    }
}
