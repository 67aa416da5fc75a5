package convert

import (
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"
)

// An idSet says of every hash what a map says, also when it grows and when
// hashes fall into the same slot.
func TestIDSetIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var set idSet
		seen := map[xxh3.Uint128]bool{}
		for range rapid.IntRange(0, 3*minSlots).Draw(t, "n") {
			// Few low bits: many collisions.
			h := xxh3.Uint128{
				Hi: rapid.Uint64Range(0, 40).Draw(t, "hi"),
				Lo: rapid.SampledFrom([]uint64{0, 1, 2, 1 << 20, ^uint64(0)}).Draw(t, "lo") + rapid.Uint64Range(0, 30).Draw(t, "d"),
			}
			key := h
			if key == (xxh3.Uint128{}) {
				key.Lo = 1 // the one pair that counts as equal
			}
			if got := set.add(h); got == seen[key] {
				t.Fatalf("add(%v) = %v after %d hashes, want %v", h, got, len(seen), !got)
			}
			seen[key] = true
		}
		if set.n != len(seen) {
			t.Fatalf("%d hashes in the set, want %d", set.n, len(seen))
		}
	})
}
