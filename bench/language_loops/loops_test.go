// The same launches timed by `go test -bench`.
package main

import "testing"

func benchmark(b *testing.B, launch func()) {
	for i := 0; i < b.N; i++ {
		launch()
	}
}

func Benchmark_os_thread(b *testing.B) { benchmark(b, osThread) }
func Benchmark_command(b *testing.B)   { benchmark(b, command) }
