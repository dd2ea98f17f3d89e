import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The driver of Java: performs one cell's launches through the standard library (docs/protocol.md).
 *
 * <p>It is started as {@code java Driver NAME} and the words of the protocol, by clonometer-tether, which has checked
 * the descriptor, chosen the CPU and made descriptor 0 the file where targets leave their timestamps.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] arguments) {
        int status = serve(arguments[0], Arrays.asList(arguments).subList(1, arguments.length));
        System.out.flush();
        // Threads that wait for work must not keep it.
        Runtime.getRuntime().halt(status);
    }

    private static int serve(String name, List<String> words) {
        Map<String, Workload> workloads = Workload.all(name);
        if (words.get(0).equals("--describe")) {
            System.out.println(Catalogue.describe(name, workloads));
            return 0;
        }
        String status = "ok";
        String reason = null;
        List<Block> blocks = List.of();
        try {
            blocks = Measure.measure(Request.read(words.subList(2, words.size()), workloads));
        } catch (Request.Refusal refused) {
            status = "failed";
            reason = refused.getMessage();
        } catch (Request.Skip skipped) {
            status = "skipped";
            reason = skipped.getMessage();
        } catch (OutOfMemoryError full) {
            status = "skipped";
            reason = "no memory for that many samples or so large a heap: " + full.getMessage();
        } catch (Exception broken) {
            status = "failed";
            reason = broken.toString();
        }
        // Java knows no descriptors by their numbers; a pipe may be opened again.
        try (FileOutputStream out = new FileOutputStream("/proc/self/fd/" + words.get(1))) {
            out.write(Answer.encode(name, blocks, status, reason));
        } catch (IOException error) {
            System.err.println("driver-java: the answer could not be sent: " + error.getMessage());
            return 1;
        }
        return status.equals("failed") ? 1 : 0;
    }
}
