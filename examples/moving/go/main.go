// The rows of examples/moving/go.cpp in Go, with the same results.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

func goRow() int64 {
	done := make(chan int64)
	go func() { done <- 42 }()
	return <-done
}

func buffered() int64 {
	c := make(chan int64, 3)
	c <- 1
	c <- 2
	return int64(10*len(c) + cap(c))
}

func rangeRow() int64 {
	c := make(chan int64)
	go func() {
		for i := int64(1); i <= 10; i++ {
			c <- i
		}
		close(c)
	}()
	var sum int64
	for each := range c {
		sum += each
	}
	return sum
}

func commaOk() int64 {
	c := make(chan int64, 1)
	c <- 7
	close(c)
	var sum int64
	for {
		v, ok := <-c
		if !ok {
			return sum
		}
		sum += v
	}
}

func sendOnClosed() (result int64) {
	c := make(chan int64, 1)
	close(c)
	defer func() {
		if recover() != nil {
			result = 1
		}
	}()
	c <- 1
	return 0
}

func directions() int64 {
	produce := func(out chan<- int64) { out <- 5 }
	consume := func(in <-chan int64) int64 { return <-in }
	c := make(chan int64, 1)
	produce(c)
	return consume(c)
}

func selectRow() int64 {
	a, b := make(chan int64, 1), make(chan int64)
	a <- 3
	select {
	case v := <-a:
		return v
	case b <- 1:
		return -1
	}
}

func selectDefault() int64 {
	c := make(chan int64)
	select {
	case v := <-c:
		return v
	default:
		return -1
	}
}

func selectAfter() int64 {
	never := make(chan int64)
	select {
	case v := <-never:
		return v
	case <-time.After(time.Millisecond):
		return -1
	}
}

func nilChannel() int64 {
	var none chan int64
	select {
	case <-none:
		return 1
	default:
		return -1
	}
}

func waitGroup() int64 {
	var sum atomic.Int64
	var all sync.WaitGroup
	for i := int64(0); i < 10; i++ {
		all.Add(1)
		go func(i int64) {
			defer all.Done()
			sum.Add(i)
		}(i)
	}
	all.Wait()
	return sum.Load()
}

func mutex() int64 {
	var guard sync.Mutex
	var all sync.WaitGroup
	var count int64
	for i := 0; i < 100; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			guard.Lock()
			defer guard.Unlock()
			count++
		}()
	}
	all.Wait()
	return count
}

func rwMutex() int64 {
	var guard sync.RWMutex
	guard.Lock()
	value := int64(2)
	guard.Unlock()
	guard.RLock()
	defer guard.RUnlock()
	return value
}

func once() int64 {
	var first sync.Once
	var calls int64
	for i := 0; i < 3; i++ {
		first.Do(func() { calls++ })
	}
	return calls
}

func cond() int64 {
	var guard sync.Mutex
	changed := sync.NewCond(&guard)
	ready := false
	go func() {
		guard.Lock()
		defer guard.Unlock()
		ready = true
		changed.Broadcast()
	}()
	guard.Lock()
	defer guard.Unlock()
	for !ready {
		changed.Wait()
	}
	return 1
}

func withCancel() int64 {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan int64)
	go func() {
		select {
		case <-time.After(time.Hour):
			result <- 0
		case <-ctx.Done():
			result <- 1
		}
	}()
	cancel()
	return <-result
}

func withTimeout() int64 {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	never := make(chan int64)
	select {
	case v := <-never:
		return v
	case <-ctx.Done():
		return -1
	}
}

func ticker() int64 {
	every := time.NewTicker(time.Millisecond)
	defer every.Stop()
	var ticks int64
	for ; ticks < 3; ticks++ {
		<-every.C
	}
	return ticks
}

func sleep() int64 {
	time.Sleep(time.Millisecond)
	return 1
}

func gosched() int64 {
	var done atomic.Bool
	go done.Store(true)
	for !done.Load() {
		runtime.Gosched()
	}
	return 1
}

func deferRow() (order int64) {
	defer func() { order = order*10 + 2 }()
	return 1
}

func recovered() int64 {
	result := make(chan int64)
	go func() {
		defer func() {
			if recover() != nil {
				result <- 1
			}
		}()
		panic("it fails")
	}()
	return <-result
}

func maxProcs() int64 {
	if runtime.GOMAXPROCS(0) > 0 {
		return 1
	}
	return 0
}

func connection() int64 {
	from, to, err := os.Pipe()
	if err != nil {
		return -1
	}
	go to.Write([]byte("go"))
	bytes := make([]byte, 2)
	count, _ := from.Read(bytes)
	return int64(count)
}

func main() {
	for _, row := range []struct {
		name string
		run  func() int64
	}{
		{"go", goRow},
		{"buffered", buffered},
		{"range", rangeRow},
		{"comma_ok", commaOk},
		{"send_on_closed", sendOnClosed},
		{"directions", directions},
		{"select", selectRow},
		{"select_default", selectDefault},
		{"select_after", selectAfter},
		{"nil_channel", nilChannel},
		{"wait_group", waitGroup},
		{"mutex", mutex},
		{"rw_mutex", rwMutex},
		{"once", once},
		{"cond", cond},
		{"with_cancel", withCancel},
		{"with_timeout", withTimeout},
		{"ticker", ticker},
		{"sleep", sleep},
		{"gosched", gosched},
		{"defer", deferRow},
		{"recovered", recovered},
		{"max_procs", maxProcs},
		{"connection", connection},
	} {
		fmt.Println(row.name, row.run())
	}
}
