// Runs a tool that is found along another PATH.
use std::process::Command;
use std::time::Instant;

fn launch(number: usize) {
    let done = Command::new("true")
        .env("PATH", "/usr/bin:/bin")
        .arg(number.to_string())
        .status()
        .unwrap();
    assert!(done.success());
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
