// The server of bench/echo/echo.cpp: server <procs> <forking> <looping>. A goroutine for each connection, and so many that compute.
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

const (
	numbers     = 1000
	grain       = 250 // numbers of a request that a goroutine sums without another
	computedFib = 30
	leafFib     = 18
	leaves      = 322
)

var computed uint64

func serialFib(n int) int {
	if n < 2 {
		return n
	}
	return serialFib(n-1) + serialFib(n-2)
}

func fib(n int) int {
	if n <= leafFib {
		return serialFib(n)
	}
	var a int
	var child sync.WaitGroup
	child.Add(1)
	go func() {
		a = fib(n - 1)
		child.Done()
	}()
	b := fib(n - 2)
	child.Wait()
	return a + b
}

func computeByLoops() {
	for {
		for i := 0; i < leaves; i++ {
			if serialFib(leafFib) != 2584 {
				panic("fib")
			}
		}
		atomic.AddUint64(&computed, 1)
	}
}

func computeByForks() {
	for {
		if fib(computedFib) != 832040 {
			panic("fib")
		}
		atomic.AddUint64(&computed, 1)
	}
}

// The sum of the numbers in their bytes.
func sum(data []byte) uint64 {
	if len(data) <= 4*grain {
		var total uint64
		for ; len(data) >= 4; data = data[4:] {
			total += uint64(binary.LittleEndian.Uint32(data))
		}
		return total
	}
	middle := len(data) / 8 * 4
	var left uint64
	var child sync.WaitGroup
	child.Add(1)
	go func() {
		left = sum(data[:middle])
		child.Done()
	}()
	right := sum(data[middle:])
	child.Wait()
	return left + right
}

func serve(client net.Conn) {
	defer client.Close()
	message := make([]byte, 4*numbers+8)
	for {
		if _, err := io.ReadFull(client, message); err != nil {
			return
		}
		binary.LittleEndian.PutUint64(message[4*numbers:], sum(message[:4*numbers]))
		if _, err := client.Write(message); err != nil {
			return
		}
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < 0 {
		fmt.Fprintf(os.Stderr, "echo: %s is not a number\n", text)
		os.Exit(2)
	}
	return value
}

func main() {
	if len(os.Args) != 5 || os.Args[1] != "server" || number(os.Args[2]) == 0 {
		fmt.Fprintln(os.Stderr, "usage: echo server <procs> <forking> <looping>")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(number(os.Args[2]))
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(client)
		}
	}()
	for i := number(os.Args[3]); i > 0; i-- {
		go computeByForks()
	}
	for i := number(os.Args[4]); i > 0; i-- {
		go computeByLoops()
	}
	io.Copy(io.Discard, os.Stdin)
	fmt.Printf("computed %d\n", atomic.LoadUint64(&computed))
}
