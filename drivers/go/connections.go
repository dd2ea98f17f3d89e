package main

import (
	"io"
	"net"
)

// As serve.* has them by default.
const requestBytes, answerBytes = 128, 1024

// A server's part of a connection over loopback: it is accepted, its request read, answered, and it is closed.
//
// Timed: from before Accept until it has returned, and until the connection is closed. Outside: the client's part, in the
// same goroutine: it has connected and sent its request before, and reads the answer to its end afterwards. Nobody waits.
func connections() []*workload {
	return []*workload{{ID: "connection", family: "runtime_data",
		summary: "net.Listener.Accept, Read of 128 bytes, Write of 1 KiB, Close; the client's part is outside",
		stages:  []string{"call_returns_ns", "result_ns"}, api: "net.Listener.Accept", prepare: prepareConnections}}
}

func prepareConnections(*request) (launcher, func(), error) {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	address := listening.Addr().(*net.TCPAddr)
	content := make([]byte, answerBytes)
	launch := func(stamps []int64) error {
		client, err := net.DialTCP("tcp", nil, address)
		if err != nil {
			return err
		}
		defer client.Close()
		// Its end is a reset, so that its port is soon free again: many connections follow.
		_ = client.SetLinger(0)
		if _, err := client.Write(content[:requestBytes]); err != nil {
			return err
		}
		stamps[0] = now()
		connection, err := listening.Accept()
		if err != nil {
			return err
		}
		stamps[1] = now()
		_, readErr := connection.Read(content[:requestBytes])
		_, writeErr := connection.Write(content)
		_ = connection.Close()
		stamps[2] = now()
		if readErr != nil || writeErr != nil {
			return io.ErrUnexpectedEOF
		}
		_, err = io.Copy(io.Discard, client)
		return err
	}
	return launch, func() { _ = listening.Close() }, nil
}
