//! The answer: a preamble, then frames of blocks (docs/protocol.md).

use crate::json;
use crate::measure::Block;

pub const VERSION: &str = "1";
const ERRORS: [(i32, &str); 8] = [
    (1, "EPERM"),
    (2, "ENOENT"),
    (7, "E2BIG"),
    (11, "EAGAIN"),
    (12, "ENOMEM"),
    (13, "EACCES"),
    (22, "EINVAL"),
    (24, "EMFILE"),
];

pub fn encode(name: &str, blocks: &[Block], status: &str, reason: Option<&str>) -> Vec<u8> {
    let mut out = b"CLNMETER\x01\0\0\0\0\0\0\0".to_vec();
    for (index, block) in blocks.iter().enumerate() {
        encode_block(&mut out, block, index);
    }
    let ending = json::object([
        ("status", json::text(status)),
        ("reason", json::optional(reason)),
        ("errno", "null".to_string()),
        ("blocks", blocks.len().to_string()),
        ("driver", json::text(name)),
        ("version", json::text(VERSION)),
        ("linkage", "null".to_string()),
    ]);
    frame(&mut out, b"DONE", ending.as_bytes());
    out
}

fn encode_block(out: &mut Vec<u8>, block: &Block, index: usize) {
    let rows = block.errors.len();
    let mut columns = Vec::new();
    let mut payload = Vec::new();
    for (name, values) in ["start_ns"].iter().chain(block.stages).zip(&block.times) {
        columns.push(column(name, "i64", "ns"));
        values.iter().for_each(|value| payload.extend(value.to_le_bytes()));
    }
    for (name, value) in ["cpu_before", "cpu_after", "cpu_child"].iter().zip(block.cpus) {
        columns.push(column(name, "i32", "cpu"));
        (0..rows).for_each(|_| payload.extend(value.to_le_bytes()));
    }
    columns.push(column("errno", "i32", "errno"));
    block.errors.iter().for_each(|value| payload.extend(value.to_le_bytes()));
    let head = json::object([
        ("block", index.to_string()),
        ("workload", json::text(&block.workload)),
        ("temperature", json::text(block.temperature)),
        ("rows", rows.to_string()),
        ("columns", json::array(columns)),
    ]);
    let tail = json::object([
        ("status", json::text("ok")),
        ("reason", "null".to_string()),
        ("rows", rows.to_string()),
        ("crc32", crc32(&payload).to_string()),
        ("outcomes", outcomes(&block.errors)),
        ("facts", json::object(block.facts.iter().map(|(name, value)| (*name, value.clone())))),
    ]);
    frame(out, b"HEAD", head.as_bytes());
    frame(out, b"COLS", &payload);
    frame(out, b"TAIL", tail.as_bytes());
}

fn column(name: &str, kind: &str, unit: &str) -> String {
    json::object([("name", json::text(name)), ("type", json::text(kind)), ("unit", json::text(unit))])
}

fn outcomes(errors: &[i32]) -> String {
    let mut counts = std::collections::BTreeMap::from([(0, 0)]);
    errors.iter().for_each(|number| *counts.entry(*number).or_insert(0) += 1);
    json::object(counts.into_iter().map(|(number, times): (i32, i32)| {
        let known = ERRORS.iter().find(|(value, _)| *value == number).map(|(_, name)| name.to_string());
        let name = if number == 0 { "ok".to_string() } else { known.unwrap_or(format!("errno {number}")) };
        (name, times.to_string())
    }))
}

fn frame(out: &mut Vec<u8>, kind: &[u8; 4], payload: &[u8]) {
    out.extend(kind);
    out.extend([0; 4]);
    out.extend((payload.len() as u64).to_le_bytes());
    out.extend(payload);
}

/// CRC-32 of IEEE 802.3, as in zlib.
fn crc32(content: &[u8]) -> u32 {
    let step = |value: u32| (0..8).fold(value, |value, _| if value & 1 != 0 { (value >> 1) ^ 0xedb8_8320 } else { value >> 1 });
    let table: Vec<u32> = (0..256).map(step).collect();
    !content.iter().fold(!0, |crc, byte| table[((crc ^ u32::from(*byte)) & 0xff) as usize] ^ (crc >> 8))
}
