// Answers each request with what `echo hi` prints; prints its port.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
)

func main() {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	_ = http.Serve(listener, http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		command := exec.Command("echo", "hi")
		command.Stdout = answer
		_ = command.Run()
	}))
}
