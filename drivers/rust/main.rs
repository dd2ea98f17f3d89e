//! The driver of Rust: performs one cell's launches through the standard library (docs/protocol.md).
//!
//! It is started as `driver-rust NAME` and the words of the protocol, by clonometer-tether, which has checked the
//! descriptor, chosen the CPU and made descriptor 0 the file where targets leave their timestamps. As `driver-rust echo`
//! it is the other process of an exchange.

mod answer;
mod catalogue;
mod commands;
mod connections;
mod exchanges;
mod floor;
mod json;
mod measure;
mod request;
mod sys;
mod threads;
mod workload;

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::io::FromRawFd;
use std::process::exit;

use request::{Refused, Request};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["echo"] {
        // It ends when the driver's end of the pipe is closed, however that came about.
        let _ = io::copy(&mut io::stdin().lock(), &mut Unbuffered);
        return;
    }
    exit(serve(&words[0], &words[1..]));
}

/// Standard output as it is: that of the library waits for the end of a line.
struct Unbuffered;

impl Write for Unbuffered {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        sys::write(1, content)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn serve(name: &str, words: &[String]) -> i32 {
    let workloads = workload::all(name);
    if words[0] == "--describe" {
        println!("{}", catalogue::describe(name, &workloads));
        return 0;
    }
    let (blocks, status, reason) = match Request::read(&words[2..], &workloads).and_then(|r| measure::measure(&r)) {
        Ok(blocks) => (blocks, "ok", None),
        Err(Refused::Failed(reason)) => (Vec::new(), "failed", Some(reason)),
        Err(Refused::Skipped(reason)) => (Vec::new(), "skipped", Some(reason)),
    };
    // The tether has checked that it is a number of an open descriptor, which nothing else here owns.
    let mut out = unsafe { File::from_raw_fd(words[1].parse().unwrap_or(-1)) };
    if let Err(error) = out.write_all(&answer::encode(name, &blocks, status, reason.as_deref())) {
        eprintln!("driver-rust: the answer could not be sent: {error}");
        return 1;
    }
    i32::from(status == "failed")
}
