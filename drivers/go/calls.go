package main

// A function that is run elsewhere: by a goroutine that waits for work on a channel.
//
// Timed: from before the function is sent until it has been taken, until its first line, until its result is here. A
// cold launch contains starting the goroutine.
func calls() []*workload {
	return []*workload{
		{ID: "thread_pool", family: "runtime_call", summary: "a function sent over a channel to a waiting goroutine",
			stages: []string{"call_returns_ns", "task_runs_ns", "result_ns"}, contains: "answer", api: "chan func()",
			prepare: preparePool},
	}
}

func preparePool(*request) (launcher, func(), error) {
	var work chan func() int64
	results := make(chan int64)
	launch := func(stamps []int64) error {
		stamps[0] = now()
		if work == nil {
			work = make(chan func() int64)
			go func() {
				for function := range work {
					results <- function()
				}
			}()
		}
		work <- now
		stamps[1] = now()
		stamps[2] = <-results
		stamps[3] = now()
		return nil
	}
	return launch, func() {
		if work != nil {
			close(work)
		}
	}, nil
}
