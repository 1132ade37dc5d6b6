// Goroutines that talk: the programs of bench/talk/talk.cpp, <case> <n> <procs> [runs].
package main

import (
	"fmt"
	"os"
	"sync"

	"forkjoin.invalid/peers/once"
)

// A goroutine with a result has a channel for it: what Go's programs write.
func start(i int64) chan int64 {
	result := make(chan int64, 1)
	go func() { result <- i }()
	return result
}

func create(n int64) int64 {
	var sum int64
	for i := int64(0); i < n; i++ {
		sum += <-start(i)
	}
	return sum
}

func createMany(n int64) int64 {
	all := make([]chan int64, n)
	for i := range all {
		all[i] = start(int64(i))
	}
	var sum int64
	for _, each := range all {
		sum += <-each
	}
	return sum
}

func pingPong(n int64, capacity int) int64 {
	there, back := make(chan int64, capacity), make(chan int64, capacity)
	var echo sync.WaitGroup
	echo.Add(1)
	go func() {
		for value := range there {
			back <- value + 1
		}
		echo.Done()
	}()
	var value int64
	for i := int64(0); i < n; i++ {
		there <- value
		value = <-back
	}
	close(there)
	echo.Wait()
	return value
}

func stream(n int64) int64 {
	c := make(chan int64, 100)
	go func() {
		for i := int64(0); i < n; i++ {
			c <- i
		}
		close(c)
	}()
	var sum int64
	for value := range c {
		sum += value
	}
	return sum
}

func selectOf4(n int64) int64 {
	var c [4]chan int64
	var senders sync.WaitGroup
	for k := range c {
		c[k] = make(chan int64)
		senders.Add(1)
		go func(to chan int64) {
			for i := int64(0); i < n/4; i++ {
				to <- i
			}
			senders.Done()
		}(c[k])
	}
	var sum int64
	for i := int64(0); i < n/4*4; i++ {
		select {
		case value := <-c[0]:
			sum += value
		case value := <-c[1]:
			sum += value
		case value := <-c[2]:
			sum += value
		case value := <-c[3]:
			sum += value
		}
	}
	senders.Wait()
	return sum
}

func mutex(n int64) int64 {
	var m sync.Mutex
	var sum int64
	var all sync.WaitGroup
	for k := 0; k < 8; k++ {
		all.Add(1)
		go func() {
			for i := int64(0); i < n/8; i++ {
				m.Lock()
				sum += i
				m.Unlock()
			}
			all.Done()
		}()
	}
	all.Wait()
	return sum
}

func sieve(n int64) int64 {
	numbers := make(chan int64)
	go func(to chan int64) {
		for i := int64(2); i <= n; i++ {
			to <- i
		}
		close(to)
	}(numbers)
	var sum int64
	for {
		prime, open := <-numbers
		if !open {
			return sum
		}
		sum += prime
		filtered := make(chan int64)
		go func(from, to chan int64) {
			for each := range from {
				if each%prime != 0 {
					to <- each
				}
			}
			close(to)
		}(numbers, filtered)
		numbers = filtered
	}
}

func sleepers(n int64) int64 {
	wake, done := make(chan int64), make(chan int64)
	for i := int64(0); i < n; i++ {
		go func() { done <- <-wake }()
	}
	var sum int64
	for i := int64(0); i < n; i++ {
		wake <- i
		sum += <-done
	}
	return sum
}

var programs = map[string]func(n int64) int64{
	"create":      create,
	"create_many": createMany,
	"unbuffered":  func(n int64) int64 { return pingPong(n, 0) },
	"buffered":    func(n int64) int64 { return pingPong(n, 1) },
	"stream":      stream,
	"select":      selectOf4,
	"mutex":       mutex,
	"sieve":       sieve,
	"sleepers":    sleepers,
}

func main() {
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "talk: the first argument names no case")
		os.Exit(2)
	}
	once.Main(func(n int64) uint64 { return uint64(programs[os.Args[1]](n)) })
}
