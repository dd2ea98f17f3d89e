package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// What this machine cannot do: the answer is `skipped`. Any other error is an answer that is `failed`.
type skip struct{ reason string }

func (s skip) Error() string { return s.reason }

const (
	mostSamples = 10_000_000
	mostBlocks  = 10_000
	mostMessage = 1 << 30
	variable    = 150
)

// An axis, as the probe has it (docs/protocol.md).
type axis struct {
	Type    string   `json:"type"`
	Default any      `json:"default"`
	Values  []string `json:"values,omitempty"`
	Minimum *int64   `json:"minimum,omitempty"`
	Summary string   `json:"summary"`
}

func number(kind string, least int64, summary string) axis {
	return axis{Type: kind, Default: least, Minimum: &least, Summary: summary}
}

func choice(summary string, values ...string) axis {
	return axis{Type: "choice", Default: values[0], Values: values, Summary: summary}
}

var axes = map[string]axis{
	"placement": choice("parent and child on one CPU, or where the scheduler puts them", "pinned", "free"),
	"stages":    choice("all stages, or the parent's stamps only (the new task stamps nothing)", "all", "parent"),
	"parent_bytes": number("bytes", 0,
		"objects of the runtime that the parent holds before it launches, in bytes"),
	"env_bytes": number("bytes", 0,
		"size of the new program's environment, filled with variables of 150 bytes; 0: unchanged"),
	"message_bytes": number("bytes", 1, "size of a message"),
	"program": {Type: "text", Default: "target_static",
		Summary: "what is started: one of our targets, or any path; arguments follow after colons"},
	"call_spin_ns":  number("count", 0, "known answer: the parent spins this long after its call, before its stamp"),
	"stamp_spin_ns": number("count", 0, "known answer: the new task spins this long before its stamp"),
	"child_spin_ns": number("count", 0, "known answer: the new task spins this long before it exits"),
}

// What the runner asks for; the numbers and texts of keys by their names.
type request struct {
	workload *workload
	numbers  map[string]int64
	texts    map[string]string
	pinnedTo int
}

func readRequest(words []string, workloads []*workload) (*request, error) {
	r := &request{
		numbers:  map[string]int64{"samples": 200, "blocks": 3, "warmup": 20, "block_limit_ns": 0, "cpu": -1},
		texts:    map[string]string{"temperatures": "warm", "clock": "monotonic", "targets": ".", "workload": ""},
		pinnedTo: -1,
	}
	for key, each := range axes {
		if least, ok := each.Default.(int64); ok {
			r.numbers[key] = least
		} else {
			r.texts[key] = each.Default.(string)
		}
	}
	given := map[string]bool{}
	for _, word := range words {
		key, value, isPair := strings.Cut(word, "=")
		if !isPair {
			return nil, fmt.Errorf("'%s' is not key=value", word)
		}
		if err := r.set(key, value); err != nil {
			return nil, err
		}
		given[key] = true
	}
	return r, r.check(given, workloads)
}

func (r *request) set(key, value string) error {
	if _, known := r.numbers[key]; known {
		number, err := strconv.ParseInt(value, 10, 64)
		if err != nil || number < 0 || strings.HasPrefix(value, "+") {
			return fmt.Errorf("%s=%s: not a whole number from 0", key, value)
		}
		r.numbers[key] = number
		return nil
	}
	if _, known := r.texts[key]; !known {
		return fmt.Errorf("unknown key '%s'", key)
	}
	if values := axes[key].Values; values != nil && !contains(values, value) {
		return fmt.Errorf("%s has no value '%s'", key, value)
	}
	r.texts[key] = value
	return nil
}

func (r *request) check(given map[string]bool, workloads []*workload) error {
	for _, each := range workloads {
		if each.ID == r.texts["workload"] {
			r.workload = each
		}
	}
	if r.workload == nil {
		return fmt.Errorf("there is no workload '%s'", r.texts["workload"])
	}
	for key := range given {
		if _, isAxis := axes[key]; isAxis && !contains(r.workload.Axes, key) {
			return fmt.Errorf("%s has no axis '%s'", r.workload.ID, key)
		}
	}
	if text := r.texts["temperatures"]; !contains([]string{"cold", "warm", "cold,warm"}, text) {
		return fmt.Errorf("temperatures=%s: must be cold, warm or cold,warm", text)
	}
	if text := r.texts["clock"]; text != "monotonic" {
		return fmt.Errorf("clock=%s: Go reads the monotonic clock only", text)
	}
	most := map[string]int64{"samples": mostSamples, "blocks": mostBlocks, "message_bytes": mostMessage}
	for key, limit := range most {
		if r.numbers[key] < 1 || r.numbers[key] > limit {
			return fmt.Errorf("%s=%d: from 1 to %d", key, r.numbers[key], limit)
		}
	}
	return r.checkPlacement()
}

// The tether has chosen the CPU; a machine that refused that shows here.
func (r *request) checkPlacement() error {
	if r.texts["placement"] != "pinned" {
		return nil
	}
	status, _ := os.ReadFile("/proc/self/status")
	match := regexp.MustCompile(`(?m)^Cpus_allowed_list:\s*(\d+)$`).FindSubmatch(status)
	wanted := r.numbers["cpu"]
	if match == nil {
		return skip{fmt.Sprintf("CPU %d was not chosen to pin it to", wanted)}
	}
	r.pinnedTo, _ = strconv.Atoi(string(match[1]))
	if wanted >= 0 && int(wanted) != r.pinnedTo {
		return skip{fmt.Sprintf("CPU %d cannot be used", wanted)}
	}
	return nil
}

func (r *request) isTarget() bool {
	return !strings.Contains(strings.SplitN(r.texts["program"], ":", 2)[0], "/")
}

// The words of the program that is started. Ours are told where to leave their timestamps.
func (r *request) command() []string {
	words, word := []string{}, []byte{}
	text := r.texts["program"]
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			i++
			word = append(word, text[i])
		case text[i] == ':':
			words, word = append(words, string(word)), nil
		default:
			word = append(word, text[i])
		}
	}
	words = append(words, string(word))
	if !r.isTarget() {
		return words
	}
	return append([]string{filepath.Join(r.texts["targets"], words[0]), "m0:0"}, words[1:]...)
}

// The environment of the program; nil where it is our own.
func (r *request) environment() []string {
	var variables []string
	for i := int64(0); i*variable < r.numbers["env_bytes"]; i++ {
		name := fmt.Sprintf("CLONOMETER_FILL%06d=", i)
		variables = append(variables, name+strings.Repeat("x", variable-len(name)-1))
	}
	return variables
}

func contains(texts []string, wanted string) bool {
	for _, text := range texts {
		if text == wanted {
			return true
		}
	}
	return false
}
