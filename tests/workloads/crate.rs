/* SPDX-License-Identifier: GPL-2.0-or-later */
// crate_rs: Rust, -O: main > orchard::pick::<u64> > orchard::Basket::weigh > orchard::leaf_burn.
use std::hint::black_box;
use std::io::Write;

mod orchard {
    use std::hint::black_box;

    pub struct Basket {
        pub apples: Vec<u64>,
    }

    #[inline(never)]
    pub fn leaf_burn(n: u64) -> u64 {
        let mut i = 0u64;
        while i < 2_000_000 {
            i = black_box(i + 1);
        }
        n + i
    }

    impl Basket {
        #[inline(never)]
        pub fn weigh(&self) -> u64 {
            let mut sum = 0;
            for a in &self.apples {
                sum += black_box(leaf_burn(*a));
            }
            black_box(sum)
        }
    }

    #[inline(never)]
    pub fn pick<T: Into<u64> + Copy>(first: T) -> u64 {
        let basket = Basket { apples: vec![first.into(), 2, 3] };
        let w = basket.weigh();
        black_box(w) + 1
    }
}

fn main() {
    println!("ready {}", std::process::id());
    std::io::stdout().flush().unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(300);
    while std::time::Instant::now() < end {
        black_box(orchard::pick(1u32));
    }
}
