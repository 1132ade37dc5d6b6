// The program of bench/handover/handover.cpp: <case> <n> <procs>. Go has no call that hands its P over at once.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const callNs = 1000000

var timer uintptr

// When a call should end.
var end int64

func sleepInKernel() {
	t := syscall.Timespec{Nsec: callNs}
	end = now() + callNs
	syscall.Nanosleep(&t, nil)
}

func readInKernel() {
	once := [2]syscall.Timespec{1: {Nsec: callNs}}
	var times [8]byte
	end = now() + callNs
	_, _, failed := syscall.Syscall6(syscall.SYS_TIMERFD_SETTIME, timer, 0, uintptr(unsafe.Pointer(&once)), 0, 0, 0)
	if n, err := syscall.Read(int(timer), times[:]); failed != 0 || n != 8 || err != nil {
		panic("timerfd")
	}
}

var calls = map[string]func(){"sleep": sleepInKernel, "read": readInKernel}

var start = time.Now()

func now() int64 { return int64(time.Since(start)) }

func measureOnce(call func()) (int64, int64) {
	var other int64
	var ready sync.WaitGroup
	ready.Add(1)
	go func() {
		other = now()
		ready.Done()
	}()
	begin := now()
	call()
	back := now()
	ready.Wait()
	return other - begin, back - end
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		fmt.Fprintf(os.Stderr, "handover: %s is not a number\n", text)
		os.Exit(2)
	}
	return value
}

func main() {
	if len(os.Args) != 4 || calls[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: handover <case> <n> <procs>; the cases are sleep read")
		os.Exit(2)
	}
	call, n, procs := calls[os.Args[1]], number(os.Args[2]), number(os.Args[3])
	runtime.GOMAXPROCS(procs)
	const clockMonotonic, closeOnExec = 1, 0x80000
	timer, _, _ = syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, closeOnExec, 0)

	var busy, over int32
	for i := 1; i < procs; i++ {
		go func() {
			atomic.AddInt32(&busy, 1)
			for atomic.LoadInt32(&over) == 0 {
			}
		}()
	}
	for int(atomic.LoadInt32(&busy)) != procs-1 {
		runtime.Gosched()
	}
	toOther, toCaller := make([]int64, n), make([]int64, n)
	for i := range toOther {
		toOther[i], toCaller[i] = measureOnce(call)
	}
	atomic.StoreInt32(&over, 1)
	for i := range toOther {
		fmt.Println(toOther[i], toCaller[i])
	}
}
