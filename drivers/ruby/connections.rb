# frozen_string_literal: true

require "socket"
require_relative "measure"

# A server's part of a connection over loopback: it is accepted, its request read, answered, and it is closed.
#
# Timed: from before accept until it has returned, and until the connection is closed. Outside: the client's part, in the
# same thread: it has connected and sent its request before, and reads the answer to its end afterwards. Nobody waits.
module Connections
  # As serve.* has them by default.
  REQUEST = "x" * 128
  ANSWER = "x" * 1024

  module_function

  def workloads
    {
      "connection" => Workload.new(
        family: "runtime_data", stages: %w[call_returns_ns result_ns], api: "TCPServer#accept",
        summary: "TCPServer#accept, readpartial of 128 bytes, write of 1 KiB, close; the client's part is outside",
        prepare: ->(_) { prepare }
      )
    }
  end

  def prepare
    listening = TCPServer.new("127.0.0.1", 0)
    port = listening.addr[1]
    [-> { serve(listening, port) }, -> { listening.close }]
  end

  def serve(listening, port)
    client = TCPSocket.new("127.0.0.1", port)
    # Its end is a reset, so that its port is soon free again: many connections follow.
    client.setsockopt(Socket::Option.linger(true, 0))
    client.write(REQUEST)
    before = now
    connection = listening.accept
    returned = now
    connection.readpartial(REQUEST.bytesize)
    connection.write(ANSWER)
    connection.close
    ended = now
    client.read
    client.close
    [before, returned, ended]
  end
end
