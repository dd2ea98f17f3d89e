package main

import (
	"os"
	"runtime"
)

type quantity struct {
	Unit    string  `json:"unit"`
	Stage   *string `json:"stage"`
	Summary string  `json:"summary"`
	Signed  bool    `json:"signed"`
	Detail  bool    `json:"detail"`
	Point   string  `json:"point,omitempty"`
}

func staged(stage, summary string) quantity {
	return quantity{Unit: "ns", Stage: &stage, Summary: summary, Detail: stage == "image_entered" || stage == "image_ends"}
}

// What this driver says of itself, its runtime and its workloads.
func describe(name string, workloads []*workload) map[string]any {
	imageRuns := staged("image_runs", "until the first line of the new program's main")
	imageRuns.Point = "main"
	entries := []map[string]any{}
	for _, each := range workloads {
		entries = append(entries, each.describe())
	}
	return map[string]any{
		"driver": map[string]any{
			"name": name, "version": version, "language": "Go", "linkage": nil, "protocol": 1,
			"clocks": []string{"monotonic"}, "clock_now_ns": now(),
			"runtime": map[string]any{
				"name": "Go", "version": runtime.Version()[len("go"):], "flags": []string{},
				"clock": "time.Since", "warmup_ns": int64(runtimeWarmup), "collector": "concurrent mark and sweep, GOGC=" + gogc(), "cpus": runtime.NumCPU(),
			},
		},
		"axes": axes,
		"quantities": map[string]quantity{
			"call_returns_ns": staged("call_returns", "until the call returns in the parent"),
			"task_runs_ns":    staged("task_runs", "until the first instruction of the new task's own code"),
			"image_entered_ns": staged("image_entered",
				"until the entry of the new program's file, before its C library has set itself up"),
			"image_runs_ns": imageRuns,
			"image_ends_ns": staged("image_ends", "until the last line of the new program's main"),
			"reaped_ns":     staged("reaped", "until wait or join has returned"),
			"result_ns":     staged("result", "until the caller has the result"),
			"collector_ns": {Unit: "ns", Detail: true,
				Summary: "pauses of the garbage collector within the launch, as the runtime says"},
		},
		"workloads": entries,
		"lacks":     []string{},
	}
}

func gogc() string {
	if value := os.Getenv("GOGC"); value != "" {
		return value
	}
	return "100"
}

func (w *workload) describe() map[string]any {
	quantities := []string{}
	for _, stage := range w.stages {
		if w.nulls[stage] == "" {
			quantities = append(quantities, stage)
		}
	}
	return map[string]any{
		"id": w.ID, "family": w.family, "summary": w.summary, "axes": w.Axes,
		"temperatures": []string{"cold", "warm"}, "quantities": append(quantities, "collector_ns"),
		"nulls": w.nulls, "call_returns_contains": orNull(w.contains), "available": true, "reason": nil,
		"api": w.api, "launch_path": orNull(w.path),
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
