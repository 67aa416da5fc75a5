package tinygguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Alignment is the multiple of bytes at which the data section, and each
// tensor in it, begins. It is the default of the format.
const Alignment = 32

// The numbers by which GGUF version 3 names its value types.
const (
	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9
)

// tensorF32 is the number of the tensor type of 32-bit floats.
const tensorF32 = 0

// A kv is a metadata entry. Its value is a uint32, float32, bool, string,
// []string or []int32.
type kv struct {
	key   string
	value any
}

// A tensor is a matrix of rows × cols; a vector has one row. GGUF counts
// dimensions from the one that varies fastest, which is cols.
type tensor struct {
	name       string
	rows, cols int
	data       []float32 // row by row; nil is all zeros
}

func (t tensor) size() int64 { return int64(t.rows) * int64(t.cols) * 4 }

// An encoder writes little-endian values and counts bytes. The first error
// sticks, and makes the rest do nothing.
type encoder struct {
	w   *bufio.Writer
	n   int64
	err error
}

func (e *encoder) bytes(b []byte) {
	if e.err != nil {
		return
	}
	n, err := e.w.Write(b)
	e.n += int64(n)
	e.err = err
}

func (e *encoder) u32(v uint32) { e.bytes(binary.LittleEndian.AppendUint32(nil, v)) }
func (e *encoder) u64(v uint64) { e.bytes(binary.LittleEndian.AppendUint64(nil, v)) }
func (e *encoder) str(s string) {
	e.u64(uint64(len(s)))
	e.bytes([]byte(s))
}

// pad writes zeros up to the next multiple of Alignment.
func (e *encoder) pad() {
	e.bytes(make([]byte, aligned(e.n)-e.n))
}

// aligned is n rounded up to a multiple of Alignment.
func aligned(n int64) int64 { return (n + Alignment - 1) / Alignment * Alignment }

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case uint32:
		e.u32(typeUint32)
		e.u32(v)
	case float32:
		e.u32(typeFloat32)
		e.u32(math.Float32bits(v))
	case bool:
		e.u32(typeBool)
		if v {
			e.bytes([]byte{1})
		} else {
			e.bytes([]byte{0})
		}
	case string:
		e.u32(typeString)
		e.str(v)
	case []string:
		e.u32(typeArray)
		e.u32(typeString)
		e.u64(uint64(len(v)))
		for _, s := range v {
			e.str(s)
		}
	case []int32:
		e.u32(typeArray)
		e.u32(typeInt32)
		e.u64(uint64(len(v)))
		for _, n := range v {
			e.u32(uint32(n))
		}
	default:
		panic(fmt.Sprintf("tinygguf: no GGUF type for %T", v))
	}
}

// writeGGUF writes a GGUF file of version 3: header, metadata, the directory
// of tensors, and their data, each part aligned.
func writeGGUF(w io.Writer, meta []kv, tensors []tensor) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.bytes([]byte("GGUF"))
	e.u32(3)
	e.u64(uint64(len(tensors)))
	e.u64(uint64(len(meta)))
	for _, m := range meta {
		e.str(m.key)
		e.value(m.value)
	}
	// Offsets count from the beginning of the data section.
	var offset int64
	for _, t := range tensors {
		e.str(t.name)
		if t.rows == 1 {
			e.u32(1)
			e.u64(uint64(t.cols))
		} else {
			e.u32(2)
			e.u64(uint64(t.cols))
			e.u64(uint64(t.rows))
		}
		e.u32(tensorF32)
		e.u64(uint64(offset))
		offset = aligned(offset + t.size())
	}
	e.pad()
	for _, t := range tensors {
		e.floats(t)
		e.pad()
	}
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// floats writes the data of t through one small buffer.
func (e *encoder) floats(t tensor) {
	if t.data == nil {
		zeros := make([]byte, 4*t.cols)
		for range t.rows {
			e.bytes(zeros)
		}
		return
	}
	if len(t.data) != t.rows*t.cols {
		panic(fmt.Sprintf("tinygguf: %s holds %d numbers, want %d x %d", t.name, len(t.data), t.rows, t.cols))
	}
	buf := make([]byte, 0, 4*t.cols)
	for row := range t.rows {
		buf = buf[:0]
		for _, x := range t.data[row*t.cols : (row+1)*t.cols] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		e.bytes(buf)
	}
}
