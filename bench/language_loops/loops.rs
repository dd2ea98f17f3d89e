//! The loop that anyone can check, of Rust: `loops WHAT LAUNCHES` prints the ns per launch of 30 parts.

use std::time::Instant;

mod launches;

const PARTS: usize = 30;
const WARMUP: usize = 20;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let launch = launches::named(&words[1]);
    let each = words[2].parse::<usize>().unwrap() / PARTS;
    (0..WARMUP).for_each(|_| launch());
    for _ in 0..PARTS {
        let began = Instant::now();
        (0..each).for_each(|_| launch());
        println!("{}", began.elapsed().as_nanos() as f64 / each as f64);
    }
}
