/* SPDX-License-Identifier: GPL-2.0-or-later */
// goblin: Go, main.main > main.outer > main.inner > main.leaf.
package main

import (
	"fmt"
	"os"
	"time"
)

var sink int

//go:noinline
func leaf(n int) int {
	s := 0
	for i := 0; i < 2000000; i++ {
		s += i ^ n
	}
	return s
}

//go:noinline
func inner(n int) int { return leaf(n) + 1 }

//go:noinline
func outer(n int) int { return inner(n) + 1 }

func main() {
	fmt.Printf("ready %d\n", os.Getpid())
	for end := time.Now().Add(300 * time.Second); time.Now().Before(end); {
		sink += outer(sink & 7)
	}
}
