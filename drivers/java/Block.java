import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The samples of a block: a column a name, in the order of the answer; and its facts. */
final class Block {
    static final long NULL_64 = Long.MIN_VALUE;
    static final int NULL_32 = Integer.MIN_VALUE;

    final String workload;
    final String temperature;
    final Map<String, long[]> times = new LinkedHashMap<>();
    final Map<String, int[]> others = new LinkedHashMap<>();
    final Map<String, Object> facts = new LinkedHashMap<>();
    int rows;

    Block(Workload workload, String temperature, int most) {
        this.workload = workload.id;
        this.temperature = temperature;
        times.put("start_ns", new long[most]);
        workload.stages.forEach(stage -> times.put(stage, new long[most]));
        times.put("collector_ns", new long[most]);
        List.of("cpu_before", "cpu_after", "cpu_child", "errno").forEach(name -> others.put(name, new int[most]));
    }

    static String unitOf(String column) {
        return column.endsWith("_ns") ? "ns" : column.startsWith("cpu_") ? "cpu" : "errno";
    }
}
