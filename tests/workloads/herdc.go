/* SPDX-License-Identifier: GPL-2.0-or-later */
// herdc: Go that calls C, which calls Go: main.main > main.out > (C) c_out > main.back > main.leaf. A second thread was
// made by C and calls Go from there.
package main

/*
#cgo CFLAGS: -O2 -g -fomit-frame-pointer
#cgo LDFLAGS: -pthread
#include <pthread.h>
#include <stddef.h>
extern int back(int);
static volatile int sink;

__attribute__((noinline)) static int c_burn(int n)
{
	int s = 0;

	for (int i = 0; i < 300000; i++)
		s += i ^ n;
	sink = s;
	return s;
}

__attribute__((noinline)) static int c_out(int n)
{
	int s = back(n) + c_burn(n);

	sink = s;
	return s + 1;
}

static void *c_thread(void *arg)
{
	for (int n = 0; ; n++)
		sink += back(n & 7);
	return arg;
}

static int start_thread_of_c(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, c_thread, NULL);
}
*/
import "C"

import (
	"fmt"
	"os"
	"time"
)

var sink int

//go:noinline
func leaf(n int) int {
	s := 0
	for i := 0; i < 300000; i++ {
		s += i ^ n
	}
	return s
}

//export back
func back(n C.int) C.int { return C.int(leaf(int(n))) + 1 }

//go:noinline
func out(n int) int { return int(C.c_out(C.int(n))) + 1 }

func main() {
	if C.start_thread_of_c() != 0 {
		os.Exit(1)
	}
	fmt.Printf("ready %d\n", os.Getpid())
	for end := time.Now().Add(300 * time.Second); time.Now().Before(end); {
		sink += out(sink & 7)
	}
}
