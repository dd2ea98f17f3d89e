package main

// Makes one launch and stores when it began and its stages, which are null64 before.
type launcher func(stamps []int64) error

// What is wanted, and how Go does it. `api` is what is called, `path` the line of the book of launch paths that it is.
type workload struct {
	ID       string
	family   string
	summary  string
	stages   []string
	Axes     []string
	nulls    map[string]string
	contains string
	api      string
	path     string
	// Gives what launches, and what tidies up.
	prepare func(*request) (launcher, func(), error)
}

// All workloads: the name of the driver, a dot, and what is wanted.
func allWorkloads(name string) []*workload {
	var all []*workload
	for _, group := range [][]*workload{threads(), calls(), commands(), exchanges(), connections(), floor()} {
		for _, each := range group {
			each.ID = name + "." + each.ID
			each.Axes = append([]string{"placement", "parent_bytes"}, each.Axes...)
			if each.nulls == nil {
				each.nulls = map[string]string{}
			}
			all = append(all, each)
		}
	}
	return all
}

// A workload that needs no preparation.
func plain(launch func(*request, []int64) error) func(*request) (launcher, func(), error) {
	return func(r *request) (launcher, func(), error) {
		return func(stamps []int64) error { return launch(r, stamps) }, func() {}, nil
	}
}
