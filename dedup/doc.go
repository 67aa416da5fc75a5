// Package dedup tells when two records, or two texts, are the same or nearly
// so: normalised words, 16-byte keys of queries, calls and tools, word n-grams,
// and MinHash sketches with an index of near duplicates.
//
// It keeps no text. What a caller stores for each record is a key of 16 bytes
// or a sketch of at most 160, so that a corpus of millions of conversations
// fits a small machine: an [Index] takes under 512 bytes for each.
//
// # Words
//
// Text is compared by its words: runs of letters, marks and digits after
// compatibility composition (NFKC), in lower case. An apostrophe inside of a
// word is passed over, so that don't and dont are one word. Scripts that are
// written without blanks (Han, kana) have a word a character. All else
// separates words, so case, blanks and punctuation change nothing.
//
// # Near duplicates
//
// The similarity of two texts is the Jaccard index of their sets of shingles,
//
//	J(A, B) = |A ∩ B| / |A ∪ B|,
//
// a shingle being five words in a row, or the whole text if it has fewer. Sets
// of up to 40 shingles are kept whole and compared exactly (up to the collision
// of 32-bit hashes); larger ones by the 128 bins of a MinHash by one
// permutation (Li, Owen and Zhang 2012), whose empty bins are filled by further
// rounds of the same shingles (Dahlgaard, Knudsen and Thorup 2017). The
// estimate has a standard error of sqrt(J(1-J)/128), 3.5 % at J = 0.8.
package dedup
