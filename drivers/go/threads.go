package main

import "runtime"

// Threads of control: a goroutine, and one that is locked to its OS thread and ends with it.
//
// Timed: from before the go statement until it has returned, until the goroutine's first line, until it has said over a
// channel that it is done. Outside: storing the sample. Bias: a locked goroutine is done before its thread has ended.
func threads() []*workload {
	stages := []string{"call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"}
	nulls := map[string]string{"image_runs_ns": "no new program is started"}
	spins := []string{"stages", "call_spin_ns", "stamp_spin_ns", "child_spin_ns"}
	return []*workload{
		{ID: "os_thread", family: "runtime_thread", summary: "go of a function that calls runtime.LockOSThread, a channel",
			stages: stages, Axes: spins, nulls: nulls, api: "go, runtime.LockOSThread", path: "goroutine",
			prepare: plain(func(r *request, stamps []int64) error { return start(r, stamps, true) })},
		{ID: "task", family: "runtime_thread", summary: "go of a function that returns at once, a channel",
			stages: stages, nulls: nulls, api: "go",
			prepare: plain(func(r *request, stamps []int64) error { return start(r, stamps, false) })},
	}
}

func start(r *request, stamps []int64, isLocked bool) error {
	done := make(chan int64)
	stamped := r.texts["stages"] == "all"
	call, before, child := r.numbers["call_spin_ns"], r.numbers["stamp_spin_ns"], r.numbers["child_spin_ns"]
	stamps[0] = now()
	go func() {
		if isLocked {
			runtime.LockOSThread()
		}
		ran := int64(null64)
		if before > 0 {
			spin(before)
		}
		if stamped {
			ran = now()
		}
		if child > 0 {
			spin(child)
		}
		done <- ran
	}()
	if call > 0 {
		spin(call)
	}
	stamps[1] = now()
	stamps[2] = <-done
	stamps[4] = now()
	return nil
}
