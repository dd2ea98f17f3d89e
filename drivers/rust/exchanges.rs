//! Data handed over and back: to a thread, which is given it, and to a process over pipes, copied.
//!
//! Timed: from before the data is handed over until it has come back whole. Outside: making the data, starting the other
//! one.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use crate::request::Request;
use crate::sys::now;
use crate::workload::{Launcher, Workload};

/// What both pipes surely hold: whoever sends more must read at the same time.
const HELD_BYTES: usize = 64 << 10;

pub fn workloads() -> Vec<Workload> {
    vec![
        Workload {
            id: "exchange_thread".to_string(),
            family: "runtime_data",
            summary: "a Vec of message_bytes over a channel to a thread and back, moved",
            stages: &["call_returns_ns", "result_ns"],
            axes: vec!["message_bytes"],
            nulls: &[],
            contains: Some("answer"),
            api: "mpsc::channel",
            path: None,
            prepare: with_thread,
        },
        Workload {
            id: "exchange_process".to_string(),
            family: "runtime_data",
            summary: "message_bytes over pipes to a process and back, copied",
            stages: &["call_returns_ns", "result_ns"],
            axes: vec!["message_bytes"],
            nulls: &[("call_returns_ns", "large data is sent while the caller reads")],
            contains: Some("answer"),
            api: "Stdio::piped",
            path: None,
            prepare: with_process,
        },
    ]
}

fn with_thread<'a>(request: &'a Request<'a>) -> io::Result<Launcher<'a>> {
    let (to, requests) = channel::<Vec<u8>>();
    let (answer, from) = channel();
    thread::Builder::new().spawn(move || requests.iter().try_for_each(|message| answer.send(message)))?;
    let mut data = vec![b'x'; request.number("message_bytes") as usize];
    Ok(Box::new(move |stamps| {
        let lost = || io::Error::from(io::ErrorKind::BrokenPipe);
        let message = std::mem::take(&mut data);
        stamps[0] = now();
        to.send(message).map_err(|_| lost())?;
        stamps[1] = now();
        data = from.recv().map_err(|_| lost())?;
        stamps[2] = now();
        Ok(())
    }))
}

/// Ends and waits for the other process when it is dropped: its input then ends.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn with_process<'a>(request: &'a Request<'a>) -> io::Result<Launcher<'a>> {
    let program = std::env::current_exe()?;
    let mut other = Other(Command::new(program).arg("echo").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
    let data = vec![b'x'; request.number("message_bytes") as usize];
    let mut answer = vec![0; data.len()];
    let mut launch = move |stamps: &mut [i64]| {
        let Other(child) = &mut other;
        let (to, from) = (child.stdin.as_mut().unwrap(), child.stdout.as_mut().unwrap());
        stamps[0] = now();
        if data.len() <= HELD_BYTES {
            to.write_all(&data)?;
            from.read_exact(&mut answer)?;
        } else {
            thread::scope(|scope| {
                let sent = scope.spawn(|| to.write_all(&data));
                from.read_exact(&mut answer)?;
                sent.join().unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::Other)))
            })?;
        }
        stamps[2] = now();
        Ok(())
    };
    // One round trip first: the process has started when it answers.
    launch(&mut [0; 3])?;
    Ok(Box::new(launch))
}
