// The loop that anyone can check, of Go: `loops WHAT LAUNCHES` prints the ns per launch of 30 parts.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"
)

const (
	parts  = 30
	warmup = 20
)

var launches = map[string]func(){"os_thread": osThread, "command": command}

func osThread() {
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		done <- true
	}()
	<-done
}

func command() {
	started := exec.Command("/bin/true")
	started.Stdin = os.Stdin
	if err := started.Start(); err != nil {
		panic(err)
	}
	if err := started.Wait(); err != nil {
		panic(err)
	}
}

func main() {
	launch := launches[os.Args[1]]
	count, _ := strconv.Atoi(os.Args[2])
	each := count / parts
	var took [parts]float64
	for i := 0; i < warmup; i++ {
		launch()
	}
	for part := range took {
		began := time.Now()
		for i := 0; i < each; i++ {
			launch()
		}
		took[part] = float64(time.Since(began)) / float64(each)
	}
	for _, ns := range took {
		fmt.Println(ns)
	}
}
