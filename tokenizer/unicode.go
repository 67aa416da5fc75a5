package tokenizer

import "unicode"

// Hugging Face's tokenizers cut words by the classes of Unicode 16 (Oniguruma
// 6.9.10) and compose text by the tables of Unicode 9
// (unicode-normalization-alignments 0.1.12). The standard library and x/text
// have Unicode 15. What lies between is below; both tables were compared with
// @anush008/tokenizers 0.6.0 for every character there is.

// newer are the characters of Unicode 16 that are letters, numbers or marks and
// that the standard library does not know.
var newer = []struct {
	lo, hi rune
	class  uint8
}{
	{0x897, 0x897, mark | upper | lower},
	{0x1C89, 0x1C89, letter | upper},
	{0x1C8A, 0x1C8A, letter | lower},
	{0xA7CB, 0xA7CC, letter | upper},
	{0xA7CD, 0xA7CD, letter | lower},
	{0xA7DA, 0xA7DA, letter | upper},
	{0xA7DB, 0xA7DB, letter | lower},
	{0xA7DC, 0xA7DC, letter | upper},
	{0x105C0, 0x105F3, letter | upper | lower},
	{0x10D40, 0x10D49, number},
	{0x10D4A, 0x10D4F, letter | upper | lower},
	{0x10D50, 0x10D65, letter | upper},
	{0x10D69, 0x10D6D, mark | upper | lower},
	{0x10D6F, 0x10D6F, letter | upper | lower},
	{0x10D70, 0x10D85, letter | lower},
	{0x10EC2, 0x10EC4, letter | upper | lower},
	{0x10EFC, 0x10EFC, mark | upper | lower},
	{0x11380, 0x11389, letter | upper | lower},
	{0x1138B, 0x1138B, letter | upper | lower},
	{0x1138E, 0x1138E, letter | upper | lower},
	{0x11390, 0x113B5, letter | upper | lower},
	{0x113B7, 0x113B7, letter | upper | lower},
	{0x113B8, 0x113C0, mark | upper | lower},
	{0x113C2, 0x113C2, mark | upper | lower},
	{0x113C5, 0x113C5, mark | upper | lower},
	{0x113C7, 0x113CA, mark | upper | lower},
	{0x113CC, 0x113D0, mark | upper | lower},
	{0x113D1, 0x113D1, letter | upper | lower},
	{0x113D2, 0x113D2, mark | upper | lower},
	{0x113D3, 0x113D3, letter | upper | lower},
	{0x113E1, 0x113E2, mark | upper | lower},
	{0x116D0, 0x116E3, number},
	{0x11BC0, 0x11BE0, letter | upper | lower},
	{0x11BF0, 0x11BF9, number},
	{0x11F5A, 0x11F5A, mark | upper | lower},
	{0x13460, 0x143FA, letter | upper | lower},
	{0x16100, 0x1611D, letter | upper | lower},
	{0x1611E, 0x1612F, mark | upper | lower},
	{0x16130, 0x16139, number},
	{0x16D40, 0x16D6C, letter | upper | lower},
	{0x16D70, 0x16D79, number},
	{0x18CFF, 0x18CFF, letter | upper | lower},
	{0x1CCF0, 0x1CCF9, number},
	{0x1E5D0, 0x1E5ED, letter | upper | lower},
	{0x1E5EE, 0x1E5EF, mark | upper | lower},
	{0x1E5F0, 0x1E5F0, letter | upper | lower},
	{0x1E5F1, 0x1E5FA, number},
	{0x2EBF0, 0x2EE5D, letter | upper | lower},
}

// lateMarks are the combining characters that came after Unicode 9. Composition
// takes them for characters like any other.
var lateMarks = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x7FD, 0x7FD, 1},
		{0x898, 0x89F, 1},
		{0x8CA, 0x8D3, 1},
		{0x9FE, 0x9FE, 1},
		{0xC3C, 0xC3C, 1},
		{0xD3B, 0xD3C, 1},
		{0xEBA, 0xEBA, 1},
		{0x1715, 0x1715, 1},
		{0x1ABF, 0x1ACE, 1},
		{0x1DF6, 0x1DFA, 1},
		{0xA82C, 0xA82C, 1},
	},
	R32: []unicode.Range32{
		{0x10D24, 0x10D27, 1},
		{0x10EAB, 0x10EAC, 1},
		{0x10EFD, 0x10EFF, 1},
		{0x10F46, 0x10F50, 1},
		{0x10F82, 0x10F85, 1},
		{0x11070, 0x11070, 1},
		{0x1133B, 0x1133B, 1},
		{0x1145E, 0x1145E, 1},
		{0x11839, 0x1183A, 1},
		{0x1193D, 0x1193E, 1},
		{0x11943, 0x11943, 1},
		{0x119E0, 0x119E0, 1},
		{0x11A34, 0x11A34, 1},
		{0x11A47, 0x11A47, 1},
		{0x11A99, 0x11A99, 1},
		{0x11D42, 0x11D42, 1},
		{0x11D44, 0x11D45, 1},
		{0x11D97, 0x11D97, 1},
		{0x11F41, 0x11F42, 1},
		{0x16FF0, 0x16FF1, 1},
		{0x1E08F, 0x1E08F, 1},
		{0x1E130, 0x1E136, 1},
		{0x1E2AE, 0x1E2AE, 1},
		{0x1E2EC, 0x1E2EF, 1},
		{0x1E4EC, 0x1E4EF, 1},
	},
}

// lateVowel is the one composed character (of Dives Akuru) that came after
// Unicode 9 and that x/text knows; its parts are U+11935 and U+11930.
const lateVowel = 0x11938
