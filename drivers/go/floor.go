package main

// What the driver itself costs: the readings of a launch, with nothing launched.
//
// Timed: from a reading of the clock to the last one of the parent, with one between, as every launch has them. It is
// part of each figure of this driver. Outside: storing the sample.
func floor() []*workload {
	const nothing = "nothing is launched"
	return []*workload{
		{ID: "none", family: "floor", summary: "the driver's own readings, with nothing launched",
			stages: []string{"call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"},
			nulls:  map[string]string{"task_runs_ns": nothing, "image_runs_ns": nothing}, api: "time.Since",
			prepare: plain(func(_ *request, stamps []int64) error {
				stamps[0] = now()
				stamps[1] = now()
				stamps[4] = now()
				return nil
			})},
	}
}
