// Unbalanced Tree Search on the tree T1: a goroutine for each child of a node, and one join for all of them. The digests are
// those of Go's crypto/sha1, which has assembly; other kernels have SHA-1 in their own language.
package main

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"sync"

	"forkjoin.invalid/peers/once"
)

const (
	t1Nodes  = 4_130_071
	seed     = 19
	mean     = 4.0 // children of a node
	maxDepth = 10
)

type node struct {
	state  [sha1.Size]byte
	height int
}

func root() node {
	var message [20]byte
	binary.BigEndian.PutUint32(message[16:], seed)
	return node{sha1.Sum(message[:]), 0}
}

func (n *node) child(index int) node {
	var message [24]byte
	copy(message[:], n.state[:])
	binary.BigEndian.PutUint32(message[20:], uint32(index))
	return node{sha1.Sum(message[:]), n.height + 1}
}

func (n *node) children() int {
	if n.height >= maxDepth {
		return 0
	}
	uniform := float64(binary.BigEndian.Uint32(n.state[16:])&0x7fffffff) / 2147483648.0
	none := 1 / (1 + mean)
	count := int(math.Log(1-uniform) / math.Log(1-none))
	if count > 100 {
		count = 100
	}
	return count
}

type tally struct {
	nodes, leaves int64
	depth         int
}

func visit(n node) tally {
	children := n.children()
	if children == 0 {
		return tally{1, 1, n.height}
	}
	found := make([]tally, children)
	var done sync.WaitGroup
	done.Add(children)
	for i := range found {
		i := i
		go func() {
			found[i] = visit(n.child(i))
			done.Done()
		}()
	}
	done.Wait()
	sum := tally{1, 0, n.height}
	for _, one := range found {
		sum.nodes += one.nodes
		sum.leaves += one.leaves
		if one.depth > sum.depth {
			sum.depth = one.depth
		}
	}
	return sum
}

func main() {
	once.Main(func(size int64) uint64 {
		if size != t1Nodes {
			fmt.Fprintf(os.Stderr, "the size is %d, that of the tree T1\n", t1Nodes)
			os.Exit(2)
		}
		sum := visit(root())
		return uint64(sum.nodes) + uint64(sum.leaves)<<28 + uint64(sum.depth)<<56
	})
}
