//! What the standard library does not show of the kernel: the clock as a number, and the use of resources.

use std::io;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Pair {
    seconds: i64,
    rest: i64,
}

/// struct rusage of getrusage(2) on 64-bit machines.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Usage {
    user: Pair,
    system: Pair,
    others: [i64; 4],
    pub minor_faults: i64,
    pub major_faults: i64,
    unused: [i64; 6],
    pub voluntary_switches: i64,
    pub involuntary_switches: i64,
}

impl Usage {
    pub fn cpu_ns(&self) -> i64 {
        (self.user.seconds + self.system.seconds) * 1_000_000_000 + (self.user.rest + self.system.rest) * 1000
    }
}

extern "C" {
    fn clock_gettime(clock: i32, now: *mut Pair) -> i32;
    fn getrusage(whose: i32, usage: *mut Usage) -> i32;
    fn getuid() -> u32;
    #[link_name = "write"]
    fn c_write(fd: i32, content: *const u8, length: usize) -> isize;
}

const MONOTONIC: i32 = 1;
const CHILDREN: i32 = -1;

#[inline]
pub fn now() -> i64 {
    let mut now = Pair::default();
    unsafe { clock_gettime(MONOTONIC, &mut now) };
    now.seconds * 1_000_000_000 + now.rest
}

pub fn spin(duration: i64) {
    let end = now() + duration;
    while now() < end {
        std::hint::spin_loop();
    }
}

fn usage(whose: i32) -> Usage {
    let mut usage = Usage::default();
    unsafe { getrusage(whose, &mut usage) };
    usage
}

pub fn own_usage() -> Usage {
    usage(0)
}

pub fn childrens_usage() -> Usage {
    usage(CHILDREN)
}

pub fn user() -> u32 {
    unsafe { getuid() }
}

pub fn write(fd: i32, content: &[u8]) -> io::Result<usize> {
    match unsafe { c_write(fd, content.as_ptr(), content.len()) } {
        length if length < 0 => Err(io::Error::last_os_error()),
        length => Ok(length as usize),
    }
}
