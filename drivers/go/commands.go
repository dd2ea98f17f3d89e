package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

const (
	stampsAt    = 16
	stampsBytes = 24
	notExecuted = 127
)

// A command: each API, and options that change how the kernel is asked for it (the book of launch paths).
//
// Timed: from before Start, or ForkExec, until it has returned, until the new program's entry, its main and its main's
// end (of our targets, which leave their timestamps in the file of descriptor 0), until Wait has returned. Outside:
// making the exec.Cmd.
func commands() []*workload {
	stages := []string{
		"call_returns_ns", "task_runs_ns", "image_entered_ns", "image_runs_ns", "image_ends_ns", "reaped_ns",
	}
	command := func(id, summary, path string, prepare func(*request) (launcher, func(), error)) *workload {
		return &workload{ID: id, family: "runtime_command", summary: summary + ", Wait", stages: stages,
			Axes:     []string{"program", "env_bytes"},
			nulls:    map[string]string{"task_runs_ns": "before the exec the child runs only the runtime's code"},
			contains: "child_life", api: summary, path: path, prepare: prepare}
	}
	withOption := func(option func(*exec.Cmd)) func(*request) (launcher, func(), error) {
		return plain(func(r *request, stamps []int64) error { return run(r, stamps, option) })
	}
	return []*workload{
		command("command", "exec.Command, Start", "command", withOption(func(*exec.Cmd) {})),
		command("command_session", "exec.Command with SysProcAttr.Setsid, Start", "setsid",
			withOption(func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })),
		command("command_pipes", "exec.Command with its output in a buffer, Start", "command",
			withOption(func(c *exec.Cmd) { c.Stdout = new(strings.Builder) })),
		command("command_shell", "exec.Command of /bin/sh -c, Start", "command", withOption(inShell)),
		command("command_forkexec", "syscall.ForkExec", "forkexec", plain(forkExec)),
	}
}

func inShell(c *exec.Cmd) {
	var quoted []string
	for _, word := range c.Args {
		quoted = append(quoted, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", strings.Join(quoted, " ")}
}

func run(r *request, stamps []int64, option func(*exec.Cmd)) error {
	words := r.command()
	command := exec.Command(words[0], words[1:]...)
	command.Stdin, command.Env = os.Stdin, r.environment()
	option(command)
	stamps[0] = now()
	if err := command.Start(); err != nil {
		return err
	}
	stamps[1] = now()
	// What a program answers is its own affair.
	err := command.Wait()
	stamps[6] = now()
	if _, isStatus := err.(*exec.ExitError); err != nil && !isStatus {
		return err
	}
	if command.ProcessState.ExitCode() == notExecuted {
		return syscall.ENOENT
	}
	storeImage(r, stamps)
	return nil
}

func forkExec(r *request, stamps []int64) error {
	words, environment := r.command(), r.environment()
	if environment == nil {
		environment = os.Environ()
	}
	attributes := &syscall.ProcAttr{Env: environment, Files: []uintptr{0, 1, 2}}
	var status syscall.WaitStatus
	stamps[0] = now()
	pid, err := syscall.ForkExec(words[0], words, attributes)
	if err != nil {
		return err
	}
	stamps[1] = now()
	for {
		if _, err = syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			break
		}
	}
	stamps[6] = now()
	storeImage(r, stamps)
	return err
}

// Stores the timestamps that the program left, unless it is not ours, or left none since the launch began.
func storeImage(r *request, stamps []int64) {
	var page [stampsBytes]byte
	if !r.isTarget() {
		return
	}
	if count, _ := syscall.Pread(0, page[:], stampsAt); count < stampsBytes {
		return
	}
	if int64(binary.LittleEndian.Uint64(page[:])) >= stamps[0] {
		for i := range stamps[3:6] {
			stamps[3+i] = int64(binary.LittleEndian.Uint64(page[8*i:]))
		}
	}
}
