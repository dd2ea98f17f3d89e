//! What this driver says of itself and of its workloads.

use crate::answer::VERSION;
use crate::json;
use crate::request::{Axis, Kind, AXES};
use crate::sys::now;
use crate::workload::Workload;

const QUANTITIES: [(&str, &str); 7] = [
    ("call_returns", "until the call returns in the parent"),
    ("task_runs", "until the first instruction of the new task's own code"),
    ("image_entered", "until the entry of the new program's file, before its C library has set itself up"),
    ("image_runs", "until the first line of the new program's main"),
    ("image_ends", "until the last line of the new program's main"),
    ("reaped", "until wait or join has returned"),
    ("result", "until the caller has the result"),
];
const DETAILS: [&str; 2] = ["image_entered", "image_ends"];

pub fn describe(name: &str, workloads: &[Workload]) -> String {
    let runtime = json::object([
        ("name", json::text("Rust")),
        ("flags", json::texts(["-C opt-level=2"])),
        ("clock", json::text("clock_gettime(CLOCK_MONOTONIC)")),
        ("collector", "null".to_string()),
    ]);
    let driver = json::object([
        ("name", json::text(name)),
        ("version", json::text(VERSION)),
        ("language", json::text("Rust")),
        ("linkage", "null".to_string()),
        ("protocol", "1".to_string()),
        ("clocks", json::texts(["monotonic"])),
        ("clock_now_ns", now().to_string()),
        ("runtime", runtime),
    ]);
    json::object([
        ("driver", driver),
        ("axes", json::object(AXES.iter().map(|axis| (axis.name, describe_axis(axis))))),
        ("quantities", json::object(QUANTITIES.iter().map(|(stage, what)| (format!("{stage}_ns"), quantity(stage, what))))),
        ("workloads", json::array(workloads.iter().map(entry))),
        ("lacks", "[]".to_string()),
    ])
}

fn describe_axis(axis: &Axis) -> String {
    let mut keys = match axis.kind {
        Kind::Number(kind, least) => {
            vec![("type", json::text(kind)), ("default", least.to_string()), ("minimum", least.to_string())]
        }
        Kind::Choice(values) => {
            vec![("type", json::text("choice")), ("default", json::text(values[0])), ("values", json::texts(values))]
        }
        Kind::Text(value) => vec![("type", json::text("text")), ("default", json::text(value))],
    };
    keys.push(("summary", json::text(axis.summary)));
    json::object(keys)
}

fn quantity(stage: &str, summary: &str) -> String {
    let mut keys = vec![
        ("unit", json::text("ns")),
        ("stage", json::text(stage)),
        ("summary", json::text(summary)),
        ("signed", "false".to_string()),
        ("detail", DETAILS.contains(&stage).to_string()),
    ];
    if stage == "image_runs" {
        keys.push(("point", json::text("main")));
    }
    json::object(keys)
}

fn entry(workload: &Workload) -> String {
    let is_null = |stage: &&&str| workload.nulls.iter().any(|(name, _)| name == *stage);
    json::object([
        ("id", json::text(&workload.id)),
        ("family", json::text(workload.family)),
        ("summary", json::text(workload.summary)),
        ("axes", json::texts(&workload.axes)),
        ("temperatures", json::texts(["cold", "warm"])),
        ("quantities", json::texts(workload.stages.iter().filter(|stage| !is_null(stage)))),
        ("nulls", json::object(workload.nulls.iter().map(|(name, why)| (*name, json::text(why))))),
        ("call_returns_contains", json::optional(workload.contains)),
        ("available", "true".to_string()),
        ("reason", "null".to_string()),
        ("api", json::text(workload.api)),
        ("launch_path", json::optional(workload.path)),
    ])
}
