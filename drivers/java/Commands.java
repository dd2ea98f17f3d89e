import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Map;

/**
 * A command, with options that change how the kernel is asked for it (the book of launch paths).
 *
 * <p>Timed: from before start until it has returned, until the new program's entry, its main and its main's end (of our
 * targets, which leave their timestamps in the file of descriptor 0), until waitFor has returned. Outside: making the
 * ProcessBuilder.
 */
final class Commands {
    private static final List<String> STAGES = List.of("call_returns_ns", "task_runs_ns", "image_entered_ns",
            "image_runs_ns", "image_ends_ns", "reaped_ns");
    private static final Map<String, String> BEFORE_EXEC =
            Map.of("task_runs_ns", "before the exec the child runs only the runtime's code");
    private static final String MECHANISM = "jdk.lang.Process.launchMechanism";
    private static final int STAMPS_AT = 16;
    private static final int NOT_EXECUTED = 127;

    private Commands() {}

    static void addTo(Map<String, Workload> named) {
        named.put("command", command("with its streams inherited", "redirect", true, null));
        named.put("command_pipes", command("with its output in pipes", "start", false, null));
        named.put("command_fork", command("with " + MECHANISM + "=FORK", "fork", true, "FORK"));
        named.put("command_vfork", command("with " + MECHANISM + "=VFORK", "vfork", true, "VFORK"));
    }

    private static Workload command(String what, String line, boolean inherits, String mechanism) {
        String api = "ProcessBuilder.start " + what;
        return new Workload("runtime_command", api + ", waitFor", STAGES, request -> {
            // It is read when the first process starts, and this process measures nothing else.
            if (mechanism != null) {
                System.setProperty(MECHANISM, mechanism);
            }
            FileChannel page = new FileInputStream(FileDescriptor.in).getChannel();
            return stamps -> launch(request, stamps, page, inherits);
        }, "program", "env_bytes").without(BEFORE_EXEC).calls(api, line);
    }

    private static void launch(Request request, long[] stamps, FileChannel page, boolean inherits) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(request.command()).redirectInput(Redirect.INHERIT);
        if (inherits) {
            builder.inheritIO();
        }
        request.fill(builder.environment());
        stamps[0] = Measure.now();
        Process process = builder.start();
        stamps[1] = Measure.now();
        if (!inherits) {
            try (InputStream output = process.getInputStream()) {
                output.readAllBytes();
            }
        }
        int status = process.waitFor();
        stamps[6] = Measure.now();
        // What a program answers is its own affair.
        if (status == NOT_EXECUTED) {
            throw new IOException("error=2");
        }
        if (request.isTarget()) {
            storeImage(stamps, page);
        }
    }

    /** Stores the timestamps that the program left, unless it left none since the launch began. */
    private static void storeImage(long[] stamps, FileChannel page) throws IOException {
        ByteBuffer left = ByteBuffer.allocate(3 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        if (page.read(left, STAMPS_AT) == left.capacity() && left.getLong(0) >= stamps[0]) {
            for (int index = 0; index < 3; index++) {
                stamps[3 + index] = left.getLong(index * Long.BYTES);
            }
        }
    }
}
