# frozen_string_literal: true

# The driver of Ruby: performs the launches of one cell through the standard library (docs/protocol.md).
#
# It is started as `ruby driver.rb NAME` and the words of the protocol, by clonometer-tether, which has checked the
# descriptor, chosen the CPU and made descriptor 0 the file where our programs leave their timestamps.

require "json"
require_relative "answer"
require_relative "catalogue"
require_relative "measure"
require_relative "request"
require_relative "workloads"

# What happened to the request: its blocks, its status and its reason.
def perform(request, keys)
  request.read(keys)
  [Measure.new(request).blocks, "ok", nil]
rescue Refusal => error
  [[], "failed", error.message]
rescue Skip => error
  [[], "skipped", error.message]
rescue NoMemoryError
  [[], "skipped", "no memory for that many samples or so large a heap"]
end

def main(name, words)
  workloads = all_workloads(name)
  if words == ["--describe"]
    $stdout.write(JSON.generate(describe(name, workloads)))
    return 0
  end
  request = Request.new(workloads)
  blocks, status, reason = perform(request, words.drop(2))
  begin
    answer = IO.for_fd(Integer(words[1], 10), "wb", autoclose: false)
    answer.sync = true
    answer.write(encode(name, request, blocks, status, reason))
  rescue SystemCallError => error
    warn "driver-ruby: the answer could not be sent: #{error.message}"
    return 1
  end
  status == "failed" ? 1 : 0
end

# Ractors are marked as experimental, which Ruby would say on standard error.
Warning[:experimental] = false
status = main(ARGV[0], ARGV.drop(1))
$stdout.flush
$stderr.flush
# Every workload has tidied up: what the interpreter does at its end is of no use.
exit!(status)
