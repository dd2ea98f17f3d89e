package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"syscall"
)

const version = "1"

const (
	null64 = math.MinInt64
	null32 = math.MinInt32
)

var errorNames = map[syscall.Errno]string{
	syscall.EAGAIN: "EAGAIN", syscall.ENOMEM: "ENOMEM", syscall.EPERM: "EPERM", syscall.ENOENT: "ENOENT",
	syscall.EACCES: "EACCES", syscall.E2BIG: "E2BIG", syscall.EMFILE: "EMFILE", syscall.EINVAL: "EINVAL",
}

// The answer: a preamble, then frames of blocks (docs/protocol.md).
func encode(name string, r *request, blocks []*block, status string, reason *string) []byte {
	var out bytes.Buffer
	out.WriteString("CLNMETER\x01\x00\x00\x00\x00\x00\x00\x00")
	for index, each := range blocks {
		each.encode(&out, r.workload.ID, index)
	}
	frame(&out, "DONE", inJSON(map[string]any{
		"status": status, "reason": reason, "errno": nil, "blocks": len(blocks),
		"driver": name, "version": version, "linkage": nil,
	}))
	return out.Bytes()
}

func (b *block) encode(out *bytes.Buffer, id string, index int) {
	var columns []map[string]string
	var payload bytes.Buffer
	add := func(name, kind string, values any) {
		columns = append(columns, map[string]string{"name": name, "type": kind, "unit": unitOf(name)})
		_ = binary.Write(&payload, binary.LittleEndian, values)
	}
	for i, name := range b.names {
		add(name, "i64", b.times[i])
	}
	for _, name := range []string{"cpu_before", "cpu_after", "cpu_child"} {
		add(name, "i32", b.cpus[name])
	}
	add("errno", "i32", b.errors)
	outcomes := map[string]int{"ok": 0}
	for _, number := range b.errors {
		outcomes[outcomeOf(syscall.Errno(number))]++
	}
	rows := len(b.errors)
	frame(out, "HEAD", inJSON(map[string]any{
		"block": index, "workload": id, "temperature": b.temperature, "rows": rows, "columns": columns,
	}))
	frame(out, "COLS", payload.Bytes())
	frame(out, "TAIL", inJSON(map[string]any{
		"status": "ok", "reason": nil, "rows": rows, "crc32": crc32.ChecksumIEEE(payload.Bytes()),
		"outcomes": outcomes, "facts": b.facts,
	}))
}

func outcomeOf(number syscall.Errno) string {
	if number == 0 {
		return "ok"
	}
	if name, known := errorNames[number]; known {
		return name
	}
	return fmt.Sprintf("errno %d", int(number))
}

func unitOf(column string) string {
	if strings.HasSuffix(column, "_ns") {
		return "ns"
	}
	if strings.HasPrefix(column, "cpu_") {
		return "cpu"
	}
	return "errno"
}

func inJSON(content any) []byte {
	text, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return text
}

func frame(out *bytes.Buffer, kind string, payload []byte) {
	out.WriteString(kind)
	_ = binary.Write(out, binary.LittleEndian, uint32(0))
	_ = binary.Write(out, binary.LittleEndian, uint64(len(payload)))
	out.Write(payload)
}
