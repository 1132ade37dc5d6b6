// Package once is the command line of a kernel in Go: <program> <way> <size> <procs> [runs]. It prints the result, the
// seconds of each run and the peak memory, as the kernel's C++ program does.
package once

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

func number(text string, most int64) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < 1 || value > most {
		fmt.Fprintf(os.Stderr, "%s is not a number from 1 to %d\n", text, most)
		os.Exit(2)
	}
	return value
}

func resident(name string) string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			return fields[1]
		}
	}
	return "unknown"
}

// Main runs the kernel as the command line says.
func Main(kernel func(size int64) uint64) {
	if len(os.Args) != 4 && len(os.Args) != 5 {
		fmt.Fprintf(os.Stderr, "usage: %s <way> <size> <procs> [runs]\n", os.Args[0])
		os.Exit(2)
	}
	size := number(os.Args[2], 1_000_000_000_000)
	runs := int64(1)
	if len(os.Args) == 5 {
		runs = number(os.Args[4], 1_000_000)
	}
	runtime.GOMAXPROCS(int(number(os.Args[3], 4096)))
	debug.SetMaxStack(1 << 30)

	before := resident("VmHWM:")
	var result uint64
	for i := int64(0); i < runs; i++ {
		start := time.Now()
		result = kernel(size)
		fmt.Printf("seconds %.6f\n", time.Since(start).Seconds())
	}
	fmt.Printf("result %d\nprepared_resident_kib %s\npeak_resident_kib %s\n", result, before, resident("VmHWM:"))
}
