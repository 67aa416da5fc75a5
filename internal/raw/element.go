// Package raw reads the elements of a file, whatever holds them: JSON lines, a
// JSON array of any size, an object map or one object, each plain, gzip or
// zstd, told apart by content and never by name. It streams: memory is bounded
// by the largest element.
//
// It finds where elements begin and end. What is inside is the business of
// those who read them; an element may hold invalid JSON.
package raw

import "assay/qaoa"

// An Element is one raw element of a file.
type Element struct {
	Pos qaoa.Pos
	Key string // name of the member, where the container is an object map
	// Data is the JSON text of the element. It belongs to the receiver.
	Data []byte
}
