package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Data handed over and back: to a goroutine, by reference, and to a process over pipes, copied.
//
// Timed: from before the data is sent until it has come back whole. Outside: making the data, starting the other one.
func exchanges() []*workload {
	exchange := func(id, summary, api string, prepare func(*request) (launcher, func(), error)) *workload {
		return &workload{ID: id, family: "runtime_data", summary: summary, stages: []string{"call_returns_ns", "result_ns"},
			Axes: []string{"message_bytes"}, contains: "answer", api: api, prepare: prepare}
	}
	piped := exchange("exchange_process", "message_bytes over pipes to a process and back, copied",
		"Cmd.StdinPipe, StdoutPipe", preparePipes)
	piped.nulls = map[string]string{"call_returns_ns": "data is sent while the caller reads"}
	return []*workload{
		piped,
		exchange("exchange_thread", "a slice of message_bytes over a channel to a goroutine and back, by reference",
			"chan []byte", prepareChannels),
	}
}

func prepareChannels(r *request) (launcher, func(), error) {
	requests, answers := make(chan []byte), make(chan []byte)
	data := bytes.Repeat([]byte("x"), int(r.numbers["message_bytes"]))
	go func() {
		for message := range requests {
			answers <- message
		}
	}()
	launch := func(stamps []int64) error {
		stamps[0] = now()
		requests <- data
		stamps[1] = now()
		<-answers
		stamps[2] = now()
		return nil
	}
	return launch, func() { close(requests) }, nil
}

func preparePipes(r *request) (launcher, func(), error) {
	data := bytes.Repeat([]byte("x"), int(r.numbers["message_bytes"]))
	answer := make([]byte, len(data))
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	command := exec.Command(program, "echo")
	// It outlives no driver: its pipe ends, and this besides.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	to, err := command.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	from, err := command.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := command.Start(); err != nil {
		return nil, nil, err
	}
	launch := func(stamps []int64) error {
		sent := make(chan error, 1)
		stamps[0] = now()
		// A pipe holds 64 KiB: whoever sends more must read at the same time.
		go func() {
			_, err := to.Write(data)
			sent <- err
		}()
		_, err := io.ReadFull(from, answer)
		stamps[2] = now()
		if err != nil {
			return err
		}
		return <-sent
	}
	// One round trip first: the process has started when it answers.
	err = launch(make([]int64, 3))
	return launch, func() {
		_ = to.Close()
		_ = command.Wait()
	}, err
}
