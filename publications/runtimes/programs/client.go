// Sends requests over kept connections: `client PORT CONNECTIONS REQUESTS`, prints requests a second.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

func ask(client *http.Client, address string) {
	answer, err := client.Get(address)
	if err != nil {
		panic(err)
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if string(text) != "hi\n" {
		panic(string(text))
	}
}

func main() {
	connections, _ := strconv.Atoi(os.Args[2])
	requests, _ := strconv.Atoi(os.Args[3])
	address := "http://localhost:" + os.Args[1]
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	run := func(each int) {
		var all sync.WaitGroup
		for range connections {
			all.Go(func() {
				for range each {
					ask(client, address)
				}
			})
		}
		all.Wait()
	}
	run(3)
	began := time.Now()
	run(requests / connections)
	fmt.Println(float64(requests/connections*connections) / time.Since(began).Seconds())
}
