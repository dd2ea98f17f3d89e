//! What is wanted, and how Rust does it.

use crate::request::Request;
use crate::{commands, connections, exchanges, floor, threads};
use std::io;

pub const NULL_64: i64 = i64::MIN;
pub const NULL_32: i32 = i32::MIN;

/// Makes one launch and stores when it began and its stages, which are null before.
pub type Launcher<'a> = Box<dyn FnMut(&mut [i64]) -> io::Result<()> + 'a>;

pub struct Workload {
    pub id: String,
    pub family: &'static str,
    pub summary: &'static str,
    pub stages: &'static [&'static str],
    pub axes: Vec<&'static str>,
    pub nulls: &'static [(&'static str, &'static str)],
    pub contains: Option<&'static str>,
    /// What is called.
    pub api: &'static str,
    /// The line of the book of launch paths that it is.
    pub path: Option<&'static str>,
    /// What it starts first ends when this is dropped.
    pub prepare: for<'a> fn(&'a Request<'a>) -> io::Result<Launcher<'a>>,
}

/// All workloads: the name of the driver, a dot, and what is wanted.
pub fn all(name: &str) -> Vec<Workload> {
    let groups = [
        threads::workloads(),
        commands::workloads(),
        exchanges::workloads(),
        connections::workloads(),
        floor::workloads(),
    ];
    let mut all: Vec<Workload> = groups.into_iter().flatten().collect();
    for each in &mut all {
        each.id = format!("{name}.{}", each.id);
        each.axes.splice(0..0, ["placement", "parent_bytes"]);
    }
    all
}
