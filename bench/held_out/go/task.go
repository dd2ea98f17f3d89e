// A goroutine is started and waited for. Prints the median in nanoseconds.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	times := make([]int, 0, count)
	ran := 0
	for i := 0; i < count; i++ {
		var group sync.WaitGroup
		start := time.Now()
		group.Add(1)
		go func() {
			defer group.Done()
			ran++
		}()
		group.Wait()
		times = append(times, int(time.Since(start)))
	}
	times = times[count/5:]
	sort.Ints(times)
	fmt.Println(times[len(times)/2])
}
