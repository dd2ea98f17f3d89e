# frozen_string_literal: true

require "shellwords"
require_relative "measure"

# A command: each API, and options that change how the kernel is asked for it (the book of launch paths).
#
# Timed: from before the call until it has returned, until the new program's entry, its main and its main's end (of our
# programs, which leave their timestamps in the file of descriptor 0), until it has been waited for. Outside: building the
# list of words. `call_returns` is null where a single call does everything.
module Commands
  STAGES = %w[call_returns_ns task_runs_ns image_entered_ns image_runs_ns image_ends_ns reaped_ns].freeze
  BEFORE_EXEC = { "task_runs_ns" => "before the exec the child runs only the runtime's code" }.freeze
  SINGLE_CALL = {
    **BEFORE_EXEC, "call_returns_ns" => "a single call starts the program and waits for it"
  }.freeze
  STAMPS_AT = 16
  STAMPS = 3
  # The status of a shell, and of our fork, for a program that could not be executed.
  NOT_EXECUTED = 127
  # The kernel is asked in another way for root (has_privilege in process.c).
  AS_ROOT = Process.uid.zero? ? "-root" : ""

  module_function

  def workloads
    {
      "command" => command("Process.spawn of a list of words, Process.wait", "Process.spawn", "system#{AS_ROOT}",
                           method(:spawn_words)),
      "command_close_others" => spawning("close_others: true", "close_others", close_others: true),
      "command_chdir" => spawning('chdir: "/"', "chdir", chdir: "/"),
      "command_pgroup" => spawning("pgroup: true", "pgroup", pgroup: true),
      "command_shell" => command("Process.spawn of a text that needs a shell, Process.wait",
                                 "Process.spawn, text for a shell", "system-shell#{AS_ROOT}", method(:shell)),
      "command_system" => command("system of a list of words", "system", "system#{AS_ROOT}", method(:system_words),
                                  SINGLE_CALL),
      "command_popen" => command("IO.popen of a list of words, read, close", "IO.popen", "backticks#{AS_ROOT}",
                                 method(:popen)),
      "command_fork_exec" => command("Process.fork, exec in the child, Process.wait", "Process.fork and exec",
                                     "fork-exec", method(:fork_exec))
    }
  end

  def command(summary, api, line, prepare, nulls = BEFORE_EXEC)
    Workload.new(
      family: "runtime_command", summary: summary, stages: STAGES, prepare: prepare,
      further_axes: %w[program env_bytes], nulls: nulls,
      contains: nulls.key?("call_returns_ns") ? nil : "child_life", api: api, launch_path: line
    )
  end

  # The book has these options for other users than root, for whom each is a line.
  def spawning(what, line, **options)
    command("Process.spawn with #{what}, Process.wait", "Process.spawn, #{what}",
            AS_ROOT.empty? ? line : "system-root", ->(request) { spawn_words(request, **options) })
  end

  # What is executed and its arguments, so that Ruby never looks for characters of a shell in a single word.
  def listed(request)
    program, *arguments = request.command
    [[program, program], *arguments]
  end

  # The timestamps that the program left, nil for each if it is not ours or left none since `before`.
  def image(request, before)
    nothing = [nil] * STAMPS
    return nothing unless request.target?

    stamps = $stdin.pread(STAMPS * 8, STAMPS_AT).unpack("q*")
    stamps.size == STAMPS && stamps[0] >= before ? stamps : nothing
  rescue EOFError
    nothing
  end

  # A program that could not be executed is a failed launch; any other status is the program's affair.
  def check(status, request)
    raise Errno::ENOENT, request.command[0] if status.exitstatus == NOT_EXECUTED
  end

  def waited(request)
    launch = lambda do
      before = now
      pid = yield
      returned = now
      _, status = Process.wait2(pid)
      ended = now
      check(status, request)
      [before, returned, nil, *image(request, before), ended]
    end
    [launch, NOTHING]
  end

  def at_once(request)
    launch = lambda do
      before = now
      status = yield
      ended = now
      check(status, request)
      [before, nil, nil, *image(request, before), ended]
    end
    [launch, NOTHING]
  end

  def spawn_words(request, **options)
    variables, further = request.environment
    words = listed(request)
    waited(request) { Process.spawn(variables, *words, **options, **further) }
  end

  # The semicolon makes it a text for a shell, however plain the words are.
  def shell(request)
    variables, further = request.environment
    text = "#{Shellwords.join(request.command)};"
    waited(request) { Process.spawn(variables, text, further) }
  end

  def system_words(request)
    variables, further = request.environment
    words = listed(request)
    at_once(request) do
      raise Errno::ENOENT, request.command[0] if system(variables, *words, further).nil?

      Process.last_status
    end
  end

  def popen(request)
    variables, further = request.environment
    words = [variables, *listed(request), further]
    launch = lambda do
      before = now
      pipe = IO.popen(words)
      returned = now
      pipe.read
      pipe.close
      ended = now
      check(Process.last_status, request)
      [before, returned, nil, *image(request, before), ended]
    end
    [launch, NOTHING]
  end

  def fork_exec(request)
    variables, further = request.environment
    words = listed(request)
    waited(request) do
      Process.fork do
        exec(variables, *words, further)
      ensure
        exit!(NOT_EXECUTED)
      end
    end
  end
end
