// Runs tools in user namespaces.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

func fill(megabytes int) []byte {
	catalogue := make([]byte, megabytes<<20)
	for at := range catalogue {
		catalogue[at] = byte(at)
	}
	return catalogue
}

func enter(number int) error {
	tool := exec.Command("unshare", "--user", "/bin/true", strconv.Itoa(number))
	return tool.Run()
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	megabytes, _ := strconv.Atoi(os.Args[2])
	catalogue := fill(megabytes)
	began := time.Now()
	for number := 0; number < count; number++ {
		if err := enter(number); err != nil {
			panic(err)
		}
	}
	fmt.Println(time.Since(began).Nanoseconds())
	if len(catalogue) == 0 {
		os.Exit(1)
	}
}
