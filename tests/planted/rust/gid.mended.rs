// Runs a tool as its owner.
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::time::Instant;

fn launch(number: usize) {
    let mine = std::fs::metadata("/proc/self").unwrap();
    let mut tool = Command::new("setpriv");
    tool.args([&format!("--regid={}", mine.gid()), "--keep-groups", "/bin/true", &number.to_string()]);
    assert!(tool.status().unwrap().success());
}

fn main() {
    let words: Vec<usize> = std::env::args().skip(1).map(|word| word.parse().unwrap()).collect();
    let catalogue: Vec<u8> = (0..words[1] << 20).map(|at| at as u8 | 1).collect();
    let began = Instant::now();
    for number in 0..words[0] {
        launch(number);
    }
    println!("{}", began.elapsed().as_nanos());
    std::process::exit(i32::from(catalogue.is_empty()));
}
