// As heap.py.
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

fn start(api: &str) -> std::process::Child {
    let mut command = Command::new("/bin/true");
    if api == "pre_exec" {
        unsafe { command.pre_exec(|| Ok(())) };
    }
    command.spawn().expect("it is there")
}

fn main() {
    let size: usize = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("a number of bytes");
    let mut heap: Vec<Vec<u8>> = (0..size / 1024).map(|each| vec![each as u8 | 1; 1008]).collect();
    println!("ready");
    for line in std::io::stdin().lines() {
        let word = line.expect("a line");
        if word == "write" {
            heap.iter_mut().for_each(|each| each[0] = each[0].wrapping_add(1));
            println!("written");
            continue;
        }
        let began = Instant::now();
        let mut child = start(&word);
        let returned = began.elapsed();
        child.wait().expect("it ends");
        println!("{} {}", returned.as_nanos(), began.elapsed().as_nanos());
    }
}
