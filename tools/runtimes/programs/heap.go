// As heap.py.
package main

import (
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
	api := os.Args[1]
	size, _ := strconv.Atoi(os.Args[2])
	launches, _ := strconv.Atoi(os.Args[3])
	heap := make([]*object, size/1024)
	for i := range heap {
		heap[i] = &object{next: heap[i/2]}
		heap[i].rest[0] = byte(i)
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 16))
	_ = start(api).Wait()
	for _, kind := range []string{"written", "untouched"} {
		for range launches {
			if kind == "written" {
				for _, each := range heap {
					each.rest[0]++
				}
			}
			time.Sleep(20 * time.Millisecond)
			began := time.Now()
			command := start(api)
			returned := time.Since(began)
			_ = command.Wait()
			fmt.Println(kind, returned.Nanoseconds(), time.Since(began).Nanoseconds())
		}
	}
	runtime.KeepAlive(heap)
}
