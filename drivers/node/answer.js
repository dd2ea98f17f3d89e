// The answer: a preamble, then frames of blocks (docs/protocol.md). Typed arrays are little-endian wherever Node.js runs.
"use strict";
const os = require("os");

const VERSION = "1";
// Of the columns that are kept as 64-bit and 32-bit integers.
const NULL_64 = -(2n ** 63n);
const NULL_32 = -(2 ** 31);

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

function crc32(content) {
  let crc = -1;
  for (const byte of content) crc = CRC_TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function encode(name, request, blocks, status, reason) {
  const head = Buffer.alloc(16);
  head.write("CLNMETER");
  head.writeUInt32LE(1, 8);
  const frames = blocks.flatMap((block, index) => blockFrames(request.workload, index, block));
  const ending = { status, reason, errno: null, blocks: blocks.length, driver: name, version: VERSION, linkage: null };
  return Buffer.concat([head, ...frames, frame("DONE", json(ending))]);
}

function blockFrames(workload, index, block) {
  const columns = Object.entries(block.columns).map(([name, values]) => ({
    name,
    type: values instanceof BigInt64Array ? "i64" : "i32",
    unit: unitOf(name),
  }));
  const payload = Buffer.concat(
    Object.values(block.columns).map((values) => Buffer.from(values.buffer, values.byteOffset, values.byteLength)),
  );
  const outcomes = { ok: 0 };
  for (const number of block.columns.errno) {
    const key = number === 0 ? "ok" : errorName(number);
    outcomes[key] = (outcomes[key] || 0) + 1;
  }
  const { rows, temperature, facts } = block;
  return [
    frame("HEAD", json({ block: index, workload: workload.id, temperature, rows, columns })),
    frame("COLS", payload),
    frame("TAIL", json({ status: "ok", reason: null, rows, crc32: crc32(payload), outcomes, facts })),
  ];
}

function errorName(number) {
  const known = Object.entries(os.constants.errno).find(([, value]) => value === number);
  return known ? known[0] : `errno ${number}`;
}

function unitOf(column) {
  if (column.endsWith("_ns")) return "ns";
  return column.startsWith("cpu_") ? "cpu" : "errno";
}

const json = (content) => Buffer.from(JSON.stringify(content));

function frame(kind, payload) {
  const head = Buffer.alloc(16);
  head.write(kind);
  head.writeBigUInt64LE(BigInt(payload.length), 8);
  return Buffer.concat([head, payload]);
}

module.exports = { NULL_32, NULL_64, VERSION, encode, unitOf };
