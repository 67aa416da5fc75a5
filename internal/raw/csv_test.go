package raw

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	json "github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// csvRows reads text and returns each element as index:line@offset and data, or
// as what is wrong with the row; and how it ended.
func csvRows(ctx context.Context, r io.Reader, opt Options) ([]string, error) {
	var got []string
	for el, err := range Read(ctx, r, "f", opt) {
		if pos, ok := Skippable(err); ok {
			got = append(got, fmt.Sprintf("%d:%d@%d %s", pos.Index, pos.Line, pos.Offset, strings.TrimPrefix(err.Error(), pos.String()+": ")))
			continue
		}
		if err != nil {
			return got, err
		}
		got = append(got, fmt.Sprintf("%d:%d@%d %s", el.Pos.Index, el.Pos.Line, el.Pos.Offset, el.Data))
	}
	return got, nil
}

func TestCSV(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	tests := []struct {
		name, text string
		layout     Layout
		want       []string // index:line@offset data
		wantErr    string
	}{
		{"rows become objects of strings", "a,b\n1,x y\n,null\n", Auto, []string{`0:2@4 {"a":"1","b":"x y"}`, `1:3@10 {"a":"","b":"null"}`}, ""},
		{"without a line break at the end", "a,b\n1,2", Auto, []string{`0:2@4 {"a":"1","b":"2"}`}, ""},
		{"CRLF, a mark and blank lines", "\xef\xbb\xbfa,b\r\n\r\n1,2\r\n\r\n3,4\r\n", Auto, []string{`0:3@10 {"a":"1","b":"2"}`, `1:5@17 {"a":"3","b":"4"}`}, ""},
		{"line breaks and quotes in quotes", "a,b\n\"1\n,\"\"2\"\"\",3\n4,\"\"\n", Auto, []string{`0:2@4 {"a":"1\n,\"2\"","b":"3"}`, `1:4@17 {"a":"4","b":""}`}, ""},
		{"CRLF in quotes is kept", "a,b\r\n\"1\r\n2\",3\r\n", Auto, []string{`0:2@5 {"a":"1\r\n2","b":"3"}`}, ""},
		{"a quote inside of a field is text", "a,b\n5\" nail,x\n", Auto, []string{`0:2@4 {"a":"5\" nail","b":"x"}`}, ""},
		{"a quote inside of quotes that is not doubled is text", "a,b\n\"say \"hi\" now\",x\n", Auto, []string{`0:2@4 {"a":"say \"hi\" now","b":"x"}`}, ""},
		{"a return after a quote is text", "a,b\n\"x\"\r\",y\n", Auto, []string{`0:2@4 {"a":"x\"\r","b":"y"}`}, ""},
		{"tabs", "a\tb,c\n1,0\t2\n", Auto, []string{`0:2@6 {"a":"1,0","b,c":"2"}`}, ""},
		{"semicolons with commas in numbers", "a;b\n1,5;2,5\n3;4\n", Auto, []string{`0:2@4 {"a":"1,5","b":"2,5"}`, `1:3@12 {"a":"3","b":"4"}`}, ""},
		{"an index without a name", ",q\n0,x\n", Auto, []string{`0:2@3 {"column_1":"0","q":"x"}`}, ""},
		{"an index without a name before a tab", "\tq\n0\tx\n", Auto, []string{`0:2@3 {"column_1":"0","q":"x"}`}, ""},
		{"names that repeat", "a,a, a ,a_2\n1,2,3,4\n", Auto, []string{`0:2@12 {"a":"1","a_2":"2","a_3":"3","a_2_2":"4"}`}, ""},
		{"names in quotes", "\"q\"\"1\",\"b\"\n1,2\n", CSV, []string{`0:2@11 {"q\"1":"1","b":"2"}`}, ""},
		{"a row with fewer fields", "a,b\n1\n3,4\n", Auto, []string{"0:2@4 the row has 1 fields, want 2 as in the header", `1:3@6 {"a":"3","b":"4"}`}, ""},
		{"a row with more fields", "a,b\n1,2\n1,2,3\n3,4\n", Auto, []string{`0:2@4 {"a":"1","b":"2"}`, "1:3@8 the row has 3 fields, want 2 as in the header", `2:4@14 {"a":"3","b":"4"}`}, ""},
		{"a row with a byte 0", "a,b\n1,\x00\n3,4\n", CSV, []string{"0:2@4 the row holds a NUL byte, which no text has", `1:3@8 {"a":"3","b":"4"}`}, ""},
		{"a long field", "a,b\n" + long + ",2\n1,2\n", Auto, []string{`0:2@4 {"a":"` + long + `","b":"2"}`, `1:3@307207 {"a":"1","b":"2"}`}, ""},
		{"text that is not UTF-8 is mended", "a,b\n\xe9,2\n", Auto, []string{"0:2@4 {\"a\":\"\uFFFD\",\"b\":\"2\"}"}, ""},
		{"JSON in fields", "system,chat\n\"a\",\"{\"\"name\"\": \"\"f\"\"}\n{\"\"x\"\":1}\"\n", Auto, []string{`0:2@12 {"system":"a","chat":"{\"name\": \"f\"}\n{\"x\":1}"}`}, ""},
		{"one column on demand", "text\nhello\n", CSV, []string{`0:2@5 {"text":"hello"}`}, ""},
		{"a header alone on demand", "a,b\n", CSV, nil, ""},
		{"nothing on demand", "\n", CSV, nil, ""},
		{
			"a quote that never closes", "a,b\n1,2\n3,\"4\n5,6\n", Auto,
			[]string{`0:2@4 {"a":"1","b":"2"}`},
			"f: byte 17: after 1 elements: a field of this row opens with a quote that never closes; the file was cut off or is incomplete",
		},
		{"one column is no CSV", "text\nhello\n", Auto, nil, `could be read: it begins with "text\nhello\n"`},
		{"prose is no CSV", "Dear all, this is\na letter.\nYours, me, you\n", Auto, nil, "could be read: it begins with"},
		{"a header alone is no CSV", "hello, world\n", Auto, nil, "could be read"},
		{"Markdown is no CSV", "# a, b\n1, 2\n", Auto, nil, "could be read"},
		{"text with a byte 0 is no CSV", "a,b\n1,\x00\n", Auto, nil, "could be read"},
		{"a byte 0 in the header", "a,\x00b\n1,2\n", CSV, nil, "the header holds a NUL byte"},
		{"a list of JSON members is no CSV", "\"a\": 1,\n\"b\": 2,\n", Auto, nil, "could be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, one := range []bool{false, true} {
				var r io.Reader = strings.NewReader(tt.text)
				if one {
					r = iotest.OneByteReader(r)
				}
				got, err := csvRows(t.Context(), r, Options{Layout: tt.layout})
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("one byte at a time %v: rows differ (-want +got):\n%.500s", one, diff)
				}
				if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
					t.Errorf("one byte at a time %v: error %v, want one with %q", one, err, tt.wantErr)
				}
			}
		})
	}
}

func TestCSVLimit(t *testing.T) {
	text := "a,b\n1,2\n" + strings.Repeat("x", 100) + ",2\n\"" + strings.Repeat("y\n", 600<<10) + "\",3\n3,4\n"
	got, err := csvRows(t.Context(), strings.NewReader(text), Options{MaxElement: 50})
	want := []string{
		`0:2@4 {"a":"1","b":"2"}`,
		"1:3@8 the element has 102 bytes, more than the limit of 50",
		"2:4@111 the element has 1228804 bytes, more than the limit of 50",
		`3:614405@1228916 {"a":"3","b":"4"}`,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	_, err = csvRows(t.Context(), strings.NewReader(text), Options{MaxElement: 2, Layout: CSV})
	if _, ok := errors.AsType[*ContainerError](err); !ok || !strings.Contains(err.Error(), "the header has 3 bytes, more than the limit of 2") {
		t.Errorf("have %v", err)
	}
}

// TestCSVAsTheLibrary compares with the reader of the standard library, which
// bounds no record and so is not used, on text without carriage returns, where
// the two agree.
func TestCSVAsTheLibrary(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		body := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "b", ",", ",", "\"", "\"\"", "\n", " ", "\"x\",", ",\"y\"\n"})).Draw(rt, "text"), "")
		lib := csv.NewReader(strings.NewReader("h1,h2\n" + body))
		lib.LazyQuotes, lib.FieldsPerRecord = true, -1
		records, err := lib.ReadAll()
		if err != nil {
			rt.Fatal(err)
		}
		got, err := csvRows(t.Context(), iotest.HalfReader(strings.NewReader("h1,h2\n"+body)), Options{Layout: CSV})
		for i, text := range got {
			_, text, _ = strings.Cut(text, " ")
			fields := records[i+1]
			want := fmt.Sprintf("the row has %d fields, want 2 as in the header", len(fields))
			if len(fields) == 2 {
				want = string(appendText(append(appendText([]byte(`{"h1":`), []byte(fields[0])), `,"h2":`...), []byte(fields[1]))) + "}"
			}
			if text != want {
				rt.Errorf("%q: row %d: have %s, want %s", body, i, text, want)
			}
		}
		// What a quote that never closes takes is the last record there.
		if missing := len(records) - 1 - len(got); missing != 0 && (err == nil || missing != 1) {
			rt.Errorf("%q: %d rows and %v, want %d", body, len(got), err, len(records)-1)
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "a;b\r\n\"1\"\"\r\n\";2\r\n", "a\tb\n\"x\"y\t\x00\n1\n", "\xef\xbb\xbf,\n,\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, wholeErr := csvRows(t.Context(), bytes.NewReader(text), Options{Layout: CSV, MaxElement: 1 << 20})
		bytewise, err := csvRows(t.Context(), iotest.OneByteReader(bytes.NewReader(text)), Options{Layout: CSV, MaxElement: 1 << 20})
		if diff := cmp.Diff(whole, bytewise); diff != "" || fmt.Sprint(wholeErr) != fmt.Sprint(err) {
			t.Errorf("one byte at a time differs, error %v and %v:\n%s", wholeErr, err, diff)
		}
		for el, err := range Read(t.Context(), bytes.NewReader(text), "f", Options{Layout: CSV}) {
			if err == nil && !json.Valid(el.Data) {
				t.Errorf("row %d is not valid JSON: %.200s", el.Pos.Index, el.Data)
			}
		}
	})
}

func BenchmarkCSV(b *testing.B) {
	var text bytes.Buffer
	text.WriteString("system,chat,n\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "\"You can call {\"\"name\"\": \"\"f%d\"\"}\n%s\",\"USER: hello\n\nASSISTANT: %s\",%d\n", i, strings.Repeat("words of a prompt ", 30), strings.Repeat("words, and more ", 40), i)
	}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range Read(b.Context(), bytes.NewReader(text.Bytes()), "f", Options{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
