package raw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// collect reads everything and writes each element as index:line@offset key=data.
func collect(t testing.TB, r io.Reader, opt Options) (got []string, end error) {
	t.Helper()
	for el, err := range Read(t.Context(), r, "f", opt) {
		if end != nil {
			t.Fatalf("an element or error comes after %v", end)
		}
		if tl, ok := errors.AsType[*TooLargeError](err); ok {
			got = append(got, fmt.Sprintf("%d:%d@%d too large (%d)", tl.Pos.Index, tl.Pos.Line, tl.Pos.Offset, tl.Size))
			continue
		}
		if err != nil {
			end = err
			continue
		}
		if len(el.Data) == 0 {
			t.Errorf("element %d is empty", el.Pos.Index)
		}
		s := fmt.Sprintf("%d:%d@%d ", el.Pos.Index, el.Pos.Line, el.Pos.Offset)
		if el.Key != "" {
			s += el.Key + "="
		}
		got = append(got, s+string(el.Data))
	}
	return got, end
}

func TestLayouts(t *testing.T) {
	tests := []struct {
		name, text string
		layout     Layout
		want       []string
		wantErr    string // part of the final error
	}{
		{"an empty file holds nothing", "", Auto, nil, ""},
		{"blanks and a byte order mark are nothing", "\xef\xbb\xbf \r\n\t\n", Auto, nil, ""},
		{"JSON lines", "{\"a\":1}\n{\"b\":2}\n", Auto, []string{`0:1@0 {"a":1}`, `1:2@8 {"b":2}`}, ""},
		{
			"a mark, CRLF, blank lines, indents and no final line break mean nothing", "\xef\xbb\xbf\r\n{\"a\":1}\r\n\r\n  {\"b\":2} ", Auto,
			[]string{`0:2@5 {"a":1}`, `1:4@18 {"b":2}`},
			"",
		},
		{"a line that is no object is an element", "{}\nnull\n12\nrubbish\n{}", Auto, []string{"0:1@0 {}", "1:2@3 null", "2:3@8 12", "3:4@11 rubbish", "4:5@19 {}"}, ""},
		{
			"a broken line costs itself only", "{\"a\":1}\n{\"a\": \"x\n{\"a\":[{{\n{\"a\":2}\n", Auto,
			[]string{`0:1@0 {"a":1}`, `1:2@8 {"a": "x`, `2:3@17 {"a":[{{`, `3:4@26 {"a":2}`},
			"",
		},
		{"a broken first line too", "{\"a\":1\n{\"a\":2}\n{\"a\":3}\n", Auto, []string{`0:1@0 {"a":1`, `1:2@7 {"a":2}`, `2:3@15 {"a":3}`}, ""},
		{"a first line with an open string too", "{\"a\":\"1}\n{\"a\":2}\n", Auto, []string{`0:1@0 {"a":"1}`, `1:2@9 {"a":2}`}, ""},
		{"a first line that closes too often too", "{\"a\":1}}\n{\"a\":2}\n", Auto, []string{`0:1@0 {"a":1}}`, `1:2@9 {"a":2}`}, ""},
		{"lines may begin with another value", "null\n{\"a\":2}\n", Auto, []string{`0:1@0 null`, `1:2@5 {"a":2}`}, ""},
		{"objects over several lines", "{\n \"a\": 1\n}\n{\n \"b\": [\n {}\n]}\n", Auto, []string{"0:1@0 {\n \"a\": 1\n}", "1:4@12 {\n \"b\": [\n {}\n]}"}, ""},
		{"objects without blanks between them share a line", `{"a":1}{"b":"}{"}`, Auto, []string{`0:0@0 {"a":1}`, `1:0@7 {"b":"}{"}`}, ""},
		{"a single object", `{"id":1,"x":{"y":2}}`, Auto, []string{`0:1@0 {"id":1,"x":{"y":2}}`}, ""},
		{"a single object over lines", "{\n\"x\": 1\n}\n", Auto, []string{"0:1@0 {\n\"x\": 1\n}"}, ""},
		{"an object of objects is a map", "{\n \"k\\n1\": {\"a\":1},\n \"k2\" : {}}\n", Auto, []string{"0:2@11 k\n1={\"a\":1}", "1:3@28 k2={}"}, ""},
		{"a map on one line", `{"1":{"a":1},"2":{}}`, Auto, []string{`0:1@5 1={"a":1}`, `1:1@17 2={}`}, ""},
		{"unless it is wanted whole", `{"1":{"a":1},"2":{}}`, Single, []string{`0:1@0 {"1":{"a":1},"2":{}}`}, ""},
		{"an object with the field of a record is no map", `{"x":{},"query":{}}`, Auto, []string{`0:1@0 {"x":{},"query":{}}`}, ""},
		{"an object of one object is no map", `{"x":{}}`, Auto, []string{`0:1@0 {"x":{}}`}, ""},
		{"but any object is one on demand", `{"x":[1], "query":null,"z":"\"}"}`, ObjectMap, []string{`0:1@5 x=[1]`, `1:1@18 query=null`, `2:1@27 z="\"}"`}, ""},
		{"an empty object map", " {}\n", ObjectMap, nil, ""},
		{"an array is no object map", "[]", ObjectMap, nil, `want one object with an element in each member, have "[]"`},
		{"two objects are no object map", `{"a":1} {}`, ObjectMap, []string{"0:1@5 a=1"}, `after the end of the object comes "{}"`},
		{"an array on one line", `[{"a":"]"},[2] ,3,"x,]" , null]`, Auto, []string{`0:0@1 {"a":"]"}`, `1:0@11 [2]`, `2:0@16 3`, `3:0@18 "x,]"`, `4:0@26 null`}, ""},
		{"an array over lines", "[\n{\"a\":1},\n{\"b\":\n2}\n]\n", Auto, []string{`0:2@2 {"a":1}`, "1:3@11 {\"b\":\n2}"}, ""},
		{"an array with objects that begin where others end", "[{\n\"a\":1},{\n\"b\":2}]", Auto, []string{"0:1@1 {\n\"a\":1}", "1:2@10 {\n\"b\":2}"}, ""},
		{"an empty array", " [ ] \n", Auto, nil, ""},
		{"JSON lines that are arrays", "[1,\"a\"]\n[2]\n\n[3]", Auto, []string{`0:1@0 [1,"a"]`, `1:2@8 [2]`, `2:4@13 [3]`}, ""},
		{"one line that is an array is an array", "[1,\"a\"]\n", Auto, []string{`0:1@1 1`, `1:1@3 "a"`}, ""},
		{"unless lines are wanted", "[1,\"a\"]\n", Lines, []string{`0:1@0 [1,"a"]`}, ""},
		{"escapes in strings", `[{"a":"\\"},{"b":"\\\"]"}]`, Auto, []string{`0:0@1 {"a":"\\"}`, `1:0@12 {"b":"\\\"]"}`}, ""},
		{"an array that never closes", `[{"a":1},{"b":2}`, Auto, []string{`0:0@1 {"a":1}`, `1:0@9 {"b":2}`}, "f: byte 16: after 2 elements: the array never closes"},
		{"an array that ends in an element", `[{"a":1},{"b":`, Auto, []string{`0:0@1 {"a":1}`}, "byte 14: after 1 elements: the file ends inside this element"},
		{"text after an array", "[{}]\nrubbish", Auto, []string{"0:1@1 {}"}, `after the end of the array comes "rubbish"`},
		{"a last line that is cut off", "{\"a\":1}\n{\"a\":2", Auto, []string{`0:1@0 {"a":1}`}, "byte 14: after 1 elements: the file ends inside this element"},
		{"a single object that is cut off", "{\"a\":\n{\"b\":2", Auto, nil, "after 0 elements: the file ends inside this element"},
		{"a map that is cut off", `{"a":{},"b"`, ObjectMap, []string{"0:1@5 a={}"}, "the file ends inside this member"},
		{"a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n", Auto, nil, `a Git LFS pointer, which cannot be read: this is not the data but a note where it lies; run "git lfs pull"`},
		{"Parquet", "PAR1\x15\x04", Auto, nil, "the Parquet file cannot be opened: it is cut off after 6 bytes"},
		{"UTF-16", "\xff\xfe{\x00}\x00", Auto, nil, "UTF-16"},
		{"a web page", "\n<!DOCTYPE html>", Auto, nil, "web page"},
		{"CSV", "a,b\n1,2\n", Auto, []string{`0:2@4 {"a":"1","b":"2"}`}, ""},
		{"prose", "hello", Auto, nil, `begins with "hello"`},
		{"joined files with marks", "{}\n\xef\xbb\xbf{\"a\":1}\n", Auto, []string{"0:1@0 {}", `1:2@6 {"a":1}`}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, one := range []bool{false, true} {
				var r io.Reader = strings.NewReader(tt.text)
				if one {
					r = iotest.OneByteReader(r)
				}
				got, err := collect(t, r, Options{Layout: tt.layout})
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("one byte at a time %v: elements differ (-want +got):\n%s", one, diff)
				}
				switch {
				case tt.wantErr == "" && err != nil:
					t.Errorf("one byte at a time %v: error %v", one, err)
				case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)):
					t.Errorf("one byte at a time %v: error %v, want one with %q", one, err, tt.wantErr)
				case err != nil:
					if _, ok := errors.AsType[*ContainerError](err); !ok {
						t.Errorf("error of type %T, want *ContainerError", err)
					}
				}
			}
		})
	}
}

func gz(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zst(t testing.TB, data []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll(data, nil)
}

// compressions are all ways a text may be packed that must be readable.
var compressions = map[string]func(t testing.TB, text []byte) []byte{
	"plain": func(_ testing.TB, text []byte) []byte { return text },
	"gzip":  gz,
	"gzip in two members": func(t testing.TB, text []byte) []byte {
		return append(gz(t, text[:len(text)/2]), gz(t, text[len(text)/2:])...)
	},
	"zstd": zst,
	"zstd in two frames": func(t testing.TB, text []byte) []byte {
		return append(zst(t, text[:len(text)/2]), zst(t, text[len(text)/2:])...)
	},
	"zstd after a skippable frame": func(t testing.TB, text []byte) []byte {
		return append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00skip"), zst(t, text)...)
	},
	"gzip in zstd": func(t testing.TB, text []byte) []byte { return zst(t, gz(t, text)) },
}

// layouts are all ways elements may be held together.
var layouts = map[string]func(elements []string) string{
	"lines":                  func(el []string) string { return strings.Join(el, "\n") },
	"lines with CRLF":        func(el []string) string { return strings.Join(el, "\r\n\r\n") + "\r\n" },
	"array":                  func(el []string) string { return "[" + strings.Join(el, ",") + "]" },
	"array over lines":       func(el []string) string { return "[\n" + strings.Join(el, ",\n") + "\n]\n" },
	"objects without blanks": func(el []string) string { return strings.Join(el, "") },
	"objects over lines": func(el []string) string {
		return strings.ReplaceAll(strings.Join(el, "\n"), `,"s"`, ",\n\"s\"")
	},
	"object map": func(el []string) string {
		members := make([]string, len(el))
		for i, e := range el {
			members[i] = fmt.Sprintf("\"k%d\": %s", i, e)
		}
		return "\xef\xbb\xbf{" + strings.Join(members, ",\r\n") + "}"
	},
}

// checkSame packs the elements and reads them again.
func checkSame(t *testing.T, want []string, layout, compression string, small bool) error {
	text := layouts[layout](want)
	opt := Options{}
	if layout == "object map" {
		opt.Layout = ObjectMap
	}
	var r io.Reader = bytes.NewReader(compressions[compression](t, []byte(text)))
	if small {
		r = iotest.OneByteReader(r)
	}
	var got []string
	for el, err := range Read(t.Context(), r, "f", opt) {
		switch line := 1 + strings.Count(text[:el.Pos.Offset], "\n"); {
		case err != nil:
			return err
		case !strings.HasPrefix(text[el.Pos.Offset:], string(el.Data)):
			return fmt.Errorf("element %d is not at its offset %d", el.Pos.Index, el.Pos.Offset)
		case el.Pos.Line != 0 && el.Pos.Line != line:
			return fmt.Errorf("element %d is said to be on line %d, is on %d", el.Pos.Index, el.Pos.Line, line)
		}
		got = append(got, strings.ReplaceAll(string(el.Data), "\n", ""))
	}
	if diff := cmp.Diff(want, got); len(want) > 0 && diff != "" {
		return fmt.Errorf("elements differ (-want +got):\n%s", diff)
	}
	return nil
}

// TestEveryContainer checks that neither layout, nor compression, nor the size
// of reads changes the elements.
func TestEveryContainer(t *testing.T) {
	want := []string{`{"n":1,"s":0}`, `{"n":2,"s":["}",{"t":"\\\""}]}`, `{"n":3,"s":"é"}`}
	for layout := range layouts {
		for compression := range compressions {
			for _, small := range []bool{false, true} {
				if err := checkSame(t, want, layout, compression, small); err != nil {
					t.Errorf("%s, %s, small reads %v: %v", layout, compression, small, err)
				}
			}
		}
	}
}

// TestAnyElements is TestEveryContainer for random elements.
func TestAnyElements(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		str := rapid.StringOf(rapid.SampledFrom([]rune(`ab\"{}[],:` + "é")))
		want := make([]string, rapid.IntRange(0, 12).Draw(rt, "n"))
		for i := range want {
			want[i] = fmt.Sprintf(`{"n":%d,"s":[%q,{"t":%q}]}`, i, str.Draw(rt, "s"), str.Draw(rt, "t"))
		}
		layout := rapid.SampledFrom(slices.Sorted(maps.Keys(layouts))).Draw(rt, "layout")
		compression := rapid.SampledFrom(slices.Sorted(maps.Keys(compressions))).Draw(rt, "compression")
		if err := checkSame(t, want, layout, compression, rapid.Bool().Draw(rt, "small")); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestTruncation cuts files at every byte: what is yielded is a beginning of
// what is in the whole file, and a cut that loses something is an error.
func TestTruncation(t *testing.T) {
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf(`{"n":%d,"s":"%s"}`, i, strings.Repeat("\\\"{[", i%5)))
	}
	text := strings.Join(lines, "\n") + "\n"
	array := "[" + strings.Join(lines, ",\n") + "]"
	files := map[string][]byte{
		"lines": []byte(text), "array": []byte(array),
		"gzip lines": gz(t, []byte(text)), "gzip array": gz(t, []byte(array)),
		"zstd lines": zst(t, []byte(text)), "zstd array": zst(t, []byte(array)),
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			want, err := collect(t, bytes.NewReader(data), Options{})
			if err != nil || len(want) != len(lines) {
				t.Fatalf("the whole file has %d elements, error %v", len(want), err)
			}
			for n := range data {
				got, err := collect(t, bytes.NewReader(data[:n]), Options{})
				if len(got) > 1 && !cmp.Equal(got, want[:len(got)]) {
					t.Fatalf("cut at %d: elements are not those of the file: %s", n, cmp.Diff(want[:len(got)], got))
				}
				if err == nil {
					// Nothing is lost: lines end between two elements.
					if name != "lines" || n > 0 && strings.Count(text[:n+1], "\n") != len(got) && strings.Count(text[:n], "\n") != len(got) {
						if n > 0 {
							t.Fatalf("cut at %d of %d: no error after %d elements", n, len(data), len(got))
						}
					}
					continue
				}
				ce, ok := errors.AsType[*ContainerError](err)
				if !ok {
					t.Fatalf("cut at %d: error %v of type %T, want *ContainerError", n, err, err)
				}
				if ce.Pos.Index != len(got) {
					t.Fatalf("cut at %d: the error says %d elements, there were %d", n, ce.Pos.Index, len(got))
				}
				if strings.HasPrefix(name, "lines") && ce.Offset != int64(n) {
					t.Fatalf("cut at %d: the error says byte %d", n, ce.Offset)
				}
				if zipped := strings.HasPrefix(name, "gz"); zipped && len(got) > 0 && ce.Compressed != int64(n) {
					t.Fatalf("cut at %d: the error says compressed byte %d", n, ce.Compressed)
				}
			}
		})
	}
}

func TestCorruptGzipYieldsWhatWasGood(t *testing.T) {
	data := gz(t, []byte("{\"a\":1}\n{\"a\":2}\n"))
	data[len(data)-6] ^= 0xff // the checksum
	got, err := collect(t, bytes.NewReader(data), Options{})
	if len(got) != 2 {
		t.Errorf("elements %q, want 2", got)
	}
	if !errors.Is(err, gzip.ErrChecksum) || !strings.Contains(err.Error(), "corrupt; fetch it again") {
		t.Errorf("error %v, want one of the checksum", err)
	}
}

func TestTooManyLayers(t *testing.T) {
	_, err := collect(t, bytes.NewReader(gz(t, gz(t, gz(t, []byte("{}"))))), Options{})
	if err == nil || !strings.Contains(err.Error(), "compressed more than 2 times") {
		t.Errorf("error %v", err)
	}
}

// repeatReader yields head, n bytes of fill, and tail, without holding them.
type repeatReader struct {
	head, tail string
	n          int
}

var filler = bytes.Repeat([]byte("x"), blockSize)

func (r *repeatReader) Read(p []byte) (int, error) {
	switch {
	case r.head != "":
		n := copy(p, r.head)
		r.head = r.head[n:]
		return n, nil
	case r.n > 0:
		n := copy(p[:min(r.n, len(p))], filler)
		r.n -= n
		return n, nil
	case r.tail != "":
		n := copy(p, r.tail)
		r.tail = r.tail[n:]
		return n, nil
	}
	return 0, io.EOF
}

func TestHugeElements(t *testing.T) {
	for _, layout := range []struct {
		name, head, tail string
		size             int
	}{
		{"line", "{\"a\":1}\n{\"b\":\"", "\"}\n{\"c\":3}\n", 100 << 20},
		{"first line", "{\"b\":\"", "\"}\n{\"c\":3}\n{\"d\":3}", 10 << 20},
		{"array", `[{"a":1},{"b":"`, `"},{"c":3}]`, 10 << 20},
	} {
		t.Run(layout.name, func(t *testing.T) {
			var sizes []int
			for el, err := range Elements(t.Context(), &repeatReader{layout.head, layout.tail, layout.size}, "f") {
				if err != nil {
					t.Fatal(err)
				}
				sizes = append(sizes, len(el.Data))
			}
			if len(sizes) != 3 || max(sizes[0], sizes[1]) != layout.size+len(`{"b":""}`) {
				t.Errorf("sizes %v", sizes)
			}

			// A limit keeps the stream going.
			got, err := collect(t, &repeatReader{layout.head, layout.tail, 1 << 20}, Options{MaxElement: 1000})
			if err != nil || len(got) != 3 || !strings.Contains(strings.Join(got, "\n"), "too large (1048584)") {
				t.Errorf("with a limit: %.200q, %v", got, err)
			}
		})
	}
}

func TestDeepNesting(t *testing.T) {
	const depth = 1 << 20
	deep := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
	got, err := collect(t, strings.NewReader(`[{},`+deep+`,{"a":1}]`), Options{})
	if err != nil || len(got) != 3 || !strings.HasSuffix(got[2], `{"a":1}`) {
		t.Errorf("%d elements, %v", len(got), err)
	}
	got, err = collect(t, strings.NewReader(strings.Repeat(`{"a":`, depth)), Options{})
	if len(got) != 0 || err == nil {
		t.Errorf("an object that never closes: %d elements, %v", len(got), err)
	}
}

func TestBreakAndCancel(t *testing.T) {
	text := strings.Repeat("{\"a\":1}\n", 100)
	for name, compress := range compressions {
		data := compress(t, []byte(text))
		n := 0
		for _, err := range Elements(t.Context(), bytes.NewReader(data), "f") {
			if err != nil {
				t.Error(err)
			}
			if n++; n == 3 {
				break
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		var errs []error
		n = 0
		for _, err := range Elements(ctx, bytes.NewReader(data), "f") {
			if n++; n == 3 {
				cancel()
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
		cancel()
		if n != 4 || len(errs) != 1 || !errors.Is(errs[0], context.Canceled) {
			t.Errorf("%s: %d yields, errors %v; want 3 elements and the cancellation", name, n, errs)
		}
	}
}

func TestReadErrorIsPlain(t *testing.T) {
	disk := errors.New("disk on fire")
	for _, head := range []string{"", "{\"a\":1}\n{\"b\"", "[{\"a\":1},{", "\x1f\x8b\x08"} {
		got, err := collect(t, io.MultiReader(strings.NewReader(head), iotest.ErrReader(disk)), Options{})
		if !errors.Is(err, disk) {
			t.Errorf("after %q: error %v", head, err)
		}
		if _, ok := errors.AsType[*ContainerError](err); ok {
			t.Errorf("after %q: a fault of the disk is reported as one of the file: %v", head, err)
		}
		if want := strings.Count(head, "1"); head != "\x1f\x8b\x08" && len(got) != want {
			t.Errorf("after %q: %d elements, want %d", head, len(got), want)
		}
	}
}

// lazyReader never reads anything.
type lazyReader struct{}

func (lazyReader) Read([]byte) (int, error) { return 0, nil }

func TestReaderWithoutProgress(t *testing.T) {
	_, err := collect(t, lazyReader{}, Options{})
	if !errors.Is(err, io.ErrNoProgress) || err.Error() != "f: after 0 bytes: multiple Read calls return no data or error" {
		t.Errorf("error %v", err)
	}
}

func TestTooLargeError(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\":1}\n{\"a\":22}\n{}":   "f:2: the element has 8 bytes, more than the limit of 7",
		"{\"a\":22}{}":                "f#0: the element has 8 bytes, more than the limit of 7",
		"[{},{\"a\":22},{}]":          "f#1: the element has 8 bytes, more than the limit of 7",
		"{\n\"a\":22}\n{\n\"a\":1}\n": "f:1: the element has 9 bytes, more than the limit of 7",
	} {
		var errs []string
		n := 0
		for _, err := range Read(t.Context(), strings.NewReader(text), "f", Options{MaxElement: 7}) {
			if n++; err != nil && len(errs) == 0 {
				errs = append(errs, err.Error())
			}
		}
		if n < 2 || len(errs) != 1 || errs[0] != want {
			t.Errorf("%q: %d yields, %q; want %q and more", text, n, errs, want)
		}
	}
}

func FuzzElements(f *testing.F) {
	for _, s := range []string{"", "{}\n{}", "[{},1]", `{"a":{},"b":{}}`, "{\n}{", "\xef\xbb\xbf[", `["\\"]`, "[1]\n[2]"} {
		f.Add([]byte(s), 0)
		f.Add(gz(f, []byte(s)), 1)
		f.Add(zst(f, []byte(s)), 2)
	}
	f.Fuzz(func(t *testing.T, data []byte, layout int) {
		opt := Options{Layout: Layout(uint(layout) % 4), MaxElement: 1000}
		got, err := collect(t, bytes.NewReader(data), opt)
		small, smallErr := collect(t, iotest.OneByteReader(bytes.NewReader(data)), opt)
		if diff := cmp.Diff(got, small); diff != "" {
			t.Errorf("the size of reads changes the elements:\n%s", diff)
		}
		if (err == nil) != (smallErr == nil) {
			t.Errorf("the size of reads changes the error: %v, %v", err, smallErr)
		}
	})
}

func BenchmarkElements(b *testing.B) {
	// 3 KB a record, a third of it escaped JSON text, as in the corpora.
	record := fmt.Sprintf(`{"id":1,"query":"%s","tools":"%s","answers":[{"name":"f","arguments":{"x":1.5,"y":[1,2,3]}}]}`,
		strings.Repeat("Where can I find it? ", 50), strings.Repeat(`{\"name\": \"f\", \"type\": \"object\"}, `, 40))
	lines := strings.Repeat(record+"\n", 3000)
	array := "[" + strings.TrimSuffix(strings.Repeat(record+",", 3000), ",") + "]"
	for name, data := range map[string][]byte{
		"lines": []byte(lines), "array": []byte(array), "lines.gz": gz(b, []byte(lines)), "lines.zst": zst(b, []byte(lines)),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(lines)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, err := range Elements(b.Context(), bytes.NewReader(data), "f") {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != 3000 {
					b.Fatal(n)
				}
			}
		})
	}
}

// With Reuse the elements are the same, as long as they are looked at in time.
func TestReuseYieldsTheSameElements(t *testing.T) {
	var file strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&file, "{\"i\":%d,\"text\":%q}\n", i, strings.Repeat("x", i%700))
	}
	fmt.Fprintf(&file, "{\"long\":%q}\n", strings.Repeat("y", 2*MaxReused))
	read := func(opt Options) []string {
		var got []string
		for el, err := range Read(t.Context(), strings.NewReader(file.String()), "f", opt) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, el.Pos.String()+" "+string(el.Data))
		}
		return got
	}
	if diff := cmp.Diff(read(Options{}), read(Options{Reuse: true})); diff != "" {
		t.Error(diff)
	}
}
