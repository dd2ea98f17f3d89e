import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the runner asks for: the measuring keys and the axes, each checked. */
final class Request {
    /** A key or a value that cannot be meant: the answer is {@code failed}. */
    static final class Refusal extends RuntimeException {
        Refusal(String message) {
            super(message);
        }
    }

    /** What this machine cannot do: the answer is {@code skipped}. */
    static final class Skip extends RuntimeException {
        Skip(String message) {
            super(message);
        }
    }

    private static final int VARIABLE = 150;
    private static final Map<String, Long> MOST =
            Map.of("samples", 10_000_000L, "blocks", 10_000L, "message_bytes", 1L << 30);

    /** As the probe has them (docs/protocol.md). */
    static final Map<String, Map<String, Object>> AXES = new LinkedHashMap<>();

    static {
        choice("placement", "parent and child on one CPU, or where the scheduler puts them", "pinned", "free");
        choice("stages", "all stages, or the parent's stamps only (the new task stamps nothing)", "all", "parent");
        number("parent_bytes", "bytes", 0, "objects of the runtime that the parent holds before it launches, in bytes");
        number("env_bytes", "bytes", 0,
                "size of the new program's environment, filled with variables of 150 bytes; 0: unchanged");
        number("message_bytes", "bytes", 1, "size of a message");
        AXES.put("program", Map.of("type", "text", "default", "target_static", "summary",
                "what is started: one of our targets, or any path; arguments follow after colons"));
        number("call_spin_ns", "count", 0, "known answer: the parent spins this long after its call, before its stamp");
        number("stamp_spin_ns", "count", 0, "known answer: the new task spins this long before its stamp");
        number("child_spin_ns", "count", 0, "known answer: the new task spins this long before it exits");
    }

    private static void choice(String axis, String summary, String... values) {
        AXES.put(axis, Map.of("type", "choice", "default", values[0], "values", List.of(values), "summary", summary));
    }

    private static void number(String axis, String type, long least, String summary) {
        AXES.put(axis, Map.of("type", type, "default", least, "minimum", least, "summary", summary));
    }

    Workload workload;
    int pinnedTo = -1;
    private final Map<String, Long> numbers = new HashMap<>(
            Map.of("samples", 200L, "blocks", 3L, "warmup", 20L, "block_limit_ns", 0L, "cpu", -1L));
    private final Map<String, String> texts = new HashMap<>(
            Map.of("temperatures", "warm", "clock", "monotonic", "targets", ".", "workload", ""));

    private Request() {
        AXES.forEach((axis, entry) -> {
            Object value = entry.get("default");
            if (value instanceof Long) {
                numbers.put(axis, (Long) value);
            } else {
                texts.put(axis, value.toString());
            }
        });
    }

    long number(String key) {
        return numbers.get(key);
    }

    String text(String key) {
        return texts.get(key);
    }

    static Request read(List<String> words, Map<String, Workload> workloads) {
        Request request = new Request();
        Set<String> given = new HashSet<>();
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals < 0) {
                throw new Refusal("'" + word + "' is not key=value");
            }
            String key = word.substring(0, equals);
            request.set(key, word.substring(equals + 1));
            given.add(key);
        }
        request.check(given, workloads);
        return request;
    }

    private void set(String key, String value) {
        if (numbers.containsKey(key)) {
            if (!value.matches("[0-9]{1,18}")) {
                throw new Refusal(key + "=" + value + ": not a whole number from 0");
            }
            numbers.put(key, Long.valueOf(value));
            return;
        }
        if (!texts.containsKey(key)) {
            throw new Refusal("unknown key '" + key + "'");
        }
        if (AXES.containsKey(key) && AXES.get(key).get("values") instanceof List
                && !((List<?>) AXES.get(key).get("values")).contains(value)) {
            throw new Refusal(key + " has no value '" + value + "'");
        }
        texts.put(key, value);
    }

    private void check(Set<String> given, Map<String, Workload> workloads) {
        workload = workloads.get(text("workload"));
        if (workload == null) {
            throw new Refusal("there is no workload '" + text("workload") + "'");
        }
        if (workload.reason != null) {
            throw new Skip(workload.reason);
        }
        for (String axis : AXES.keySet()) {
            if (given.contains(axis) && !workload.axes.contains(axis)) {
                throw new Refusal(workload.id + " has no axis '" + axis + "'");
            }
        }
        if (!List.of("cold", "warm", "cold,warm").contains(text("temperatures"))) {
            throw new Refusal("temperatures=" + text("temperatures") + ": must be cold, warm or cold,warm");
        }
        if (!text("clock").equals("monotonic")) {
            throw new Refusal("clock=" + text("clock") + ": Java reads the monotonic clock only");
        }
        MOST.forEach((key, most) -> {
            if (number(key) < 1 || number(key) > most) {
                throw new Refusal(key + "=" + number(key) + ": from 1 to " + most);
            }
        });
        if (text("placement").equals("pinned")) {
            pinnedTo = onlyCpu();
            if (pinnedTo < 0 || (number("cpu") >= 0 && number("cpu") != pinnedTo)) {
                throw new Skip("CPU " + number("cpu") + " cannot be used");
            }
        }
    }

    /** The one CPU that this process may use, as the tether chose; -1 where it may use several. */
    private static int onlyCpu() {
        try {
            Pattern pattern = Pattern.compile("^Cpus_allowed_list:\\s*(\\d+)$", Pattern.MULTILINE);
            Matcher match = pattern.matcher(Files.readString(Path.of("/proc/self/status")));
            return match.find() ? Integer.parseInt(match.group(1)) : -1;
        } catch (IOException error) {
            return -1;
        }
    }

    boolean isTarget() {
        return !text("program").split(":", 2)[0].contains("/");
    }

    /** The words of the program that is started. Ours are told where to leave their timestamps. */
    List<String> command() {
        List<String> words = new ArrayList<>();
        for (String word : text("program").split("(?<!\\\\):", -1)) {
            words.add(word.replaceAll("\\\\(.)", "$1"));
        }
        if (isTarget()) {
            words.set(0, Path.of(text("targets"), words.get(0)).toString());
            words.add(1, "m0:0");
        }
        return words;
    }

    /** Puts the program's environment in place of our own, where its size is given. */
    void fill(Map<String, String> environment) {
        if (number("env_bytes") == 0) {
            return;
        }
        environment.clear();
        for (long at = 0; at < number("env_bytes"); at += VARIABLE) {
            String name = String.format("CLONOMETER_FILL%06d", at / VARIABLE);
            environment.put(name, "x".repeat(VARIABLE - name.length() - 2));
        }
    }
}
