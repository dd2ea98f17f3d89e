import java.util.List;
import java.util.Map;

/**
 * What the driver itself costs: the readings of a launch, with nothing launched.
 *
 * <p>Timed: from a reading of the clock to the last one of the parent, with one between, as every launch has them. It is
 * part of each figure of this driver. Outside: storing the sample.
 */
final class Floor {
    private static final String NOTHING = "nothing is launched";

    private Floor() {}

    static void addTo(Map<String, Workload> named) {
        named.put("none", new Workload("floor", "the driver's own readings, with nothing launched",
                List.of("call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"), request -> Floor::launch)
                .without(Map.of("task_runs_ns", NOTHING, "image_runs_ns", NOTHING)).calls("System.nanoTime", null));
    }

    private static void launch(long[] stamps) {
        stamps[0] = Measure.now();
        stamps[1] = Measure.now();
        stamps[4] = Measure.now();
    }
}
