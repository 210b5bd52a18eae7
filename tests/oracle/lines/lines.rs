// SPDX-License-Identifier: GPL-2.0-or-later
use std::collections::BTreeMap;

fn count(map: &mut BTreeMap<String, usize>, n: usize) -> usize {
    for i in 0..n {
        *map.entry(format!("{}", i % 97)).or_insert(0) += i;
    }
    map.values().sum()
}

fn main() {
    let mut map = BTreeMap::new();
    let squares: Vec<usize> = (0..1000).map(|x| x * x).filter(|x| x % 3 == 0).collect();
    println!("{} {}", count(&mut map, 10000), squares.iter().sum::<usize>());
}
