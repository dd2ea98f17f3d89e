import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is wanted, and how Java does it. */
final class Workload {
    /** Makes launches; {@code close} tidies up. */
    interface Launcher extends AutoCloseable {
        /** Makes one and stores when it began and its stages, which are null before. */
        void launch(long[] stamps) throws Exception;

        @Override
        default void close() throws Exception {}
    }

    /** Gives what launches. */
    interface Preparation {
        Launcher apply(Request request) throws Exception;
    }

    String id;
    final String family;
    final String summary;
    final List<String> stages;
    final List<String> axes = new ArrayList<>(List.of("placement", "parent_bytes"));
    final Preparation prepare;
    Map<String, String> nulls = Map.of();
    String contains;
    /** What is called. */
    String api;
    /** The line of the book of launch paths that it is. */
    String path;
    /** Why it cannot be had here. */
    String reason;

    Workload(String family, String summary, List<String> stages, Preparation prepare, String... axes) {
        this.family = family;
        this.summary = summary;
        this.stages = stages;
        this.prepare = prepare;
        this.axes.addAll(List.of(axes));
    }

    Workload calls(String what, String line) {
        api = what;
        path = line;
        return this;
    }

    Workload without(Map<String, String> reasons) {
        nulls = reasons;
        return this;
    }

    Workload containing(String what) {
        contains = what;
        return this;
    }

    /** All workloads by their ids: the name of the driver, a dot, and what is wanted. */
    static Map<String, Workload> all(String name) {
        Map<String, Workload> named = new LinkedHashMap<>();
        Threads.addTo(named);
        Commands.addTo(named);
        Exchanges.addTo(named);
        Connections.addTo(named);
        Floor.addTo(named);
        Map<String, Workload> workloads = new LinkedHashMap<>();
        named.forEach((word, workload) -> {
            workload.id = name + "." + word;
            workloads.put(workload.id, workload);
        });
        return workloads;
    }
}
