//! What the runner asks for: the measuring keys and the axes, each checked.

use std::collections::HashMap;
use std::fs;

use crate::workload::Workload;

/// Why there is no answer with blocks: it cannot be meant, or this machine cannot do it.
pub enum Refused {
    Failed(String),
    Skipped(String),
}

/// What an axis is, as the probe has it (docs/protocol.md): of a number its type and its least value.
pub enum Kind {
    Number(&'static str, i64),
    Choice(&'static [&'static str]),
    Text(&'static str),
}

pub struct Axis {
    pub name: &'static str,
    pub kind: Kind,
    pub summary: &'static str,
}

const fn axis(name: &'static str, kind: Kind, summary: &'static str) -> Axis {
    Axis { name, kind, summary }
}

pub const AXES: [Axis; 9] = [
    axis("placement", Kind::Choice(&["pinned", "free"]), "parent and child on one CPU, or where the scheduler puts them"),
    axis("stages", Kind::Choice(&["all", "parent"]), "all stages, or the parent's stamps only (the new task stamps nothing)"),
    axis("parent_bytes", Kind::Number("bytes", 0), "objects of the runtime that the parent holds before it launches, in bytes"),
    axis("env_bytes", Kind::Number("bytes", 0), "size of the new program's environment, filled with variables of 150 bytes; 0: unchanged"),
    axis("message_bytes", Kind::Number("bytes", 1), "size of a message"),
    axis("program", Kind::Text("target_static"), "what is started: one of our targets, or any path; arguments follow after colons"),
    axis("call_spin_ns", Kind::Number("count", 0), "known answer: the parent spins this long after its call, before its stamp"),
    axis("stamp_spin_ns", Kind::Number("count", 0), "known answer: the new task spins this long before its stamp"),
    axis("child_spin_ns", Kind::Number("count", 0), "known answer: the new task spins this long before it exits"),
];
const COUNTS: [(&str, i64); 5] = [("samples", 200), ("blocks", 3), ("warmup", 20), ("block_limit_ns", 0), ("cpu", -1)];
const TEXTS: [(&str, &str); 4] = [("temperatures", "warm"), ("clock", "monotonic"), ("targets", "."), ("workload", "")];
const MOST: [(&str, i64); 3] = [("samples", 10_000_000), ("blocks", 10_000), ("message_bytes", 1 << 30)];
const VARIABLE: usize = 150;

pub struct Request<'a> {
    pub workload: &'a Workload,
    pub pinned_to: Option<i32>,
    numbers: HashMap<&'static str, i64>,
    texts: HashMap<&'static str, String>,
}

impl<'a> Request<'a> {
    pub fn read(words: &[String], workloads: &'a [Workload]) -> Result<Self, Refused> {
        let mut request = Request {
            workload: &workloads[0],
            pinned_to: None,
            numbers: COUNTS.into_iter().collect(),
            texts: TEXTS.into_iter().map(|(key, value)| (key, value.to_string())).collect(),
        };
        for Axis { name, kind, .. } in &AXES {
            match kind {
                Kind::Number(_, least) => drop(request.numbers.insert(name, *least)),
                Kind::Choice(values) => drop(request.texts.insert(name, values[0].to_string())),
                Kind::Text(value) => drop(request.texts.insert(name, value.to_string())),
            }
        }
        let mut given = Vec::new();
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| failed(format!("'{word}' is not key=value")))?;
            request.set(key, value)?;
            given.push(key);
        }
        request.check(&given, workloads)?;
        Ok(request)
    }

    pub fn number(&self, key: &str) -> i64 {
        self.numbers[key]
    }

    pub fn text(&self, key: &str) -> &str {
        &self.texts[key]
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Refused> {
        if let Some(number) = self.numbers.get_mut(key) {
            let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
            let complaint = || failed(format!("{key}={value}: not a whole number from 0"));
            *number = value.parse().ok().filter(|_| is_number).ok_or_else(complaint)?;
            return Ok(());
        }
        let known = AXES.iter().find(|axis| axis.name == key).map(|axis| &axis.kind);
        match known {
            Some(Kind::Choice(values)) if !values.contains(&value) => {
                return Err(failed(format!("{key} has no value '{value}'")));
            }
            _ => {}
        }
        *self.texts.get_mut(key).ok_or_else(|| failed(format!("unknown key '{key}'")))? = value.to_string();
        Ok(())
    }

    fn check(&mut self, given: &[&str], workloads: &'a [Workload]) -> Result<(), Refused> {
        let id = self.text("workload");
        let complaint = || failed(format!("there is no workload '{id}'"));
        let workload = workloads.iter().find(|each| each.id == id).ok_or_else(complaint)?;
        for Axis { name, .. } in &AXES {
            if given.contains(name) && !workload.axes.contains(name) {
                return Err(failed(format!("{} has no axis '{name}'", workload.id)));
            }
        }
        let temperatures = self.text("temperatures");
        if !["cold", "warm", "cold,warm"].contains(&temperatures) {
            return Err(failed(format!("temperatures={temperatures}: must be cold, warm or cold,warm")));
        }
        if self.text("clock") != "monotonic" {
            return Err(failed(format!("clock={}: Rust reads the monotonic clock only", self.text("clock"))));
        }
        for (key, most) in MOST {
            if !(1..=most).contains(&self.number(key)) {
                return Err(failed(format!("{key}={}: from 1 to {most}", self.number(key))));
            }
        }
        self.workload = workload;
        if self.text("placement") == "pinned" {
            let wanted = self.number("cpu");
            self.pinned_to = only_cpu().filter(|cpu| wanted < 0 || wanted == i64::from(*cpu));
            if self.pinned_to.is_none() {
                return Err(Refused::Skipped(format!("CPU {wanted} cannot be used")));
            }
        }
        Ok(())
    }

    pub fn is_target(&self) -> bool {
        !self.text("program").split(':').next().unwrap_or("").contains('/')
    }

    /// The words of the program that is started. Ours are told where to leave their timestamps.
    pub fn command(&self) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut letters = self.text("program").chars();
        while let Some(letter) = letters.next() {
            match letter {
                ':' => words.push(String::new()),
                '\\' => words.last_mut().unwrap().extend(letters.next()),
                _ => words.last_mut().unwrap().push(letter),
            }
        }
        if self.is_target() {
            words[0] = format!("{}/{}", self.text("targets"), words[0]);
            words.insert(1, "m0:0".to_string());
        }
        words
    }

    /// The environment of the program; None where it is our own.
    pub fn environment(&self) -> Option<Vec<(String, String)>> {
        let size = self.number("env_bytes") as usize;
        let variable = |number: usize| {
            let name = format!("CLONOMETER_FILL{number:06}");
            let rest = VARIABLE - name.len() - 2;
            (name, "x".repeat(rest))
        };
        (size > 0).then(|| (0..(size + VARIABLE - 1) / VARIABLE).map(variable).collect())
    }
}

fn failed(reason: String) -> Refused {
    Refused::Failed(reason)
}

/// The one CPU that this process may use, as the tether chose; None where it may use several.
fn only_cpu() -> Option<i32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    line.trim().parse().ok()
}
