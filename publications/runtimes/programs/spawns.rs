// Starts `sleep 0` many times and waits for none before the last: `spawns API BYTES COUNT VARIABLES`, prints the ns.
//
// `pre_exec` makes it fork, `huge` as well, with its memory in huge pages. The environment has PATH and as many variables
// of 25 characters; with `set` one is set for the command.
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

extern "C" {
    fn madvise(start: *const u8, length: usize, advice: i32) -> i32;
}

const HUGE: usize = 2 << 20;
const MADV_HUGEPAGE: i32 = 14;

// Written memory; with `huge` in huge pages, as far as the kernel has them.
fn heap_of(bytes: usize, huge: bool) -> Vec<u8> {
    let mut heap = Vec::with_capacity(bytes);
    if huge {
        let start = (heap.as_ptr() as usize).next_multiple_of(HUGE);
        assert_eq!(unsafe { madvise(start as *const u8, bytes - HUGE, MADV_HUGEPAGE) }, 0);
    }
    heap.resize(bytes, 1u8);
    heap
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |index: usize| words[index].parse::<usize>().expect("a number");
    let names: Vec<_> = std::env::vars_os().map(|(name, _)| name).filter(|name| name != "PATH").collect();
    names.iter().for_each(|name| std::env::remove_var(name));
    (0..number(4)).for_each(|each| std::env::set_var(format!("VARIABLE_{each}"), "x".repeat(25)));
    let heap = heap_of(number(2), words[1] == "huge");
    let began = Instant::now();
    let children: Vec<_> = (0..number(3))
        .map(|_| {
            let mut command = Command::new("/usr/bin/sleep");
            command.arg("0");
            match words[1].as_str() {
                "pre_exec" | "huge" => unsafe {
                    command.pre_exec(|| Ok(()));
                },
                "set" => {
                    command.env("SET", "1");
                }
                _ => {}
            }
            command.spawn().expect("it is there")
        })
        .collect();
    println!("{}", began.elapsed().as_nanos());
    for mut child in children {
        child.wait().expect("it ends");
    }
    assert!(std::hint::black_box(heap).iter().step_by(4096).all(|each| *each == 1));
}
