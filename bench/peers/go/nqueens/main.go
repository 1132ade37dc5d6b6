// Counts the safe positions of n queens: a goroutine for each safe place of a row, and one join for all of them.
package main

import (
	"sync"

	"forkjoin.invalid/peers/once"
)

type board [16]int8

func safe(queens *board, row, column int) bool {
	for above := 0; above < row; above++ {
		distance := int(queens[above]) - column
		if distance == 0 || distance == row-above || distance == above-row {
			return false
		}
	}
	return true
}

func count(queens *board, n, row int) int64 {
	if row == n {
		return 1
	}
	var sums [16]int64
	var done sync.WaitGroup
	for column := 0; column < n; column++ {
		if !safe(queens, row, column) {
			continue
		}
		withThis := *queens
		withThis[row] = int8(column)
		sum := &sums[column]
		done.Add(1)
		go func() {
			*sum = count(&withThis, n, row+1)
			done.Done()
		}()
	}
	done.Wait()
	var all int64
	for _, sum := range sums {
		all += sum
	}
	return all
}

func main() {
	once.Main(func(n int64) uint64 {
		var empty board
		return uint64(count(&empty, int(n), 0))
	})
}
