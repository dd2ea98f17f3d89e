//! Threads of control, and a function run by a thread that waits for work.
//!
//! Timed: from before spawn, or the sending of the function, until that has returned, until the first line there, until
//! join has returned or the result is here. Outside: storing the sample. A cold launch of the pool contains its thread.

use std::io;
use std::sync::mpsc::{channel, Sender};
use std::thread;

use crate::request::Request;
use crate::sys::{now, spin};
use crate::workload::{Launcher, Workload, NULL_64};

pub fn workloads() -> Vec<Workload> {
    vec![
        Workload {
            id: "os_thread".to_string(),
            family: "runtime_thread",
            summary: "std::thread::Builder::spawn, its closure returns, join()",
            stages: &["call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"],
            axes: vec!["stages", "call_spin_ns", "stamp_spin_ns", "child_spin_ns"],
            nulls: &[("image_runs_ns", "no new program is started")],
            contains: None,
            api: "std::thread::spawn",
            path: Some("thread"),
            prepare: spawn,
        },
        Workload {
            id: "thread_pool".to_string(),
            family: "runtime_call",
            summary: "a closure sent over a channel to a waiting thread",
            stages: &["call_returns_ns", "task_runs_ns", "result_ns"],
            axes: vec![],
            nulls: &[],
            contains: Some("answer"),
            api: "mpsc::Sender::send",
            path: None,
            prepare: pool,
        },
    ]
}

fn spawn<'a>(request: &'a Request<'a>) -> io::Result<Launcher<'a>> {
    let is_stamped = request.text("stages") == "all";
    let [call, before, child] = ["call_spin_ns", "stamp_spin_ns", "child_spin_ns"].map(|key| request.number(key));
    let run = move || {
        if before > 0 {
            spin(before);
        }
        let ran = if is_stamped { now() } else { NULL_64 };
        if child > 0 {
            spin(child);
        }
        ran
    };
    Ok(Box::new(move |stamps| {
        stamps[0] = now();
        let thread = thread::Builder::new().spawn(run)?;
        if call > 0 {
            spin(call);
        }
        stamps[1] = now();
        stamps[2] = thread.join().unwrap_or(NULL_64);
        stamps[4] = now();
        Ok(())
    }))
}

type Job = Box<dyn FnOnce() -> i64 + Send>;

fn pool<'a>(_: &'a Request<'a>) -> io::Result<Launcher<'a>> {
    let (answer, answers) = channel();
    let mut work: Option<Sender<Job>> = None;
    Ok(Box::new(move |stamps| {
        stamps[0] = now();
        if work.is_none() {
            let (sender, receiver) = channel::<Job>();
            let answer = answer.clone();
            // It ends when nobody can send any more.
            thread::Builder::new().spawn(move || receiver.iter().try_for_each(|job| answer.send(job())))?;
            work = Some(sender);
        }
        let lost = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        work.as_ref().unwrap().send(Box::new(now)).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        stamps[1] = now();
        stamps[2] = answers.recv().map_err(lost)?;
        stamps[3] = now();
        Ok(())
    }))
}
