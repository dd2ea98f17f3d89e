// Runs a tool in a session of its own.
use std::process::Command;
use std::time::Instant;

fn launch(number: usize) {
    let mut tool = Command::new("setsid");
    tool.args(["/bin/true", &number.to_string()]);
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
