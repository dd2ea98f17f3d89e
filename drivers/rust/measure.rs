//! Blocks of launches: the columns, the heap and the facts.

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::request::{Refused, Request};
use crate::sys::{childrens_usage, now, own_usage, Usage};
use crate::workload::{Launcher, NULL_32, NULL_64};

const LATER_WARMUP: i64 = 3;
const FEWEST_SAMPLES: usize = 3;
const SETTLE: Duration = Duration::from_millis(1);
const OBJECT_BYTES: usize = 1024;
const EIO: i32 = 5;

/// `times` has the starts and a column a stage; `cpus` those before, after and in the task.
pub struct Block {
    pub workload: String,
    pub stages: &'static [&'static str],
    pub temperature: &'static str,
    pub times: Vec<Vec<i64>>,
    pub cpus: [i32; 3],
    pub errors: Vec<i32>,
    pub facts: Vec<(&'static str, String)>,
}

fn heap_of(size: i64) -> Result<Vec<Box<[u8]>>, Refused> {
    let free = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().trim_end_matches(" kB").parse::<i64>().ok().map(|kilobytes| kilobytes * 1024)
    });
    match free {
        Some(free) if size > free => {
            Err(Refused::Skipped(format!("parent_bytes={size}: more than the {free} free bytes")))
        }
        _ => Ok((0..size as usize / OBJECT_BYTES).map(|number| vec![number as u8 | 1; OBJECT_BYTES].into()).collect()),
    }
}

pub fn measure(request: &Request) -> Result<Vec<Block>, Refused> {
    let heap = heap_of(request.number("parent_bytes"))?;
    let not_ready = |error: io::Error| Refused::Failed(format!("it could not be prepared: {error}"));
    let mut launch = (request.workload.prepare)(request).map_err(not_ready)?;
    let mut blocks = Vec::new();
    if request.text("temperatures").contains("cold") {
        blocks.push(measure_block(request, "cold", 1, &mut launch));
    }
    let is_warm = request.text("temperatures").contains("warm");
    for number in 0..if is_warm { request.number("blocks") } else { 0 } {
        thread::sleep(SETTLE);
        let launches = request.number("warmup");
        warm_up(request, if number == 0 { launches } else { launches.min(LATER_WARMUP) }, &mut launch);
        blocks.push(measure_block(request, "warm", request.number("samples") as usize, &mut launch));
    }
    // The heap is read, so that it is held until here.
    let sum: usize = heap.iter().map(|object| usize::from(object[0])).sum();
    assert!(sum >= heap.len());
    Ok(blocks)
}

fn warm_up(request: &Request, launches: i64, launch: &mut Launcher) {
    let (limit, began) = (request.number("block_limit_ns"), now());
    let mut scrap = vec![0; request.workload.stages.len() + 1];
    for _ in 0..launches {
        if limit > 0 && now() - began > limit || launch(&mut scrap).is_err() {
            return;
        }
    }
}

fn measure_block(request: &Request, temperature: &'static str, rows: usize, launch: &mut Launcher) -> Block {
    let stages = request.workload.stages;
    // Made and written before anything is timed.
    let mut times = vec![vec![1_i64; rows]; stages.len() + 1];
    let mut errors = vec![-1; rows];
    let mut stamps = vec![NULL_64; stages.len() + 1];
    let limit = request.number("block_limit_ns");
    let created = tasks_created();
    let before = (own_usage(), childrens_usage());
    let began = now();
    let mut filled = 0;
    while filled < rows {
        stamps.fill(NULL_64);
        stamps[0] = now();
        let failed = launch(&mut stamps).err();
        if failed.is_some() {
            stamps[1..].fill(NULL_64);
        }
        errors[filled] = failed.map_or(0, |error| error.raw_os_error().unwrap_or(EIO));
        times[0][filled] = stamps[0] - began;
        for stage in 1..stamps.len() {
            times[stage][filled] = if stamps[stage] == NULL_64 { NULL_64 } else { stamps[stage] - stamps[0] };
        }
        filled += 1;
        if limit > 0 && filled >= FEWEST_SAMPLES && now() - began > limit {
            break;
        }
    }
    let wall = now() - began;
    let after = (own_usage(), childrens_usage());
    let created = tasks_created().zip(created).map_or(-1, |(after, before)| after - before);
    times.iter_mut().for_each(|column| column.truncate(filled));
    errors.truncate(filled);
    let cpu = request.pinned_to.unwrap_or(NULL_32);
    let is_stamped = stages.iter().position(|stage| *stage == "task_runs_ns").map_or(false, |at| times[at + 1][0] != NULL_64);
    let mut facts = facts_of(request, wall, began, before, after);
    facts.push(("tasks_created", created.to_string()));
    let cpus = [cpu, cpu, if is_stamped { cpu } else { NULL_32 }];
    Block { workload: request.workload.id.clone(), stages, temperature, times, cpus, errors, facts }
}

fn facts_of(
    request: &Request,
    wall: i64,
    began: i64,
    before: (Usage, Usage),
    after: (Usage, Usage),
) -> Vec<(&'static str, String)> {
    let (own, earlier) = (after.0, before.0);
    let numbers = [
        ("wall_ns", wall),
        ("start_ticks", began),
        ("minor_faults", own.minor_faults - earlier.minor_faults),
        ("major_faults", own.major_faults - earlier.major_faults),
        ("voluntary_switches", own.voluntary_switches - earlier.voluntary_switches),
        ("involuntary_switches", own.involuntary_switches - earlier.involuntary_switches),
        ("cpu_ns", own.cpu_ns() - earlier.cpu_ns()),
        ("children_cpu_ns", after.1.cpu_ns() - before.1.cpu_ns()),
    ];
    let mut facts: Vec<_> = numbers.into_iter().map(|(name, number)| (name, number.to_string())).collect();
    let frequency = frequency(request).map_or_else(String::new, |(cpu, mhz)| format!("\"{cpu}\":{mhz}"));
    facts.push(("effective_mhz", format!("{{{frequency}}}")));
    facts
}

/// How many tasks the whole machine has created since it started; none where the kernel does not count them.
fn tasks_created() -> Option<i64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let count = stat.lines().find_map(|line| line.strip_prefix("processes "))?.trim().parse().ok()?;
    (count > 0).then(|| count)
}

/// The effective MHz of the CPU that launched, by the tether; where it may be any, of none.
fn frequency(request: &Request) -> Option<(i32, f64)> {
    let cpu = request.pinned_to?;
    let tether = format!("{}/clonometer-tether", request.text("targets"));
    let printed = Command::new(tether).args(["--mhz", &cpu.to_string()]).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(printed.stdout).ok()?;
    let mhz = text.split_whitespace().nth(1)?.parse().ok()?;
    (mhz > 0.0).then(|| (cpu, mhz))
}
