package raw

import (
	"errors"
	"fmt"

	"assay/qaoa"
)

// A ContainerError says where and why a file cannot be read any further: a
// compressed stream that is cut off or corrupt, an array that never closes, a
// file that ends inside an element, or contents of an unknown kind. All
// elements that were complete before the break have been yielded.
type ContainerError struct {
	// Pos is the place of the element that the break is in or before; its
	// Index is the number of elements before it.
	Pos qaoa.Pos
	// Offset is the byte of the decompressed text where the break is; -1 in a
	// Parquet file, whose columns lie apart.
	Offset int64
	// Compressed is how many bytes of the compressed file had been read when
	// the break was found, which is at most a block more than were needed;
	// -1 where the file is not compressed.
	Compressed int64
	// Msg is what is wrong and what to do about it.
	Msg string
	// Err is the fault of the decoder, or nil.
	Err error
}

// Error returns file, byte offset if known, number of good elements and fault.
func (e *ContainerError) Error() string {
	s := e.Pos.File
	if e.Offset >= 0 {
		s += fmt.Sprintf(": byte %d", e.Offset)
	}
	if e.Compressed >= 0 {
		s += fmt.Sprintf(" of the text, about byte %d of the compressed file", e.Compressed)
	}
	s = fmt.Sprintf("%s: after %d elements: %s", s, e.Pos.Index, e.Msg)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the fault of the decoder.
func (e *ContainerError) Unwrap() error { return e.Err }

// A TooLargeError is yielded in the place of an element that is larger than
// the limit. The stream goes on after it.
type TooLargeError struct {
	Pos   qaoa.Pos
	Size  int64 // bytes of the element
	Limit int64 // bytes allowed
}

// Error returns the place, the size and the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: the element has %d bytes, more than the limit of %d", e.Pos, e.Size, e.Limit)
}

// Skippable reports whether err stands for one element and the stream goes on:
// a *[TooLargeError] or a *[RaggedError], at pos.
func Skippable(err error) (pos qaoa.Pos, ok bool) {
	if e, ok := errors.AsType[*TooLargeError](err); ok {
		return e.Pos, true
	}
	if e, ok := errors.AsType[*RaggedError](err); ok {
		return e.Pos, true
	}
	return qaoa.Pos{}, false
}
