//! A thread is started and joined. Prints the median in nanoseconds.
use std::time::Instant;

fn main() {
    let count: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut times = Vec::with_capacity(count);
    for i in 0..count {
        let start = Instant::now();
        let handle = std::thread::spawn(move || i + 1);
        let answer = handle.join().unwrap();
        times.push(start.elapsed().as_nanos());
        assert_eq!(answer, i + 1);
    }
    let mut times = times.split_off(count / 5);
    times.sort();
    println!("{}", times[times.len() / 2]);
}
