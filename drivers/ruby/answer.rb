# frozen_string_literal: true

# The answer: a preamble, then frames of blocks (docs/protocol.md).

require "json"
require "zlib"

VERSION = "1"
# Type -> how it is packed, and what stands for null.
TYPES = { "i32" => ["l<*", -(1 << 31)], "i64" => ["q<*", -(1 << 63)] }.freeze

def encode(name, request, blocks, status, reason)
  ending = { status: status, reason: reason, errno: nil, blocks: blocks.size, driver: name, version: VERSION,
             linkage: nil }
  ["CLNMETER".b, [1, 0].pack("L<2"), *blocks.each_with_index.flat_map { |block, index| frames(request, block, index) },
   frame("DONE", JSON.generate(ending))].join
end

def frames(request, block, index)
  columns = block.columns.keys.map { |name| { name: name, type: type_of(name), unit: unit_of(name) } }
  head = { block: index, workload: request.workload.id, temperature: block.temperature, rows: block.rows,
           columns: columns }
  payload = block.columns.map { |name, values| packed(type_of(name), values) }.join
  tail = { status: "ok", reason: nil, rows: block.rows, crc32: Zlib.crc32(payload),
           outcomes: outcomes(block.columns.fetch("errno")), facts: block.facts }
  [frame("HEAD", JSON.generate(head)), frame("COLS", payload), frame("TAIL", JSON.generate(tail))]
end

def type_of(column)
  column.end_with?("_ns") ? "i64" : "i32"
end

def unit_of(column)
  return "ns" if column.end_with?("_ns")

  column.start_with?("cpu_") ? "cpu" : "errno"
end

def packed(type, values)
  directive, null = TYPES.fetch(type)
  values.map { |value| value.nil? ? null : value }.pack(directive)
end

def outcomes(errors)
  names = Errno.constants.to_h { |name| [Errno.const_get(name)::Errno, name.to_s] }
  counted = errors.tally.to_h { |number, count| [number.zero? ? "ok" : names.fetch(number, "errno #{number}"), count] }
  { "ok" => 0, **counted }
end

def frame(kind, payload)
  kind.b + [0, payload.bytesize].pack("L<Q<") + payload.b
end
