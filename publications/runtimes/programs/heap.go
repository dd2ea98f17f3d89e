// As heap.py.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

type object struct {
	next *object
	rest [1016]byte
}

func start(api string) *exec.Cmd {
	command := exec.Command("/bin/true")
	if api == "newuser" {
		command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	}
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return command
}

func main() {
	size, _ := strconv.Atoi(os.Args[1])
	heap := make([]*object, size/1024)
	for i := range heap {
		heap[i] = &object{next: heap[i/2]}
		heap[i].rest[0] = byte(i)
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word := lines.Text()
		if word == "write" {
			for _, each := range heap {
				each.rest[0]++
			}
			fmt.Println("written")
			continue
		}
		began := time.Now()
		command := start(word)
		returned := time.Since(began)
		_ = command.Wait()
		fmt.Println(returned.Nanoseconds(), time.Since(began).Nanoseconds())
	}
	runtime.KeepAlive(heap)
}
