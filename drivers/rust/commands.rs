//! A command, with options that change how the kernel is asked for it (the book of launch paths).
//!
//! Timed: from before spawn until it has returned, until the new program's entry, its main and its main's end (of our
//! targets, which leave their timestamps in the file of descriptor 0), until wait has returned. Outside: making the
//! Command.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::os::unix::io::FromRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::request::Request;
use crate::sys::{now, user};
use crate::workload::{Launcher, Workload};

const ENOENT: i32 = 2;
const NOT_EXECUTED: i32 = 127;
const STAMPS_AT: u64 = 16;

pub fn workloads() -> Vec<Workload> {
    vec![
        command("command", "Command::spawn", "command", |r| launcher(r, |_| {})),
        command("command_pipes", "Command::spawn with its output in a pipe", "stdio", |r| {
            launcher(r, |c| {
                c.stdout(Stdio::piped());
            })
        }),
        command("command_uid", "Command::uid, spawn", "uid", |r| {
            launcher(r, |c| {
                c.uid(user());
            })
        }),
        command("command_pre_exec", "CommandExt::pre_exec, spawn", "pre_exec", |r| {
            launcher(r, |c| {
                unsafe { c.pre_exec(|| Ok(())) };
            })
        }),
        command("command_current_dir", "Command::current_dir, spawn", "current_dir", |r| {
            launcher(r, |c| {
                c.current_dir("/");
            })
        }),
    ]
}

fn command(
    id: &str,
    api: &'static str,
    path: &'static str,
    prepare: for<'a> fn(&'a Request<'a>) -> io::Result<Launcher<'a>>,
) -> Workload {
    Workload {
        id: id.to_string(),
        family: "runtime_command",
        summary: api,
        stages: &["call_returns_ns", "task_runs_ns", "image_entered_ns", "image_runs_ns", "image_ends_ns", "reaped_ns"],
        axes: vec!["program", "env_bytes"],
        nulls: &[("task_runs_ns", "before the exec the child runs only the runtime's code")],
        contains: Some("child_life"),
        api,
        path: Some(path),
        prepare,
    }
}

fn launcher<'a>(request: &'a Request<'a>, option: fn(&mut Command)) -> io::Result<Launcher<'a>> {
    let (words, environment) = (request.command(), request.environment());
    // It stays open: others own descriptor 0 too.
    let page = ManuallyDrop::new(unsafe { File::from_raw_fd(0) });
    Ok(Box::new(move |stamps| {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        if let Some(variables) = &environment {
            command.env_clear().envs(variables.iter().map(|(name, value)| (name, value)));
        }
        option(&mut command);
        stamps[0] = now();
        let child = command.spawn()?;
        stamps[1] = now();
        let status = child.wait_with_output()?.status;
        stamps[5 + 1] = now();
        // What a program answers is its own affair.
        if status.code() == Some(NOT_EXECUTED) {
            return Err(io::Error::from_raw_os_error(ENOENT));
        }
        if request.is_target() {
            store_image(stamps, &page);
        }
        Ok(())
    }))
}

/// Stores the timestamps that the program left, unless it left none since the launch began.
fn store_image(stamps: &mut [i64], page: &File) {
    let mut left = [0_u8; 24];
    if page.read_exact_at(&mut left, STAMPS_AT).is_err() {
        return;
    }
    let stamp = |index: usize| i64::from_ne_bytes(left[8 * index..8 * index + 8].try_into().unwrap());
    if stamp(0) >= stamps[0] {
        (0..3).for_each(|index| stamps[3 + index] = stamp(index));
    }
}
