//! A function is called in a thread that waits for work, and its answer comes back. Prints the median in nanoseconds.
use std::sync::mpsc::channel;
use std::time::Instant;

type Job = Box<dyn FnOnce() -> usize + Send>;

fn main() {
    let count: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let (jobs, work) = channel::<Job>();
    let (answers, results) = channel();
    let worker = std::thread::spawn(move || {
        for job in work {
            answers.send(job()).unwrap();
        }
    });
    let mut times = Vec::with_capacity(count);
    for i in 0..count {
        let start = Instant::now();
        jobs.send(Box::new(move || i + 1)).unwrap();
        let answer = results.recv().unwrap();
        times.push(start.elapsed().as_nanos());
        assert_eq!(answer, i + 1);
    }
    drop(jobs);
    worker.join().unwrap();
    let mut times = times.split_off(count / 5);
    times.sort();
    println!("{}", times[times.len() / 2]);
}
