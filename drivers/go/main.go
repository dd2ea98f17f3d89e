// The driver of Go: performs one cell's launches through the standard library (docs/protocol.md).
//
// It is started as `driver-go NAME` and the words of the protocol, by clonometer-tether, which has checked the
// descriptor, chosen the CPU and made descriptor 0 the file where targets leave their timestamps. As `driver-go echo` it
// is the other process of an exchange.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "echo" {
		// It ends when the driver's end of the pipe is closed, however that came about.
		_, _ = io.Copy(struct{ io.Writer }{os.Stdout}, struct{ io.Reader }{os.Stdin})
		return
	}
	os.Exit(serve(os.Args[1], os.Args[2:]))
}

func serve(name string, words []string) int {
	workloads := allWorkloads(name)
	if words[0] == "--describe" {
		if err := json.NewEncoder(os.Stdout).Encode(describe(name, workloads)); err != nil {
			return complain(err)
		}
		return 0
	}
	request, err := readRequest(words[2:], workloads)
	var blocks []*block
	if err == nil {
		blocks, err = measure(request)
	}
	status, reason := "ok", (*string)(nil)
	if err != nil {
		text := err.Error()
		status, reason, blocks = "failed", &text, nil
		if errors.As(err, &skip{}) {
			status = "skipped"
		}
	}
	// The tether has checked that it is a number of an open descriptor.
	fd, _ := strconv.Atoi(words[1])
	if _, err := os.NewFile(uintptr(fd), "answer").Write(encode(name, request, blocks, status, reason)); err != nil {
		return complain(fmt.Errorf("the answer could not be sent: %w", err))
	}
	if status == "failed" {
		return 1
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "driver-go:", err)
	return 1
}
