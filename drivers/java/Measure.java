import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Blocks of launches: the clock, the heap, and the collector's pauses. */
final class Measure {
    /** The compiler takes so long to get to the classes that launch: a thread takes a third less from then on. */
    static final long RUNTIME_WARMUP_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private static final long LATER_WARMUP = 3;
    private static final int FEWEST_SAMPLES = 3;
    private static final int OBJECT_BYTES = 1024;
    private static final int ARRAY_HEAD_BYTES = 16;
    private static final int EIO = 5;
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

    /** What keeps the heap, so that no collection frees it. */
    private static byte[][] heap;

    private Measure() {}

    /** CLOCK_MONOTONIC, as HotSpot reads it on Linux. */
    static long now() {
        return System.nanoTime();
    }

    static void spin(long duration) {
        long end = now() + duration;
        while (now() < end) {
            Thread.onSpinWait();
        }
    }

    private static void fillHeap(long size) {
        Runtime runtime = Runtime.getRuntime();
        long room = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
        if (size > room) {
            throw new Request.Skip("parent_bytes=" + size + ": the heap has room for " + room);
        }
        heap = new byte[(int) (size / OBJECT_BYTES)][];
        Arrays.setAll(heap, number -> new byte[OBJECT_BYTES - ARRAY_HEAD_BYTES]);
    }

    static List<Block> measure(Request request) throws Exception {
        fillHeap(request.number("parent_bytes"));
        List<Block> blocks = new ArrayList<>();
        try (Workload.Launcher launcher = request.workload.prepare.apply(request)) {
            if (request.text("temperatures").contains("cold")) {
                blocks.add(measureBlock(request, "cold", 1, launcher));
            }
            boolean isWarm = request.text("temperatures").contains("warm");
            for (long number = 0; isWarm && number < request.number("blocks"); number++) {
                TimeUnit.MILLISECONDS.sleep(1);
                long launches = request.number("warmup");
                if (number == 0) {
                    warmUp(request, launches, RUNTIME_WARMUP_NS, launcher);
                } else {
                    warmUp(request, Math.min(launches, LATER_WARMUP), 0, launcher);
                }
                blocks.add(measureBlock(request, "warm", (int) request.number("samples"), launcher));
            }
        }
        return blocks;
    }

    /**
     * Launches so often, or until the limit of a block is reached, but at least for so long. With 0 launches there is no
     * warm-up.
     */
    private static void warmUp(Request request, long launches, long leastNs, Workload.Launcher launcher) {
        long limit = request.number("block_limit_ns");
        long began = now();
        long[] scrap = new long[request.workload.stages.size() + 1];
        for (long number = 0; launches > 0; number++) {
            long lasted = now() - began;
            if (lasted >= leastNs && (number >= launches || limit > 0 && lasted > limit)) {
                return;
            }
            try {
                launcher.launch(scrap);
            } catch (Exception failed) {
                return;
            }
        }
    }

    private static Block measureBlock(Request request, String temperature, int most, Workload.Launcher launcher) {
        Block block = new Block(request.workload, temperature, most);
        long[][] columns = block.times.values().toArray(new long[0][]);
        long[] stamps = new long[columns.length - 1];
        long[] pauses = columns[columns.length - 1];
        long limit = request.number("block_limit_ns");
        long created = tasksCreated();
        long[] before = usage();
        long began = now();
        while (block.rows < most) {
            Arrays.fill(stamps, Block.NULL_64);
            long collected = collectedNs();
            stamps[0] = now();
            try {
                launcher.launch(stamps);
            } catch (Exception failed) {
                Arrays.fill(stamps, 1, stamps.length, Block.NULL_64);
                block.others.get("errno")[block.rows] = numberOf(failed);
            }
            columns[0][block.rows] = stamps[0] - began;
            for (int stage = 1; stage < stamps.length; stage++) {
                columns[stage][block.rows] = stamps[stage] == Block.NULL_64 ? Block.NULL_64 : stamps[stage] - stamps[0];
            }
            pauses[block.rows++] = collectedNs() - collected;
            if (limit > 0 && block.rows >= FEWEST_SAMPLES && now() - began > limit) {
                break;
            }
        }
        long wall = now() - began;
        long[] after = usage();
        long createdAfter = tasksCreated();
        String[] names = {
            "minor_faults", "major_faults", "voluntary_switches", "involuntary_switches", "cpu_ns", "collections"};
        block.facts.put("wall_ns", wall);
        block.facts.put("start_ticks", began);
        block.facts.put("tasks_created", created < 0 ? -1 : createdAfter - created);
        for (int index = 0; index < names.length; index++) {
            block.facts.put(names[index], Math.max(0, after[index] - before[index]));
        }
        fillCpus(block, request);
        block.facts.put("effective_mhz", frequencies(request));
        return block;
    }

    /** The errno that a message of the library quotes. */
    private static int numberOf(Exception failed) {
        Matcher match = Pattern.compile("error=(\\d+)").matcher(String.valueOf(failed.getMessage()));
        return match.find() ? Integer.parseInt(match.group(1)) : EIO;
    }

    /** Java counts the time of its collections in whole milliseconds. */
    private static long collectedNs() {
        long milliseconds = 0;
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            milliseconds += collector.getCollectionTime();
        }
        return TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }

    private static void fillCpus(Block block, Request request) {
        int cpu = request.pinnedTo < 0 ? Block.NULL_32 : request.pinnedTo;
        long[] ran = block.times.get("task_runs_ns");
        boolean isStamped = ran != null && ran[0] != Block.NULL_64;
        Arrays.fill(block.others.get("cpu_before"), cpu);
        Arrays.fill(block.others.get("cpu_after"), cpu);
        Arrays.fill(block.others.get("cpu_child"), isStamped ? cpu : Block.NULL_32);
    }

    /** Minor and major faults, voluntary and other switches of the threads that live, CPU time, collections. */
    private static long[] usage() {
        long[] counts = new long[6];
        try {
            String stat = Files.readString(Path.of("/proc/self/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            counts[0] = Long.parseLong(fields[7]);
            counts[1] = Long.parseLong(fields[9]);
            Pattern pattern = Pattern.compile("voluntary_ctxt_switches:\\s*(\\d+)\\s+nonvoluntary\\S*\\s*(\\d+)");
            try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
                for (Path task : tasks) {
                    Matcher match = pattern.matcher(statusOf(task));
                    counts[2] += match.find() ? Long.parseLong(match.group(1)) : 0;
                    counts[3] += match.hitEnd() || match.groupCount() < 2 ? 0 : Long.parseLong(match.group(2));
                }
            }
        } catch (IOException | RuntimeException unreadable) {
            // Without /proc it is not known.
            Arrays.fill(counts, 0, 4, 0);
        }
        counts[4] = ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            counts[5] += collector.getCollectionCount();
        }
        return counts;
    }

    /** How many tasks the whole machine has created since it started; -1 where the kernel does not count them. */
    private static long tasksCreated() {
        try {
            Matcher match = Pattern.compile("(?m)^processes (\\d+)$").matcher(Files.readString(Path.of("/proc/stat")));
            long count = match.find() ? Long.parseLong(match.group(1)) : 0;
            return count > 0 ? count : -1;
        } catch (IOException unreadable) {
            return -1;
        }
    }

    private static String statusOf(Path task) {
        try {
            return Files.readString(task.resolve("status"));
        } catch (IOException ended) {
            return "";
        }
    }

    /** The effective MHz of the CPU that launched, by the tether; where it may be any, of none. */
    private static Map<String, Double> frequencies(Request request) {
        if (request.pinnedTo < 0) {
            return Map.of();
        }
        String tether = Path.of(request.text("targets"), "clonometer-tether").toString();
        try {
            Process process = new ProcessBuilder(tether, "--mhz", String.valueOf(request.pinnedTo)).start();
            String[] printed = new String(process.getInputStream().readAllBytes()).trim().split("\\s+");
            process.waitFor();
            double mhz = printed.length == 2 ? Double.parseDouble(printed[1]) : 0;
            return mhz > 0 ? Map.of(printed[0], mhz) : Map.of();
        } catch (IOException | NumberFormatException | InterruptedException error) {
            return Map.of();
        }
    }
}
