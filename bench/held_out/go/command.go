// /bin/true is run and waited for. Prints the median in nanoseconds.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strconv"
	"time"
)

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	times := make([]int, 0, count)
	for i := 0; i < count; i++ {
		start := time.Now()
		if err := exec.Command("/bin/true").Run(); err != nil {
			panic(err)
		}
		times = append(times, int(time.Since(start)))
	}
	times = times[count/5:]
	sort.Ints(times)
	fmt.Println(times[len(times)/2])
}
