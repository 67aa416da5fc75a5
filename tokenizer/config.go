package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-json"
)

// maxFile is how large a tokenizer.json may be. The largest known ones have
// 35 MB.
const maxFile = 256 << 20

// maxTokens bounds the ids of a file, for which tables are made.
const maxTokens = 1 << 22

// A file is what tokenizer.json holds, as far as it decides ids. The rest is
// for padding, truncation and special tokens around a text, which are the
// business of whoever renders the text.
type file struct {
	Added      []addedToken    `json:"added_tokens"`
	Normalizer json.RawMessage `json:"normalizer"`
	Pre        json.RawMessage `json:"pre_tokenizer"`
	Decoder    json.RawMessage `json:"decoder"`
	Model      struct {
		Type         string          `json:"type"`
		Vocab        json.RawMessage `json:"vocab"`
		Merges       json.RawMessage `json:"merges"`
		Dropout      *float64        `json:"dropout"`
		Prefix       string          `json:"continuing_subword_prefix"`
		Suffix       string          `json:"end_of_word_suffix"`
		ByteFallback bool            `json:"byte_fallback"`
		IgnoreMerges bool            `json:"ignore_merges"`
	} `json:"model"`
}

type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LeftStrip  bool   `json:"lstrip"`
	RightStrip bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// A step is a normaliser or a pre-tokenizer.
type step struct {
	Type           string          `json:"type"`
	Normalizers    []step          `json:"normalizers"`
	PreTokenizers  []step          `json:"pretokenizers"`
	Pattern        json.RawMessage `json:"pattern"`
	Behavior       string          `json:"behavior"`
	Invert         bool            `json:"invert"`
	AddPrefixSpace *bool           `json:"add_prefix_space"`
	UseRegex       *bool           `json:"use_regex"`
}

// LoadFile reads the tokenizer.json at path.
func LoadFile(path string) (*Tokenizer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := 0
	if info, err := f.Stat(); err == nil {
		size = int(min(info.Size(), maxFile))
	}
	t, err := load(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Load reads a tokenizer.json. What decides ids and is not known is an error
// that names it.
func Load(r io.Reader) (*Tokenizer, error) { return load(r, 0) }

// load is Load of about size bytes.
func load(r io.Reader, size int) (*Tokenizer, error) {
	var data bytes.Buffer
	data.Grow(size + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(r, maxFile+1)); err != nil {
		return nil, err
	}
	if data.Len() > maxFile {
		return nil, fmt.Errorf("want a tokenizer.json of at most %d bytes, have more", maxFile)
	}
	var f file
	err := json.Unmarshal(data.Bytes(), &f)
	if err != nil {
		return nil, fmt.Errorf("want a tokenizer.json of Hugging Face's tokenizers: %w", err)
	}
	t := &Tokenizer{}
	if err := t.readModel(&f); err != nil {
		return nil, err
	}
	if t.nfc, err = readNormalizer(f.Normalizer); err != nil {
		return nil, err
	}
	if err := t.readPreTokenizer(f.Pre); err != nil {
		return nil, err
	}
	if err := checkDecoder(f.Decoder); err != nil {
		return nil, err
	}
	if err := t.addTokens(f.Added); err != nil {
		return nil, err
	}
	t.pool = make(chan *encoder, poolSize())
	return t, nil
}

func absent(raw json.RawMessage) bool {
	text := bytes.TrimSpace(raw)
	return len(text) == 0 || string(text) == "null"
}

func (t *Tokenizer) readModel(f *file) error {
	m := &f.Model
	switch {
	case m.Type != "" && m.Type != "BPE":
		return fmt.Errorf("/model/type: want BPE, have %q: only byte-level BPE is known", m.Type)
	case m.ByteFallback:
		return errors.New("/model/byte_fallback: want false: vocabularies of the SentencePiece kind are not known")
	case m.Prefix != "" || m.Suffix != "":
		return fmt.Errorf("/model: want no continuing_subword_prefix and no end_of_word_suffix, have %q and %q", m.Prefix, m.Suffix)
	case m.Dropout != nil && *m.Dropout != 0:
		return fmt.Errorf("/model/dropout: want none, have %g: ids would be random", *m.Dropout)
	}
	// An entry takes 18 bytes or more in all known files; a map that grows would
	// take longer than all else here.
	vocab := make(map[string]int, min(len(m.Vocab)/18, maxTokens))
	if err := json.Unmarshal(m.Vocab, &vocab); err != nil {
		return fmt.Errorf("/model/vocab: want an object of token: id: %w", err)
	}
	if err := t.setVocab(vocab); err != nil {
		return err
	}
	t.ignoreMerges = m.IgnoreMerges
	return t.readMerges(vocab, m.Merges)
}

// readMerges reads merges in either form: "a b", or ["a","b"], which newer
// files have because tokens may hold blanks.
func (t *Tokenizer) readMerges(vocab map[string]int, raw json.RawMessage) error {
	var pairs [][2]string
	if text := bytes.TrimLeft(raw, "[ \t\r\n"); len(text) > 0 && text[0] == '"' && bytes.Count(raw[:len(raw)-len(text)], []byte("[")) == 1 {
		var lines []string
		if err := json.Unmarshal(raw, &lines); err != nil {
			return fmt.Errorf("/model/merges: %w", err)
		}
		pairs = make([][2]string, len(lines))
		for i, line := range lines {
			a, b, ok := strings.Cut(line, " ")
			if !ok || strings.Contains(b, " ") {
				return fmt.Errorf("/model/merges/%d: want two tokens with a blank between them, have %q", i, line)
			}
			pairs[i] = [2]string{a, b}
		}
	} else if !absent(raw) {
		if err := json.Unmarshal(raw, &pairs); err != nil {
			return fmt.Errorf("/model/merges: want strings or pairs of strings: %w", err)
		}
	}
	t.merges = newMergeTable(len(pairs))
	for rank, pair := range pairs {
		a, okA := vocab[pair[0]]
		b, okB := vocab[pair[1]]
		ab, okAB := vocab[pair[0]+pair[1]]
		if !okA || !okB || !okAB {
			return fmt.Errorf("/model/merges/%d: %q and %q and what they make are not all in the vocabulary", rank, pair[0], pair[1])
		}
		t.merges.put(uint32(a), uint32(b), merge{rank: uint32(rank), id: uint32(ab)})
	}
	return nil
}

// readNormalizer reports whether text is to be brought into form NFC.
func readNormalizer(raw json.RawMessage) (nfc bool, err error) {
	if absent(raw) {
		return false, nil
	}
	var s step
	if err := json.Unmarshal(raw, &s); err != nil {
		return false, fmt.Errorf("/normalizer: %w", err)
	}
	steps := []step{s}
	if s.Type == "Sequence" {
		steps = s.Normalizers
	}
	for _, s := range steps {
		if s.Type != "NFC" {
			return false, fmt.Errorf("/normalizer: want NFC or none, have %q, which is not known", s.Type)
		}
		nfc = true
	}
	return nfc, nil
}

// readPreTokenizer takes ByteLevel alone, which cuts as GPT-2 does, or a Split
// by a known pattern and then a ByteLevel that does not cut again.
func (t *Tokenizer) readPreTokenizer(raw json.RawMessage) error {
	if absent(raw) {
		return errors.New("/pre_tokenizer: want one that makes bytes of text (ByteLevel), have none")
	}
	var s step
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("/pre_tokenizer: %w", err)
	}
	steps := []step{s}
	if s.Type == "Sequence" {
		steps = s.PreTokenizers
	}
	var types []string
	for _, s := range steps {
		types = append(types, s.Type)
	}
	if !slices.Equal(types, []string{"ByteLevel"}) && !slices.Equal(types, []string{"Split", "ByteLevel"}) {
		return fmt.Errorf("/pre_tokenizer: want ByteLevel, or Split and then ByteLevel, have %q", types)
	}
	level := steps[len(steps)-1]
	prefix := level.AddPrefixSpace == nil || *level.AddPrefixSpace // the defaults of the library
	cuts := level.UseRegex == nil || *level.UseRegex
	if len(steps) == 1 {
		if !cuts {
			return errors.New("/pre_tokenizer: want a pattern, or ByteLevel with use_regex, have neither")
		}
		t.prefixSpace = prefix
		t.pattern, _ = patternOf(gpt2Regexp)
		return nil
	}
	if cuts || prefix {
		return errors.New("/pre_tokenizer: want a ByteLevel with use_regex and add_prefix_space false after a Split, have another")
	}
	return t.readSplit(steps[0])
}

func (t *Tokenizer) readSplit(s step) error {
	var pattern struct{ Regex *string }
	if err := json.Unmarshal(s.Pattern, &pattern); err != nil || pattern.Regex == nil {
		return fmt.Errorf("/pre_tokenizer: want a Split by a Regex, have %.200q", s.Pattern)
	}
	if s.Behavior != "Isolated" || s.Invert {
		return fmt.Errorf("/pre_tokenizer: want a Split with behavior Isolated that is not inverted, have %q, invert %t", s.Behavior, s.Invert)
	}
	p, ok := patternOf(*pattern.Regex)
	if !ok {
		return fmt.Errorf("/pre_tokenizer: the pattern %q is not known; known are those of %s", *pattern.Regex, users())
	}
	t.pattern = p
	return nil
}

func users() string {
	var out []string
	for _, p := range patterns {
		out = append(out, p.Users)
	}
	return strings.Join(out, ", ")
}

func checkDecoder(raw json.RawMessage) error {
	if absent(raw) {
		return nil
	}
	var s step
	if err := json.Unmarshal(raw, &s); err != nil || s.Type != "ByteLevel" {
		return fmt.Errorf("/decoder: want ByteLevel, have %q", s.Type)
	}
	return nil
}
