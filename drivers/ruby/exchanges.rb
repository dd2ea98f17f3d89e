# frozen_string_literal: true

require_relative "measure"

# Data handed over and back: to another thread by queues, to another process by pipes.
#
# Timed: from before the data is handed over until all of it has come back. Outside: making the data, starting the other
# task. A thread gets a reference, so that the size costs nothing; to a process the bytes are copied, both ways.
module Exchanges
  STAGES = %w[call_returns_ns result_ns].freeze

  module_function

  def workloads
    {
      "exchange_thread" => exchange("Thread::Queue to a thread and back: a String of message_bytes, by reference",
                                    "Thread::Queue", method(:threads)),
      "exchange_process" => exchange("IO.pipe to a process and back: a String of message_bytes, copied", "IO.pipe",
                                     method(:processes))
    }
  end

  def exchange(summary, api, prepare)
    Workload.new(family: "runtime_data", summary: summary, stages: STAGES, prepare: prepare,
                 further_axes: ["message_bytes"], contains: "answer", api: api)
  end

  def threads(request)
    requests = Thread::Queue.new
    answers = Thread::Queue.new
    data = "x" * request["message_bytes"]
    other = Thread.new do
      while (message = requests.pop)
        answers.push(message)
      end
    end
    launch = lambda do
      before = now
      requests.push(data)
      returned = now
      answers.pop
      [before, returned, now]
    end
    [launch, -> { requests.close && other.join }]
  end

  def processes(request)
    size = request["message_bytes"]
    theirs, to = pipe
    from, back = pipe
    pid = Process.fork do
      [to, from].each(&:close)
      echo(theirs, back, size)
    end
    [theirs, back].each(&:close)
    data = "x" * size
    # It has started when it has answered once.
    exchange_data(to, from, data)
    [-> { exchange_data(to, from, data) }, -> { [to, from].each(&:close) && Process.wait(pid) }]
  end

  def pipe
    IO.pipe(binmode: true).each { |end_of_pipe| end_of_pipe.sync = true }
  end

  def exchange_data(to, from, data)
    before = now
    to.write(data)
    returned = now
    from.read(data.bytesize)
    [before, returned, now]
  end

  # Ends when the driver does, however that ends: nobody else holds the pipe's other end.
  def echo(reading, writing, size)
    while (message = reading.read(size))
      writing.write(message)
    end
  rescue SystemCallError
    nil
  ensure
    exit!(0)
  end
end
