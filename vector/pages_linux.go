package vector

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of the large pages of memory on linux/amd64 and
// linux/arm64, in bytes.
const hugePage = 2 << 20

// alloc returns n zeros. Large matrices ask for large pages: with 4 KiB ones a
// search spends up to half of its time looking up addresses. It is only advice
// about memory that stays the garbage collector's, so a row may outlive its
// matrix; a kernel that does not follow it costs time and nothing else.
func alloc(n int) []float32 {
	data := make([]float32, n)
	if 4*n < 2*hugePage {
		return data
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), 4*n)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) % hugePage
	whole := (uintptr(len(bytes)) - skip) / hugePage * hugePage
	_ = syscall.Madvise(bytes[skip:skip+whole], syscall.MADV_HUGEPAGE)
	return data
}
