package lexical

import "math"

// places is how many numbers of a row a feature is spread over.
const places = 4

// Project fills row with the direction of text: each feature (word or n-gram)
// adds
//
//	±factor(f) · (1 + ln tf)
//
// to each of four places of row, where places and signs are drawn by its hash,
// and the sum is scaled to length 1. The inner product of two rows estimates the
// cosine of their sparse vectors; its standard error is about 1/sqrt(len(row)),
// so 0.03 for 1,024 places. (With one place for a feature the error is the same
// on average, but two words that meet in a place make it large.)
//
// A row depends on text and len(row) alone, where a vector of an [Index] also
// depends on the other texts: there is no IDF and no average length, so common
// words count more than they do in an Index. For a search among texts that are
// at hand the Index is better, and exact; Project is for callers that need rows
// of numbers. A text without letters gives zeros.
func Project(text string, row []float32) {
	clear(row)
	if len(row) == 0 {
		return
	}
	// Sums in float64 in order of hashes: the same on every machine.
	sums := make([]float64, len(row))
	for _, f := range count(text) {
		w := float64(f.factor) * (1 + math.Log(float64(f.n)))
		h := f.hash
		for range places {
			// The steps of SplitMix64, a generator with this seed.
			h += 0x9e3779b97f4a7c15
			z := (h ^ h>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			z ^= z >> 31
			if z>>63 == 1 {
				sums[z%uint64(len(row))] -= w
			} else {
				sums[z%uint64(len(row))] += w
			}
		}
	}
	length := norm(sums)
	if length == 0 {
		return
	}
	for i, s := range sums {
		row[i] = float32(s / length)
	}
}
