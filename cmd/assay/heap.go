package main

import (
	"runtime"
	"runtime/debug"
)

// heapFloor is the size that the heap has for the collector from the start,
// without any memory behind it. The commands stream: they make much garbage and
// keep little. With a floor, garbage is collected at the same point
// whether the input is small or large, instead of every 4 MiB at first.
const heapFloor = 8 << 20

// heapRoom is how much of the heap is prepared for huge pages: what a stream
// touches between two collections, up to the row groups of a Parquet file. It
// is room, not memory: a page of it exists once something is written there.
const heapRoom = 128 << 20

// prepareHeap returns the floor, which must be kept alive. No page of it
// exists, as it is never written to.
func prepareHeap() []byte {
	percent := debug.SetGCPercent(-1) // one collection, below, and not one in between
	floor := make([]byte, heapFloor)
	adviseHugePages(make([]byte, heapRoom))
	runtime.GC() // the room is free again, for what comes next
	debug.SetGCPercent(percent)
	return floor
}
