// A tree with ten children at each node, whose leaves' numbers are summed: a goroutine for each child, and a channel for the
// results, as in the benchmark's original.
package main

import "forkjoin.invalid/peers/once"

func skynet(sums chan<- int64, first, leaves int64) {
	if leaves == 1 {
		sums <- first
		return
	}
	of := make(chan int64, 10)
	leaves /= 10
	for i := int64(0); i < 10; i++ {
		go skynet(of, first+i*leaves, leaves)
	}
	var sum int64
	for i := 0; i < 10; i++ {
		sum += <-of
	}
	sums <- sum
}

func main() {
	once.Main(func(leaves int64) uint64 {
		sum := make(chan int64, 1)
		go skynet(sum, 0, leaves)
		return uint64(<-sum)
	})
}
