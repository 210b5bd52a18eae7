/* SPDX-License-Identifier: GPL-2.0-or-later */
// herd: Go, a goroutine (or several) for each thing that the runtime does with stacks. Each starts in main.roleX, which
// tests/live/go_stacks.py knows the callees of.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const depth = 300

var sink int
var kept [64][]byte

// leaf has no frame: only the table knows its caller.
//
//go:noinline
func leaf(n int) int {
	s := 0
	for i := 0; i < 200000; i++ {
		s += i ^ n
	}
	return s
}

//go:noinline
func leafCaller(n int) int { return leaf(n) + 1 }

func roleLeaf() {
	for n := 0; ; n++ {
		sink += leafCaller(n & 7)
	}
}

// dive outgrows its stack several times on the way down.
//
//go:noinline
func dive(n int) int {
	var pad [24]int
	pad[n%24] = n
	if n == 1 {
		return leaf(n)
	}
	return dive(n-1) + pad[(n+1)%24]
}

func roleDeep() {
	for n := 0; n < 4; n++ {
		sink += dive(depth)
	}
	go roleDeep()
}

// grow outgrows its stack, and that is most of its work: runtime.morestack does it on the thread's own stack.
//
//go:noinline
func grow(n int) int {
	var pad [24]int
	pad[n%24] = n
	if n == 1 {
		return pad[0]
	}
	return grow(n-1) + pad[(n+1)%24]
}

func roleGrow() {
	sink += grow(depth)
	go roleGrow()
}

func rolePing(in, out chan int) {
	for n := range in {
		select {
		case out <- n + 1:
		case <-time.After(time.Second):
			out <- n
		}
	}
}

//go:noinline
func onTimer() { sink += leafCaller(1) }

func roleTimer() {
	for {
		time.Sleep(3 * time.Millisecond)
		onTimer()
	}
}

//go:noinline
func alloc(n int) { kept[n&63] = make([]byte, 1000+n&0xffff) }

func roleGarbage() {
	for n := 0; ; n++ {
		alloc(n)
		if n&0xfff == 0 {
			runtime.GC()
		}
	}
}

// Waits in the net poller.
func roleReader(r *os.File) {
	buf := make([]byte, 10)
	for {
		if _, err := r.Read(buf); err != nil {
			return
		}
	}
}

func roleWriter(w *os.File) {
	for {
		time.Sleep(5 * time.Millisecond)
		w.Write([]byte("x"))
	}
}

//go:noinline
func lockedSleep() {
	ts := syscall.Timespec{Sec: 0, Nsec: 20000000}
	syscall.Nanosleep(&ts, nil)
}

func roleLocked() {
	runtime.LockOSThread()
	for {
		lockedSleep()
	}
}

//go:noinline
func handle() {
	if recover() != nil {
		sink += leafCaller(2)
	}
}

//go:noinline
func fall(p *int) {
	defer handle()
	*p++
}

//go:noinline
func throw() {
	defer handle()
	panic("thrown")
}

func rolePanic() {
	for {
		throw()
		fall(nil)
	}
}

func roleSignal() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	for {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-c
		sink += leafCaller(3)
		time.Sleep(time.Millisecond)
	}
}

func main() {
	runtime.GOMAXPROCS(3)
	a, b := make(chan int), make(chan int)
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	go roleLeaf()
	go roleDeep()
	go roleGrow()
	go rolePing(a, b)
	go rolePing(b, a)
	go roleTimer()
	go roleGarbage()
	go roleReader(r)
	go roleWriter(w)
	go roleLocked()
	go rolePanic()
	go roleSignal()
	a <- 0
	fmt.Printf("ready %d\n", os.Getpid())
	time.Sleep(300 * time.Second)
}
