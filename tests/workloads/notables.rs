/* SPDX-License-Identifier: GPL-2.0-or-later */
// A crate without unwind tables (panic=abort), whose stacks are: climb x 4, then leaf; in two threads.
use std::hint::black_box;

#[inline(never)]
fn leaf(n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        sum += black_box(i * n);
    }
    sum
}

#[inline(never)]
fn climb(depth: u32) -> u64 {
    let words: Vec<u64> = vec![depth as u64; 16];
    let below = if depth > 1 { climb(black_box(depth - 1)) } else { leaf(black_box(200_000)) };
    below + black_box(words).len() as u64
}

#[inline(never)]
fn work() {
    loop {
        black_box(climb(black_box(4)));
    }
}

fn main() {
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_secs(300));
        std::process::exit(0);
    });
    std::thread::spawn(work);
    println!("ready {}", std::process::id());
    work();
}
