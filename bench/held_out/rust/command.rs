//! /bin/true is run and waited for. Prints the median in nanoseconds.
use std::process::Command;
use std::time::Instant;

fn main() {
    let count: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let start = Instant::now();
        let status = Command::new("/bin/true").status().unwrap();
        times.push(start.elapsed().as_nanos());
        assert!(status.success());
    }
    let mut times = times.split_off(count / 5);
    times.sort();
    println!("{}", times[times.len() / 2]);
}
