import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;

/**
 * A server's part of a connection over loopback: it is accepted, its request read, answered, and it is closed.
 *
 * <p>Timed: from before accept until it has returned, and until the connection is closed. Outside: the client's part, in
 * the same thread: it has connected and sent its request before, and reads the answer to its end afterwards. Nobody waits.
 */
final class Connections {
    /** As serve.* has them by default. */
    private static final int REQUEST_BYTES = 128;
    private static final int ANSWER_BYTES = 1024;

    private Connections() {}

    static void addTo(Map<String, Workload> named) {
        named.put("connection", new Workload("runtime_data",
                "ServerSocket.accept, read of 128 bytes, write of 1 KiB, close; the client's part is outside",
                List.of("call_returns_ns", "result_ns"), request -> new Server()).calls("ServerSocket.accept", null));
    }

    private static final class Server implements Workload.Launcher {
        private final ServerSocket listening = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        private final byte[] content = new byte[ANSWER_BYTES];

        Server() throws IOException {}

        @Override
        public void launch(long[] stamps) throws IOException {
            try (Socket client = new Socket(listening.getInetAddress(), listening.getLocalPort())) {
                // Its end is a reset, so that its port is soon free again: many connections follow.
                client.setSoLinger(true, 0);
                client.getOutputStream().write(content, 0, REQUEST_BYTES);
                stamps[0] = Measure.now();
                Socket connection = listening.accept();
                stamps[1] = Measure.now();
                connection.getInputStream().read(content, 0, REQUEST_BYTES);
                connection.getOutputStream().write(content);
                connection.close();
                stamps[2] = Measure.now();
                while (client.getInputStream().read(content) > 0) {}
            }
        }

        @Override
        public void close() throws IOException {
            listening.close();
        }
    }
}
