package tinygguf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"assay/tokenizer"
)

// file is a GGUF file as an independent reader sees it.
type file struct {
	version uint32
	meta    map[string]any
	tensors map[string]readTensor
	order   []string
	data    int64 // where the data section begins
	size    int64
}

type readTensor struct {
	dims   []uint64
	kind   uint32
	offset uint64
	values []float32
}

// parse reads b by the published layout, and fails the test where b departs
// from it.
func parse(t *testing.T, b []byte) file {
	t.Helper()
	r := bytes.NewReader(b)
	read := func(v any) {
		t.Helper()
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			t.Fatalf("at byte %d: %v", r.Size()-int64(r.Len()), err)
		}
	}
	u32 := func() (v uint32) { read(&v); return }
	u64 := func() (v uint64) { read(&v); return }
	str := func() string {
		s := make([]byte, u64())
		read(s)
		return string(s)
	}
	var value func(kind uint32) any
	value = func(kind uint32) any {
		switch kind {
		case 4:
			return u32()
		case 5:
			return int32(u32())
		case 6:
			return math.Float32frombits(u32())
		case 7:
			var x [1]byte
			read(&x)
			return x[0] == 1
		case 8:
			return str()
		case 9:
			kind, n := u32(), u64()
			list := make([]any, n)
			for i := range list {
				list[i] = value(kind)
			}
			return list
		}
		t.Fatalf("value type %d is none that a model needs", kind)
		return nil
	}
	magic := make([]byte, 4)
	read(magic)
	if string(magic) != "GGUF" {
		t.Fatalf("magic %q", magic)
	}
	f := file{version: u32(), meta: map[string]any{}, tensors: map[string]readTensor{}, size: r.Size()}
	tensors, metas := u64(), u64()
	for range metas {
		key := str()
		f.meta[key] = value(u32())
	}
	for range tensors {
		name := str()
		dims := make([]uint64, u32())
		read(dims)
		f.tensors[name] = readTensor{dims: dims, kind: u32(), offset: u64()}
		f.order = append(f.order, name)
	}
	f.data = r.Size() - int64(r.Len())
	f.data += (32 - f.data%32) % 32
	for name, tr := range f.tensors {
		n := uint64(1)
		for _, d := range tr.dims {
			n *= d
		}
		if _, err := r.Seek(f.data+int64(tr.offset), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		tr.values = make([]float32, n)
		read(tr.values)
		f.tensors[name] = tr
	}
	return f
}

// weather is the file of the Weather model.
func weather(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, Weather()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHeaderAndMetadata(t *testing.T) {
	f := parse(t, weather(t))
	if f.version != 3 {
		t.Errorf("version %d, want 3", f.version)
	}
	tokens := f.meta["tokenizer.ggml.tokens"].([]any)
	for key, want := range map[string]any{
		"general.architecture":       "llama",
		"general.alignment":          uint32(32),
		"llama.context_length":       uint32(32768),
		"llama.embedding_length":     uint32(64),
		"llama.block_count":          uint32(1),
		"llama.vocab_size":           uint32(len(tokens)),
		"llama.rope.dimension_count": uint32(64),
		"tokenizer.ggml.model":       "gpt2",
		"tokenizer.ggml.pre":         "qwen2",
	} {
		if f.meta[key] != want {
			t.Errorf("%s = %v, want %v", key, f.meta[key], want)
		}
	}
	if kinds := f.meta["tokenizer.ggml.token_type"].([]any); len(kinds) != len(tokens) {
		t.Errorf("%d token types for %d tokens", len(kinds), len(tokens))
	}
	if end := f.meta["tokenizer.ggml.eos_token_id"].(uint32); tokens[end] != "<|im_end|>" {
		t.Errorf("token %d ends a text: %v", end, tokens[end])
	}
	seen := map[any]bool{}
	for _, tok := range tokens {
		if seen[tok] {
			t.Errorf("token %q occurs twice", tok)
		}
		seen[tok] = true
	}
	for _, m := range f.meta["tokenizer.ggml.merges"].([]any) {
		left, right, _ := strings.Cut(m.(string), " ")
		if !seen[left] || !seen[right] || !seen[left+right] {
			t.Errorf("merge %q names a token that does not exist", m)
		}
	}
}

func TestTensorsLieEndToEndOnAlignedOffsets(t *testing.T) {
	f := parse(t, weather(t))
	if len(f.order) != 12 {
		t.Errorf("%d tensors, want 3 and 9 of one layer", len(f.order))
	}
	var next int64
	for _, name := range f.order {
		tr := f.tensors[name]
		if tr.kind != 0 {
			t.Errorf("%s: type %d, want 0 (F32)", name, tr.kind)
		}
		if int64(tr.offset) != next || tr.offset%32 != 0 {
			t.Errorf("%s: offset %d, want %d, a multiple of 32", name, tr.offset, next)
		}
		next = aligned(next + 4*int64(len(tr.values)))
	}
	if f.data+next != f.size {
		t.Errorf("%d bytes, want %d of header and %d of data", f.size, f.data, next)
	}
	if d := f.tensors["token_embd.weight"].dims; d[0] != 64 || d[1] != uint64(f.meta["llama.vocab_size"].(uint32)) {
		t.Errorf("token_embd.weight: dimensions %d, want the width first, then the vocabulary", d)
	}
}

func TestPaddingFollowsShortTensors(t *testing.T) {
	var b bytes.Buffer
	meta := []kv{{"general.architecture", "none"}}
	in := []tensor{{"a", 1, 3, []float32{1, 2, 3}}, {"b", 2, 5, nil}, {"c", 1, 1, []float32{4}}}
	if err := writeGGUF(&b, meta, in); err != nil {
		t.Fatal(err)
	}
	f := parse(t, b.Bytes())
	for name, want := range map[string]struct {
		offset uint64
		values []float32
	}{"a": {0, []float32{1, 2, 3}}, "b": {32, make([]float32, 10)}, "c": {96, []float32{4}}} {
		if got := f.tensors[name]; got.offset != want.offset || !slices.Equal(got.values, want.values) {
			t.Errorf("%s at %d: %v, want at %d: %v", name, got.offset, got.values, want.offset, want.values)
		}
	}
}

func TestSameBytesEachTime(t *testing.T) {
	// The merges are learnt from maps, whose order differs from call to call.
	if !bytes.Equal(weather(t), weather(t)) {
		t.Error("two files differ")
	}
}

// logits runs the model on one token as a server does: embedding, root mean
// square norm, output matrix. The layer between adds zero.
func logits(f file, token int) []float64 {
	embed := f.tensors["token_embd.weight"].values[token*width:][:width]
	var square float64
	for _, x := range embed {
		square += float64(x) * float64(x)
	}
	norm := math.Sqrt(square/width + 1e-5)
	output := f.tensors["output.weight"].values
	out := make([]float64, len(output)/width)
	for i := range out {
		for j, x := range embed {
			out[i] += float64(x) / norm * float64(output[i*width+j])
		}
	}
	return out
}

func TestGreedyDecodingFollowsTheScripts(t *testing.T) {
	f := parse(t, weather(t))
	v := newVocab(Weather().Scripts)
	for name, tr := range f.tensors {
		if strings.Contains(name, "attn_") && !strings.HasSuffix(name, "norm.weight") && slices.Max(tr.values) != 0 {
			t.Errorf("%s is not zero", name)
		}
	}
	tests := []struct{ after, want string }{
		{"\n", "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>"},
		{"<|answer|>", "<answer>It is sunny in Paris.</answer>"},
		{"<|dice|>", "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>"},
		{"<|broken|>", "<tool_call>\n{\"name\": get_weather, and so on</tool_call>"},
		{"<|endless|>", strings.Repeat("la la ", 20)},
	}
	for _, tt := range tests {
		t.Run(tt.after, func(t *testing.T) {
			at, err := v.id(tt.after)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for range 20 {
				l := logits(f, at)
				at = slices.Index(l, slices.Max(l))
				if v.tokens[at] == endToken {
					break
				}
				got.WriteString(shown(v, at))
			}
			if got.String() != tt.want {
				t.Errorf("the model says %q, want %q", got.String(), tt.want)
			}
		})
	}
}

func TestLogitsAreThoseOfTheScriptAndZero(t *testing.T) {
	f := parse(t, weather(t))
	v := newVocab(Weather().Scripts)
	start, err := v.id("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"Paris": 24, "Oslo": 23.75, "Rome": 23.5, "Lima": 23.25}
	for id, got := range logits(f, start) {
		// The epsilon of the norm takes 5 millionths away.
		if math.Abs(got-want[shown(v, id)]) > 2e-4 {
			t.Errorf("logit of %q is %v, want %v", shown(v, id), got, want[shown(v, id)])
		}
	}
	for id, got := range logits(f, int('~')) {
		if got != 0 {
			t.Errorf("the logit of %q after a token outside of the scripts is %v, want 0", v.tokens[id], got)
		}
	}
}

// shown is the text of a token, decoded from the byte alphabet.
func shown(v *vocab, id int) string {
	if v.kinds[id] != kindNormal {
		return v.tokens[id]
	}
	var b []byte
	for _, r := range v.tokens[id] {
		for c := range 256 {
			if byteRune(byte(c)) == r {
				b = append(b, byte(c))
			}
		}
	}
	return string(b)
}

func TestByteAlphabet(t *testing.T) {
	for b, want := range map[byte]rune{'a': 'a', ' ': 'Ġ', '\n': 'Ċ', 0: 'Ā', 0x7F: 'ġ', 0xA1: '¡', 0xAD: 'Ń', 0xFF: 'ÿ'} {
		if got := byteRune(b); got != want {
			t.Errorf("byte %#x is %q, want %q", b, got, want)
		}
	}
	seen := map[rune]bool{}
	for b := range 256 {
		seen[byteRune(byte(b))] = true
	}
	if len(seen) != 256 {
		t.Errorf("%d letters for 256 bytes", len(seen))
	}
}

func TestLearn(t *testing.T) {
	// Pieces "low" ×2, " low" ×1 and " lot" ×1: "lo" occurs 4 times, then
	// "low" 3 times, then "Ġlo" and "Ġlow" once each, which is too few.
	want := [][2]string{{"l", "o"}, {"lo", "w"}}
	if got := learn("low\nlow\n low lot", 10); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("learn = %v, want %v", got, want)
	}
}

// encode is byte-pair encoding: the merge of lowest rank first, each at all
// its places.
func encode(v *vocab, text string) int {
	rank := map[[2]string]int{}
	for i, m := range v.merges {
		left, right, _ := strings.Cut(m, " ")
		rank[[2]string{left, right}] = i
	}
	n := 0
	for _, p := range pieces.FindAllString(text, -1) {
		w := strings.Split(byteText(p), "")
		for {
			best, at := [2]string{}, len(rank)
			for i := range len(w) - 1 {
				if r, ok := rank[[2]string{w[i], w[i+1]}]; ok && r < at {
					best, at = [2]string{w[i], w[i+1]}, r
				}
			}
			if at == len(rank) {
				break
			}
			w = merge(w, best)
		}
		n += len(w)
	}
	return n
}

func TestPromptsAreAsLongAsWithARealModel(t *testing.T) {
	v := newVocab(Weather().Scripts)
	text := "You can use the tools to answer the question of the user. What is the weather in the city of the meeting?\n" +
		`{"name": "get_price", "description": "Returns the price of a room", "parameters": {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}}`
	if n := encode(v, text); n*3 > len(text) {
		t.Errorf("%d tokens for %d bytes, want less than one for 3", n, len(text))
	}
}

func TestBadScripts(t *testing.T) {
	tests := []struct {
		name    string
		scripts []Script
		want    string
	}{
		{"a token with two futures", []Script{{After: "\n", Parts: [][]string{{"x"}, {"y"}}}, {After: " ", Parts: [][]string{{"x"}, {"z"}}}}, `"x" is followed by`},
		{"a beginning of many bytes", []Script{{After: "zzzzzq", Parts: [][]string{{"x"}}}}, `no token "zzzzzq"`},
		{"an empty script", []Script{{After: "\n"}}, "is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Write(io.Discard, Spec{Scripts: tt.scripts})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestWriteReportsAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full on this system")
	}
	defer func() { _ = full.Close() }()
	if err := Write(full, Weather()); err == nil {
		t.Error("no error")
	}
}

// The tokenizer.json gives the ids that a server makes by the GGUF file.
func TestTokenizerIsThatOfTheModel(t *testing.T) {
	var file bytes.Buffer
	if err := WriteTokenizer(&file, Weather()); err != nil {
		t.Fatal(err)
	}
	tok, err := tokenizer.Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	v := newVocab(Weather().Scripts)
	for _, text := range []string{
		"", "What is the weather in Paris?", "one\ntwo\n\nthree", "déjà vu 2024, 日本語 🙂",
		`{"name": "get_weather", "arguments": {"city": "Paris"}}`, strings.Repeat("the city ", 50),
	} {
		if got, want := tok.Encode(text), encode(v, text); len(got) != want {
			t.Errorf("%q: %d tokens, want %d", text, len(got), want)
		}
	}
	got := tok.Encode("<|im_start|>user\n<tool_call>x</tool_call><|im_end|>")
	for id, text := range map[int]string{0: "<|im_start|>", len(got) - 1: "<|im_end|>"} {
		if name, _ := tok.Token(got[id]); name != text || v.ids[text] != got[id] {
			t.Errorf("token %d is %q with id %d, want %q with id %d", id, name, got[id], text, v.ids[text])
		}
	}
}
