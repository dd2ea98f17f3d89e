import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What this driver says of itself, its runtime and its workloads. */
final class Catalogue {
    private Catalogue() {}

    static String describe(String name, Map<String, Workload> workloads) {
        Map<String, Object> driver = new LinkedHashMap<>();
        driver.put("name", name);
        driver.put("version", Answer.VERSION);
        driver.put("language", "Java");
        driver.put("linkage", null);
        driver.put("protocol", 1);
        driver.put("clocks", List.of("monotonic"));
        driver.put("clock_now_ns", Measure.now());
        driver.put("runtime", runtime());
        List<Object> entries = new ArrayList<>();
        workloads.values().forEach(workload -> entries.add(entryOf(workload)));
        Map<String, Object> whole = new LinkedHashMap<>();
        whole.put("driver", driver);
        whole.put("axes", Request.AXES);
        whole.put("quantities", quantities());
        whole.put("workloads", entries);
        whole.put("lacks", List.of());
        return Json.of(whole);
    }

    private static Map<String, Object> runtime() {
        List<String> collectors = new ArrayList<>();
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collectors.add(collector.getName());
        }
        Map<String, Object> runtime = new LinkedHashMap<>();
        runtime.put("name", System.getProperty("java.vm.name"));
        runtime.put("version", System.getProperty("java.version"));
        runtime.put("flags", ManagementFactory.getRuntimeMXBean().getInputArguments());
        runtime.put("clock", "System.nanoTime");
        runtime.put("warmup_ns", Measure.RUNTIME_WARMUP_NS);
        runtime.put("collector", String.join(", ", collectors));
        runtime.put("cpus", Runtime.getRuntime().availableProcessors());
        return runtime;
    }

    private static Map<String, Object> quantities() {
        Map<String, Object> quantities = new LinkedHashMap<>();
        add(quantities, "call_returns", "until the call returns in the parent");
        add(quantities, "task_runs", "until the first instruction of the new task's own code");
        add(quantities, "image_entered", "until the entry of the new program's file, before its C library has set itself up");
        add(quantities, "image_runs", "until the first line of the new program's main");
        add(quantities, "image_ends", "until the last line of the new program's main");
        add(quantities, "reaped", "until wait or join has returned");
        add(quantities, "result", "until the caller has the result");
        Map<String, Object> pauses = new LinkedHashMap<>(Map.of("unit", "ns", "signed", false, "detail", true, "summary",
                "pauses of the garbage collector within the launch, as the runtime says"));
        pauses.put("stage", null);
        quantities.put("collector_ns", pauses);
        return quantities;
    }

    private static void add(Map<String, Object> quantities, String stage, String summary) {
        boolean isDetail = stage.equals("image_entered") || stage.equals("image_ends");
        Map<String, Object> entry = new LinkedHashMap<>(Map.of(
                "unit", "ns", "stage", stage, "summary", summary, "signed", false, "detail", isDetail));
        if (stage.equals("image_runs")) {
            entry.put("point", "main");
        }
        quantities.put(stage + "_ns", entry);
    }

    private static Map<String, Object> entryOf(Workload workload) {
        List<String> quantities = new ArrayList<>(workload.stages);
        quantities.removeAll(workload.nulls.keySet());
        quantities.add("collector_ns");
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("id", workload.id);
        entry.put("family", workload.family);
        entry.put("summary", workload.summary);
        entry.put("axes", workload.axes);
        entry.put("temperatures", List.of("cold", "warm"));
        entry.put("quantities", quantities);
        entry.put("nulls", workload.nulls);
        entry.put("call_returns_contains", workload.contains);
        entry.put("available", workload.reason == null);
        entry.put("reason", workload.reason);
        entry.put("api", workload.api);
        entry.put("launch_path", workload.path);
        return entry;
    }
}
