package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	laterWarmup = 3
	// Later threads reuse the stacks that a collection has freed; the first one comes after some 20 ms of starting threads.
	runtimeWarmup = 50 * time.Millisecond
	fewestSamples = 3
	settle        = time.Millisecond
	objectBytes   = 1024
)

// Times of each launch, in the order of names: the start, the stages, the collector's pauses.
type block struct {
	temperature string
	names       []string
	times       [][]int64
	cpus        map[string][]int32
	errors      []int32
	facts       map[string]any
}

// An object of the heap. It has a pointer, so that the collector looks into it.
type object struct {
	next *object
	rest [objectBytes - 8]byte
}

func heapOf(size int64) ([]*object, error) {
	meminfo, _ := os.ReadFile("/proc/meminfo")
	match := regexp.MustCompile(`(?m)^MemAvailable:\s*(\d+) kB`).FindSubmatch(meminfo)
	if match != nil {
		if free, _ := strconv.ParseInt(string(match[1]), 10, 64); size > free*1024 {
			return nil, skip{fmt.Sprintf("parent_bytes=%d: more than the %d free bytes", size, free*1024)}
		}
	}
	heap := make([]*object, size/objectBytes)
	for i := range heap {
		heap[i] = &object{next: heap[i/2]}
		heap[i].rest[0] = byte(i)
	}
	return heap, nil
}

func measure(r *request) ([]*block, error) {
	heap, err := heapOf(r.numbers["parent_bytes"])
	if err != nil {
		return nil, err
	}
	launch, end, err := r.workload.prepare(r)
	if err != nil {
		return nil, err
	}
	defer end()
	var blocks []*block
	if strings.Contains(r.texts["temperatures"], "cold") {
		blocks = append(blocks, measureBlock(r, "cold", 1, launch))
	}
	if strings.Contains(r.texts["temperatures"], "warm") {
		for i := int64(0); i < r.numbers["blocks"]; i++ {
			time.Sleep(settle)
			launches, least := r.numbers["warmup"], runtimeWarmup
			if i > 0 {
				least = 0
				if launches > laterWarmup {
					launches = laterWarmup
				}
			}
			warmUp(r, launches, least, launch)
			blocks = append(blocks, measureBlock(r, "warm", r.numbers["samples"], launch))
		}
	}
	runtime.KeepAlive(heap)
	return blocks, nil
}

// Launches so often, or until the limit of a block is reached, but at least for so long. With 0 launches there is no
// warm-up.
func warmUp(r *request, launches int64, least time.Duration, launch launcher) {
	limit, began := r.numbers["block_limit_ns"], now()
	scrap := make([]int64, len(r.workload.stages)+1)
	for i := int64(0); launches > 0; i++ {
		lasted := now() - began
		if lasted >= int64(least) && (i >= launches || limit > 0 && lasted > limit) {
			return
		}
		_ = launch(scrap)
	}
}

func newBlock(r *request, temperature string, rows int64) *block {
	b := &block{temperature: temperature, errors: make([]int32, rows)}
	b.names = append(append([]string{"start_ns"}, r.workload.stages...), "collector_ns")
	for range b.names {
		column := make([]int64, rows)
		// Written before anything is timed.
		for i := range column {
			column[i] = 1
		}
		b.times = append(b.times, column)
	}
	return b
}

func measureBlock(r *request, temperature string, rows int64, launch launcher) *block {
	b := newBlock(r, temperature, rows)
	stamps := make([]int64, len(r.workload.stages)+1)
	limit := r.numbers["block_limit_ns"]
	before := usage()
	began := now()
	filled := int64(0)
	for filled < rows {
		for i := range stamps {
			stamps[i] = null64
		}
		stamps[0] = now()
		if err := launch(stamps); err != nil {
			b.errors[filled] = numberOf(err)
			for i := range stamps[1:] {
				stamps[1+i] = null64
			}
		}
		b.times[0][filled] = stamps[0] - began
		for i, stamp := range stamps[1:] {
			if stamp != null64 {
				stamp -= stamps[0]
			}
			b.times[1+i][filled] = stamp
		}
		filled++
		if limit > 0 && filled >= fewestSamples && now()-began > limit {
			break
		}
	}
	wall := now() - began
	after := usage()
	b.errors = b.errors[:filled]
	for i := range b.times {
		b.times[i] = b.times[i][:filled]
	}
	b.fillPauses(began)
	b.fillCPUs(r)
	b.facts = factsOf(r, wall, began, before, after)
	return b
}

func numberOf(err error) int32 {
	var number syscall.Errno
	if errors.As(err, &number) && number != 0 {
		return int32(number)
	}
	return int32(syscall.EIO)
}

// The pauses in which the collector stopped all goroutines, as the runtime keeps the last 256 of them.
func (b *block) fillPauses(began int64) {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	toClock := now() - time.Now().UnixNano()
	pauses := b.times[len(b.times)-1]
	for row := range pauses {
		start := began + b.times[0][row]
		end := now()
		if row+1 < len(pauses) {
			end = began + b.times[0][row+1]
		}
		pauses[row] = 0
		for i, pause := range stats.Pause {
			ended := stats.PauseEnd[i].UnixNano() + toClock
			if ended < start {
				break
			}
			if ended < end {
				pauses[row] += int64(pause)
			}
		}
	}
}

func (b *block) fillCPUs(r *request) {
	b.cpus = map[string][]int32{}
	isStamped := false
	for i, name := range b.names {
		isStamped = isStamped || name == "task_runs_ns" && len(b.errors) > 0 && b.times[i][0] != null64
	}
	for _, name := range []string{"cpu_before", "cpu_after", "cpu_child"} {
		column := make([]int32, len(b.errors))
		for i := range column {
			column[i] = null32
			if r.pinnedTo >= 0 && (name != "cpu_child" || isStamped) {
				column[i] = int32(r.pinnedTo)
			}
		}
		b.cpus[name] = column
	}
}

type usages struct {
	own, children syscall.Rusage
	collections   uint32
	tasks         int64
}

func usage() (u usages) {
	u.tasks = tasksCreated()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u.own)
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u.children)
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	u.collections = uint32(stats.NumGC)
	return u
}

// How many tasks the whole machine has created since it started; -1 where the kernel does not count them.
func tasksCreated() int64 {
	stat, _ := os.ReadFile("/proc/stat")
	if match := regexp.MustCompile(`(?m)^processes (\d+)$`).FindSubmatch(stat); match != nil {
		if count, _ := strconv.ParseInt(string(match[1]), 10, 64); count > 0 {
			return count
		}
	}
	return -1
}

func tasksBetween(before, after int64) int64 {
	if before < 0 || after < 0 {
		return -1
	}
	return after - before
}

func cpuNS(u syscall.Rusage) int64 { return u.Utime.Nano() + u.Stime.Nano() }

func factsOf(r *request, wall, began int64, before, after usages) map[string]any {
	return map[string]any{
		"wall_ns":              wall,
		"start_ticks":          began,
		"minor_faults":         after.own.Minflt - before.own.Minflt,
		"major_faults":         after.own.Majflt - before.own.Majflt,
		"voluntary_switches":   after.own.Nvcsw - before.own.Nvcsw,
		"involuntary_switches": after.own.Nivcsw - before.own.Nivcsw,
		"cpu_ns":               cpuNS(after.own) - cpuNS(before.own),
		"children_cpu_ns":      cpuNS(after.children) - cpuNS(before.children),
		"collections":          after.collections - before.collections,
		"tasks_created":        tasksBetween(before.tasks, after.tasks),
		"effective_mhz":        frequencies(r),
	}
}

// The effective MHz of the CPU that launched, by the tether; where it may be any, of none.
func frequencies(r *request) map[string]float64 {
	measured := map[string]float64{}
	if r.pinnedTo < 0 {
		return measured
	}
	tether := filepath.Join(r.texts["targets"], "clonometer-tether")
	printed, err := exec.Command(tether, "--mhz", strconv.Itoa(r.pinnedTo)).Output()
	words := strings.Fields(string(printed))
	if err == nil && len(words) == 2 {
		if mhz, err := strconv.ParseFloat(words[1], 64); err == nil && mhz > 0 {
			measured[words[0]] = mhz
		}
	}
	return measured
}
