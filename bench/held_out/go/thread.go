// A goroutine that has a thread of the operating system to itself: started and waited for. Prints the median in nanoseconds.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"time"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	times := make([]int, 0, count)
	for i := 0; i < count; i++ {
		done := make(chan struct{})
		start := time.Now()
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			close(done)
		}()
		<-done
		times = append(times, int(time.Since(start)))
	}
	times = times[count/5:]
	sort.Ints(times)
	fmt.Println(times[len(times)/2])
}
