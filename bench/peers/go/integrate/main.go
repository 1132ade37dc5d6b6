// The integral of x^3 + x from 0 to n by halving the interval: a goroutine for one half, the other in the caller.
package main

import (
	"math"
	"sync"

	"forkjoin.invalid/peers/once"
)

const largestError = 1e-9 // of one interval

func function(x float64) float64 { return (x*x + 1) * x }

func integrate(x1, y1, x2, y2, area float64) float64 {
	half := (x2 - x1) / 2
	x0 := x1 + half
	y0 := function(x0)
	left := (y1 + y0) / 2 * half
	right := (y0 + y2) / 2 * half
	if math.Abs(left+right-area) < largestError {
		return left + right
	}
	var a float64
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		a = integrate(x1, y1, x0, y0, left)
		done.Done()
	}()
	b := integrate(x0, y0, x2, y2, right)
	done.Wait()
	return a + b
}

func main() {
	once.Main(func(n int64) uint64 {
		end := float64(n)
		right := end * end * (end*end/4 + 0.5)
		return uint64(math.Round(integrate(0, function(0), end, function(end), 0) / right * (1 << 20)))
	})
}
