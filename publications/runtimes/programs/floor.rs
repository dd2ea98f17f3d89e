// Runs a command again and again by several workers, each on a CPU: `floor WORKERS RUNS BYTES COMMAND...`.
//
// Holds so many written bytes. Prints the mean ns from before a launch until it was waited for, and the mean of the largest
// memory that the kernel gives for a child, in bytes.
use std::process::Command;
use std::time::Instant;

extern "C" {
    fn sched_setaffinity(pid: i32, size: usize, mask: *const u64) -> i32;
    fn sched_getaffinity(pid: i32, size: usize, mask: *mut u64) -> i32;
    fn wait4(pid: i32, status: *mut i32, options: i32, usage: *mut [i64; 18]) -> i32;
}

// Where struct rusage has ru_maxrss, in KiB.
const LARGEST: usize = 4;

fn cpus() -> Vec<u64> {
    let mut mask = [0u64; 16];
    assert!(unsafe { sched_getaffinity(0, std::mem::size_of_val(&mask), mask.as_mut_ptr()) } >= 0);
    (0..mask.len() as u64 * 64).filter(|cpu| mask[*cpu as usize / 64] >> (cpu % 64) & 1 == 1).collect()
}

fn pin_to(cpu: u64) {
    let mut mask = [0u64; 16];
    mask[cpu as usize / 64] = 1 << (cpu % 64);
    assert_eq!(unsafe { sched_setaffinity(0, std::mem::size_of_val(&mask), mask.as_ptr()) }, 0);
}

fn run(command: &[String]) -> (u128, u128) {
    let began = Instant::now();
    let child = Command::new(&command[0]).args(&command[1..]).spawn().expect("it is there");
    let (mut status, mut usage) = (0, [0i64; 18]);
    assert!(unsafe { wait4(child.id() as i32, &mut status, 0, &mut usage) } > 0);
    (began.elapsed().as_nanos(), usage[LARGEST] as u128 * 1024)
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |index: usize| words[index].parse::<usize>().expect("a number");
    let heap = vec![1u8; number(3)];
    let all = cpus();
    let workers: Vec<_> = (0..number(1))
        .map(|worker| {
            let (cpu, runs, command) = (all[worker % all.len()], number(2), words[4..].to_vec());
            std::thread::spawn(move || {
                pin_to(cpu);
                run(&command);
                (0..runs).map(|_| run(&command)).fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1))
            })
        })
        .collect();
    let sums = workers.into_iter().map(|worker| worker.join().expect("it ends"));
    let whole = sums.fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    let launches = (number(1) * number(2)) as u128;
    println!("{} {}", whole.0 / launches, whole.1 / launches);
    assert!(std::hint::black_box(heap).iter().all(|each| *each == 1));
}
