package raw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	json "github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"pgregory.net/rapid"
)

// A message is the usual element of a conversation.
type message struct {
	From  string `parquet:"from" json:"from"`
	Value string `parquet:"value" json:"value"`
}

// write returns a Parquet file with those rows.
func write[T any](t testing.TB, rows []T, opts ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, opts...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// writeNode returns a Parquet file of that schema with rows of any kind.
func writeNode(t testing.TB, schema parquet.Group, rows ...map[string]any) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[map[string]any](&b, parquet.NewSchema("row", schema))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rows reads a file and returns the text of its elements, and how it ended.
func rows(t testing.TB, file []byte, opt Options) ([]string, error) {
	t.Helper()
	return rowsOf(t, bytes.NewReader(file), opt)
}

func rowsOf(t testing.TB, r io.Reader, opt Options) ([]string, error) {
	t.Helper()
	var got []string
	for el, err := range Read(t.Context(), r, "f", opt) {
		if large, ok := errors.AsType[*TooLargeError](err); ok {
			got = append(got, fmt.Sprintf("too large: %d", large.Size))
			continue
		}
		if err != nil {
			return got, err
		}
		if el.Cells != nil {
			el.Data = Row(el.Cells)
		}
		if !json.Valid(el.Data) {
			t.Errorf("row %d is not valid JSON: %.200s", el.Pos.Index, el.Data)
		}
		if el.Pos.Line != 0 || el.Pos.Offset != 0 || el.Pos.Index != len(got) {
			t.Errorf("row %d is at %+v", len(got), el.Pos)
		}
		got = append(got, string(el.Data))
	}
	return got, nil
}

func TestParquetValues(t *testing.T) {
	str, opt := parquet.String(), parquet.Optional
	pair := parquet.Group{"from": opt(str), "value": opt(str)}
	moment := time.Date(2024, 2, 29, 13, 14, 15, 123e6, time.UTC)
	tests := []struct {
		name string
		node parquet.Node
		in   any
		want string
	}{
		{"text is a string", str, "a\"b\n日本", `"a\"b\n日本"`},
		{"text that is not UTF-8 is mended", str, "a\xffb", "\"a\uFFFDb\""},
		{"text of JSON stays text", parquet.JSON(), `{"a":1}`, `"{\"a\":1}"`},
		{"bytes that are text are a string", parquet.Leaf(parquet.ByteArrayType), []byte("ab"), `"ab"`},
		{"bytes that are no text are base64", parquet.Leaf(parquet.ByteArrayType), []byte("\xff\x00"), `"/wA="`},
		{"fixed bytes are base64", parquet.Leaf(parquet.FixedLenByteArrayType(3)), []byte{1, 2, 3}, `"AQID"`},
		{"the largest integer keeps its digits", parquet.Int(64), int64(math.MaxInt64), `9223372036854775807`},
		{"the largest unsigned integer too", parquet.Uint(64), uint64(math.MaxUint64), `18446744073709551615`},
		{"an unsigned integer of 32 bits", parquet.Uint(32), uint32(math.MaxUint32), `4294967295`},
		{"a negative integer", parquet.Int(32), int32(-7), `-7`},
		{"true", parquet.Leaf(parquet.BooleanType), true, `true`},
		{"the shortest double", parquet.Leaf(parquet.DoubleType), 0.1, `0.1`},
		{"the shortest float", parquet.Leaf(parquet.FloatType), float32(0.1), `0.1`},
		{"a tiny double", parquet.Leaf(parquet.DoubleType), 1e-7, `1e-07`},
		{"a huge double", parquet.Leaf(parquet.DoubleType), 1e21, `1e+21`},
		{"no number is null", parquet.Leaf(parquet.DoubleType), math.NaN(), `null`},
		{"infinity is null", parquet.Leaf(parquet.DoubleType), math.Inf(-1), `null`},
		{"a decimal keeps its digits", parquet.Decimal(2, 9, parquet.Int32Type), int32(-120), `-1.20`},
		{"a small decimal", parquet.Decimal(4, 18, parquet.Int64Type), int64(7), `0.0007`},
		{"a decimal of bytes", parquet.Decimal(3, 10, parquet.FixedLenByteArrayType(4)), []byte{0xff, 0xff, 0xff, 0xfe}, `-0.002`},
		{"a date", parquet.Date(), int32(19782), `"2024-02-29"`},
		{"a timestamp", parquet.Timestamp(parquet.Millisecond), moment.UnixMilli(), `"2024-02-29T13:14:15.123Z"`},
		{"a timestamp before 1970", parquet.Timestamp(parquet.Microsecond), int64(-1), `"1969-12-31T23:59:59.999999Z"`},
		{"a local timestamp", parquet.TimestampAdjusted(parquet.Nanosecond, false), moment.UnixNano(), `"2024-02-29T13:14:15.123"`},
		{"a time of day", parquet.Time(parquet.Millisecond), int32(45296007), `"12:34:56.007"`},
		{"a UUID", parquet.UUID(), []byte{0: 0x12, 15: 0xef}, `"12000000-0000-0000-0000-0000000000ef"`},
		{"a null", opt(str), nil, `null`},
		{"a struct", pair, map[string]any{"from": "a", "value": nil}, `{"from":"a","value":null}`},
		{"a null struct", opt(pair), nil, `null`},
		{
			"a list of structs", parquet.List(pair),
			[]any{map[string]any{"from": "a", "value": "b"}, map[string]any{"from": "c"}},
			`[{"from":"a","value":"b"},{"from":"c","value":null}]`,
		},
		{"an empty list", opt(parquet.List(str)), []any{}, `[]`},
		{"a null list", opt(parquet.List(str)), nil, `null`},
		{"a list with a null", parquet.List(opt(str)), []any{"a", nil}, `["a",null]`},
		{"a list of lists", parquet.List(parquet.List(parquet.Int(64))), []any{[]any{int64(1), int64(2)}, []any{}, []any{int64(3)}}, `[[1,2],[],[3]]`},
		{"a repeated column", parquet.Repeated(str), []any{"a", "b"}, `["a","b"]`},
		{"a repeated column without a value", parquet.Repeated(str), []any{}, `[]`},
		{"a map", parquet.Map(str, parquet.Int(64)), map[string]any{"a": int64(1)}, `{"a":1}`},
		{"an empty map", parquet.Map(str, parquet.Int(64)), map[string]any{}, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := writeNode(t, parquet.Group{"a": tt.node, "z": parquet.Int(64)},
				map[string]any{"a": tt.in, "z": int64(1)}, map[string]any{"a": tt.in, "z": int64(2)})
			for _, opt := range []Options{{}, {Cells: true}} {
				got, err := rows(t, file, opt)
				if want := []string{`{"a":` + tt.want + `,"z":1}`, `{"a":` + tt.want + `,"z":2}`}; err != nil || !cmp.Equal(got, want) {
					t.Errorf("cells %v: have %q, %v\nwant %q", opt.Cells, got, err, want)
				}
			}
		})
	}
}

// A conversation has every nesting that corpora use.
type conversation struct {
	ID       string    `parquet:"id" json:"id"`
	Messages []message `parquet:"messages,list" json:"messages"`
	Tools    string    `parquet:"tools" json:"tools"`
	Called   *bool     `parquet:"called,optional" json:"called"`
}

func conversations(n int) []conversation {
	out := make([]conversation, n)
	yes := true
	for i := range out {
		out[i].ID = fmt.Sprintf("c%d", i)
		out[i].Messages = []message{}
		for j := range i % 4 {
			out[i].Messages = append(out[i].Messages, message{"human", strings.Repeat(fmt.Sprintf("text %d ", j), i%7)})
		}
		out[i].Tools = fmt.Sprintf(`[{"name":"t%d"}]`, i%5)
		if i%3 == 0 {
			out[i].Called = &yes
		}
	}
	return out
}

// want returns the elements of those rows, made by another encoder.
func want(t testing.TB, cs []conversation) []string {
	t.Helper()
	var out []string
	for _, c := range cs {
		b, err := json.MarshalWithOption(c, json.DisableHTMLEscape())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

func TestParquetForms(t *testing.T) {
	cs := conversations(1000)
	pages := []parquet.WriterOption{parquet.PageBufferSize(500)}
	type dictionary struct {
		ID       string    `parquet:"id,dict"`
		Messages []message `parquet:"messages,list"`
		Tools    string    `parquet:"tools,dict"`
		Called   *bool     `parquet:"called,optional"`
	}
	dict := make([]dictionary, len(cs))
	for i, c := range cs {
		dict[i] = dictionary(c)
	}
	codec := func(c compress.Codec) []byte { return write(t, cs, append(pages, parquet.Compression(c))...) }
	tests := []struct {
		name string
		file []byte
	}{
		{"not compressed, one page a column", write(t, cs)},
		{"snappy, many pages", codec(&parquet.Snappy)},
		{"zstd", codec(&parquet.Zstd)},
		{"gzip", codec(&parquet.Gzip)},
		{"brotli", codec(&parquet.Brotli)},
		{"lz4", codec(&parquet.Lz4Raw)},
		{"data pages of version 1", write(t, cs, append(pages, parquet.DataPageVersion(1))...)},
		{"data pages of version 2", write(t, cs, append(pages, parquet.DataPageVersion(2), parquet.Compression(&parquet.Snappy))...)},
		{"dictionaries", write(t, dict, append(pages, parquet.Compression(&parquet.Snappy))...)},
		{"a dictionary that is given up within a chunk", write(t, dict, append(pages, parquet.DictionaryMaxBytes(100))...)},
		{"row groups of 7", write(t, cs, parquet.MaxRowsPerRowGroup(7))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rows(t, tt.file, Options{})
			if diff := cmp.Diff(want(t, cs), got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	t.Run("no rows", func(t *testing.T) {
		if got, err := rows(t, write(t, cs[:0]), Options{}); len(got) > 0 || err != nil {
			t.Errorf("have %q, %v", got, err)
		}
	})
}

func TestParquetStreams(t *testing.T) {
	cs := conversations(100)
	file := write(t, cs)
	t.Setenv("TMPDIR", t.TempDir())
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(file); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	onDisk, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = onDisk.Close() }()
	tests := []struct {
		name string
		r    io.Reader
	}{
		{"a file", onDisk},
		{"a stream", io.MultiReader(bytes.NewReader(file))},
		{"one byte at a time", iotest.OneByteReader(bytes.NewReader(file))},
		{"gzip", bytes.NewReader(zipped.Bytes())},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rowsOf(t, tt.r, Options{})
			if diff := cmp.Diff(want(t, cs), got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			left, err := os.ReadDir(os.Getenv("TMPDIR"))
			if err != nil || len(left) > 0 {
				t.Errorf("temporary files are left: %v, %v", left, err)
			}
		})
	}
	t.Run("a stream that is cut off", func(t *testing.T) {
		_, err := rowsOf(t, bytes.NewReader(zipped.Bytes()[:zipped.Len()-20]), Options{})
		if err == nil || !strings.Contains(err.Error(), "the compressed file is cut off; fetch it again") {
			t.Errorf("have %v", err)
		}
	})
	t.Run("a stream that breaks", func(t *testing.T) {
		broken := errors.New("disk on fire")
		_, err := rowsOf(t, io.MultiReader(bytes.NewReader(file), iotest.ErrReader(broken)), Options{})
		if !errors.Is(err, broken) {
			t.Errorf("have %v, want %v", err, broken)
		}
	})
	t.Run("no room for a temporary file", func(t *testing.T) {
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
		_, err := rowsOf(t, io.MultiReader(bytes.NewReader(file)), Options{})
		if err == nil || !strings.Contains(err.Error(), "set TMPDIR, or give the file itself by its path") {
			t.Errorf("have %v", err)
		}
	})
}

func TestParquetColumns(t *testing.T) {
	file := write(t, conversations(2))
	tests := []struct {
		name string
		want []string
		row  string // the first
		err  string
	}{
		{"all", nil, `{"id":"c0","messages":[],"tools":"[{\"name\":\"t0\"}]","called":true}`, ""},
		{"one", []string{"id"}, `{"id":"c0"}`, ""},
		{"in the order of the file", []string{"called", "id"}, `{"id":"c0","called":true}`, ""},
		{"of a nested column all of it", []string{"messages"}, `{"messages":[]}`, ""},
		{"an alias", []string{"available_tools|tools"}, `{"tools":"[{\"name\":\"t0\"}]"}`, ""},
		{"one that may be absent", []string{"id", "category?"}, `{"id":"c0"}`, ""},
		{"one that is absent", []string{"uuid"}, "", `f: after 0 elements: the Parquet file cannot be opened: want a column uuid, have only the columns "id", "messages", "tools", "called"; is this a file of that source?`},
		{"all may be absent and are", []string{"uuid?"}, "", "it has no columns"},
		{"none of two aliases", []string{"a|b"}, "", `want a column a or b, have only`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := rows(t, file, Options{Columns: tt.want})
			if tt.err != "" {
				if _, ok := errors.AsType[*ContainerError](err); !ok || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("have %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil || got[0] != tt.row {
				t.Errorf("have %q, %v\nwant %q", got, err, tt.row)
			}
		})
	}
}

func TestParquetLimit(t *testing.T) {
	cs := conversations(3)
	cs[1].Tools = strings.Repeat("x", 1000)
	got, err := rows(t, write(t, cs), Options{MaxElement: 500})
	all := want(t, cs)
	all[1] = fmt.Sprintf("too large: %d", len(all[1]))
	if diff := cmp.Diff(all, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestParquetCells checks on random rows that cells say what Data would, however
// the columns are cut into pages, and that a row which is too large is told in
// both ways.
func TestParquetCells(t *testing.T) {
	type row struct {
		ID    int64   `parquet:"id"`
		Query string  `parquet:"query"`
		Tools *string `parquet:"tools,optional"`
	}
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) row {
			r := row{ID: rapid.Int64().Draw(rt, "id"), Query: rapid.StringN(0, 200, -1).Draw(rt, "query")}
			if text := rapid.String().Draw(rt, "tools"); rapid.Bool().Draw(rt, "some") {
				r.Tools = &text
			}
			return r
		}), 0, 40).Draw(rt, "rows")
		file := write(t, in, parquet.PageBufferSize(rapid.IntRange(20, 2000).Draw(rt, "page")),
			parquet.MaxRowsPerRowGroup(int64(rapid.IntRange(1, 50).Draw(rt, "group"))))
		lines, err := rows(t, file, Options{})
		cells, cellsErr := rows(t, file, Options{Cells: true})
		if err != nil || cellsErr != nil || len(lines) != len(in) || !cmp.Equal(lines, cells) {
			rt.Fatalf("%v, %v (-lines +cells):\n%s", err, cellsErr, cmp.Diff(lines, cells))
		}
	})
	large := strings.Repeat("x", 1000)
	file := write(t, []row{{1, "a", nil}, {2, large, nil}, {3, "b", &large}, {4, "c", nil}})
	for _, opt := range []Options{{MaxElement: 500}, {MaxElement: 500, Cells: true}} {
		got, err := rows(t, file, opt)
		want := []string{`{"id":1,"query":"a","tools":null}`, "too large: 1032", "too large: 1031", `{"id":4,"query":"c","tools":null}`}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("cells %v: %v (-want +got):\n%s", opt.Cells, err, diff)
		}
	}
}

// TestParquetMany checks on random rows what forms promise on chosen ones.
func TestParquetMany(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cs := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) conversation {
			c := conversation{ID: rapid.String().Draw(rt, "id"), Messages: []message{}, Tools: rapid.String().Draw(rt, "tools")}
			for range rapid.IntRange(0, 5).Draw(rt, "messages") {
				c.Messages = append(c.Messages, message{rapid.String().Draw(rt, "from"), rapid.StringN(0, 60, -1).Draw(rt, "value")})
			}
			return c
		}), 0, 40).Draw(rt, "rows")
		file := write(t, cs, parquet.PageBufferSize(rapid.IntRange(20, 2000).Draw(rt, "page")),
			parquet.MaxRowsPerRowGroup(int64(rapid.IntRange(1, 50).Draw(rt, "group"))))
		got, err := rows(t, file, Options{})
		if err != nil || len(got) != len(cs) {
			rt.Fatalf("%d of %d rows, %v", len(got), len(cs), err)
		}
		for i, text := range got {
			var c conversation
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(cs[i], c); diff != "" {
				rt.Fatalf("row %d (-want +got):\n%s", i, diff)
			}
		}
	})
}

func TestParquetBroken(t *testing.T) {
	cs := conversations(300)
	file := write(t, cs, parquet.MaxRowsPerRowGroup(20), parquet.Compression(&parquet.Snappy))
	all := want(t, cs)
	broken, kept := 0, 0
	for i := range len(file) {
		if i%31 > 0 { // each byte takes a while
			continue
		}
		bad := bytes.Clone(file)
		bad[i] ^= 0x55
		got, err := rows(t, bad, Options{MaxElement: 1 << 20})
		if err != nil {
			broken++
			if _, ok := errors.AsType[*ContainerError](err); !ok {
				t.Errorf("byte %d: have a %T: %v, want a *ContainerError", i, err, err)
			}
		}
		if len(got) > 0 && got[0] == all[0] {
			kept++
		}
	}
	if broken < 20 || kept < 20 {
		t.Errorf("%d of %d changed bytes are an error and %d leave the first row; want some of both", broken, len(file)/31, kept)
	}
	for _, cut := range []int{4, 8, 11, 12, len(file) / 2, len(file) - 1} {
		got, err := rows(t, file[:cut], Options{})
		if _, ok := errors.AsType[*ContainerError](err); !ok || len(got) > 0 {
			t.Errorf("cut at %d: have %d rows and %v, want a *ContainerError", cut, len(got), err)
		}
	}
}

func TestParquetBreak(t *testing.T) {
	file := write(t, conversations(100))
	n := 0
	for _, err := range Read(t.Context(), bytes.NewReader(file), "f", Options{}) {
		if n++; err != nil || n == 3 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n = 0
	var last error
	for _, err := range Read(ctx, bytes.NewReader(file), "f", Options{}) {
		if n++; n == 3 {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) || n != 4 {
		t.Errorf("after %d rows: %v, want context.Canceled after 3", n-1, last)
	}
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("a panic of the loop body became %v", p)
		}
	}()
	for _, err := range Read(t.Context(), bytes.NewReader(file), "f", Options{}) {
		if err != nil {
			t.Error(err)
		}
		panic("mine")
	}
}

func FuzzParquet(f *testing.F) {
	f.Add(write(f, conversations(3)))
	f.Add(write(f, conversations(9), parquet.MaxRowsPerRowGroup(2), parquet.Compression(&parquet.Zstd)))
	f.Add(writeNode(f, parquet.Group{"m": parquet.Map(parquet.Int(64), parquet.List(parquet.String()))},
		map[string]any{"m": map[int64]any{1: []any{"a"}}}))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 10<<10 {
			return
		}
		file = append([]byte("PAR1"), file[min(4, len(file)):]...)
		n := 0
		for el, err := range Read(t.Context(), bytes.NewReader(file), "f", Options{MaxElement: 1 << 20}) {
			if err == nil && !json.Valid(el.Data) {
				t.Errorf("row %d is not valid JSON: %.200s", el.Pos.Index, el.Data)
			}
			if n++; n > 1e5 {
				return // few bytes can hold many nulls
			}
		}
	})
}

func BenchmarkParquet(b *testing.B) {
	cs := conversations(20000)
	for i := range cs {
		cs[i].Tools = strings.Repeat(cs[i].Tools, 100)
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			file := write(b, cs, parquet.MaxRowsPerRowGroup(4096), parquet.Compression(codec))
			size := int64(0)
			for el, err := range Read(b.Context(), bytes.NewReader(file), "f", Options{}) {
				if err != nil {
					b.Fatal(err)
				}
				size += int64(len(el.Data))
			}
			b.SetBytes(size) // of JSON
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range Read(b.Context(), bytes.NewReader(file), "f", Options{}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
