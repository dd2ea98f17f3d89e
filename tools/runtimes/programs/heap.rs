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
    let words: Vec<String> = std::env::args().collect();
    let number = |index: usize| words[index].parse::<usize>().expect("a number");
    let mut heap: Vec<Vec<u8>> = (0..number(2) / 1024).map(|each| vec![each as u8 | 1; 1008]).collect();
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).expect("a line");
    start(&words[1]).wait().expect("it ends");
    for kind in ["written", "untouched"] {
        for _ in 0..number(3) {
            if kind == "written" {
                heap.iter_mut().for_each(|each| each[0] = each[0].wrapping_add(1));
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            let began = Instant::now();
            let mut child = start(&words[1]);
            let returned = began.elapsed();
            child.wait().expect("it ends");
            println!("{kind} {} {}", returned.as_nanos(), began.elapsed().as_nanos());
        }
    }
}
