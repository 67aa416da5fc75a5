package convert

import (
	"fmt"
	"path"
	"strconv"

	"assay/qaoa"

	"github.com/zeebo/xxh3"
)

// An idSet holds the hashes of the IDs that were given out. When two IDs have
// one hash (at 64 bits, among a million and a half IDs, with a probability of
// 10^-7), the second is taken for a repeated one and its record is named after
// its place, which is as unique. It is a table with open addressing, at most
// three quarters full: 11 to 21 bytes for each ID.
type idSet struct {
	slots []uint64 // a power of two of them; zero where there is none
	n     int      // how many are taken
}

// minSlots is the size of the first table: 2 MiB, enough for 196,608 IDs, so
// that corpora up to that size need the same memory.
const minSlots = 1 << 18

// take reports whether id is new, and notes it.
func (s *idSet) take(id string) bool { return s.add(xxh3.HashString(id)) }

// add reports whether h is new, and notes it.
func (s *idSet) add(h uint64) bool {
	if h == 0 {
		h = 1 // zero marks an empty slot
	}
	if 4*(s.n+1) > 3*len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(minSlots, 2*len(old)))
		for _, h := range old {
			if h != 0 {
				*s.slot(h) = h
			}
		}
	}
	at := s.slot(h)
	if *at == h {
		return false
	}
	*at = h
	s.n++
	return true
}

// slot returns where h is, or where it belongs.
func (s *idSet) slot(h uint64) *uint64 {
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		if at := &s.slots[i]; *at == h || *at == 0 {
			return at
		}
	}
}

// unique returns the ID of rec in a run of the source with that name.
func (s *idSet) unique(rec qaoa.Record, source string) string {
	if rec.ID != "" {
		if id := source + "/" + rec.ID; s.take(id) {
			return id
		}
	}
	id := source + "/" + stem(rec.Source.File) + "#" + strconv.Itoa(rec.Source.Index)
	if s.take(id) {
		return id
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s~%d", id, n); s.take(next) {
			return next
		}
	}
}

// stem returns the path without suffixes of compression and format.
func stem(file string) string {
	file = uncompressed(file)
	if cut := file[:len(file)-len(path.Ext(file))]; path.Base(cut) != "." && cut != "" {
		return cut
	}
	return file
}
