// Runs a tool in a session of its own.
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

extern "C" {
    fn setsid() -> i32;
}

fn launch(number: usize) {
    let mut tool = Command::new("/bin/true");
    tool.arg(number.to_string());
    unsafe {
        tool.pre_exec(|| {
            setsid();
            Ok(())
        });
    }
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
