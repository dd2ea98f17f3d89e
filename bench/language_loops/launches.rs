//! A thread and a command.

use std::process::Command;
use std::thread;

pub fn named(what: &str) -> fn() {
    match what {
        "os_thread" => os_thread,
        "command" => command,
        _ => panic!("there is no {what}"),
    }
}

fn os_thread() {
    thread::Builder::new().spawn(|| ()).unwrap().join().unwrap();
}

fn command() {
    Command::new("/bin/true").spawn().unwrap().wait().unwrap();
}
