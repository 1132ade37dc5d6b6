// Recursive Fibonacci numbers: a goroutine for one of the two calls, the other in the caller.
package main

import (
	"sync"

	"forkjoin.invalid/peers/once"
)

func fib(n int64) int64 {
	if n < 2 {
		return n
	}
	var a int64
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		a = fib(n - 1)
		done.Done()
	}()
	b := fib(n - 2)
	done.Wait()
	return a + b
}

func main() { once.Main(func(n int64) uint64 { return uint64(fib(n)) }) }
