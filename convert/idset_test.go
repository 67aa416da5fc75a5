package convert

import (
	"testing"

	"pgregory.net/rapid"
)

// An idSet says of every hash what a map says, also when it grows and when
// hashes fall into the same slot.
func TestIDSetIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := idSet{slots: make([]uint64, 8)} // a small one, which grows often
		seen := map[uint64]bool{}
		for range rapid.IntRange(0, 3000).Draw(t, "n") {
			// Few low bits: many collisions.
			h := rapid.SampledFrom([]uint64{0, 1, 2, 1 << 20, 1 << 40, ^uint64(0)}).Draw(t, "h") + rapid.Uint64Range(0, 500).Draw(t, "d")
			key := max(h, 1) // 0 and 1 are the one pair that counts as equal
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
