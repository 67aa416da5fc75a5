package apigen

import (
	"strings"
	"testing"

	"assay/convert"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
)

const ordinary = `{"id": 7, "query": "What do \"lots\" 1 and 2 cost\u00e9?", "answers": "[{\"name\": \"price\", \"arguments\": {\"lot\": 1, \"x\": [\"\\u00e9\\/\"]}}, {\"name\": \"price\", \"arguments\": {}}]", ` +
	`"tools": "[{\"name\": \"price\", \"description\": \"Price of a \\\"lot\\\".\", \"parameters\": {\"lot\": {\"type\": \"int\", \"description\": \"Number.\"}, \"h\\\"all\": {\"type\": \"str, optional\", \"description\": \"Hall.\", \"default\": \"A\"}}}, {\"name\": \"odd\", \"parameters\": {}}]"}`

var elements = []string{
	ordinary,
	`{"id":"x7","query":"q","answers":[{"name":"f","arguments":{"a":1.0}}],"tools":[{"name":"f","parameters":{"a":{"type":"float"}}}],"more":[1,{"x":null}]}`,
	`{"id":1,"id":2,"query":"q","answers":"[{\"name\":\"f\",\"arguments\":{}}]","tools":"[]"}`,
	`{"query":"","query":"q","answers":"","answers":"[{\"name\":\"f\",\"arguments\":{}}]","tools":"","tools":"[]"}`,
	`{"query":" ","answers":"[{\"name\":\"f\",\"arguments\":{}}]","tools":"[]"}`,
	`{"query":"q","answers":"[]","tools":"[]"}`, `{"query":"q","answers":"[{\"name\":\"\",\"name\":\"f\",\"arguments\":{}}]","tools":"[]"}`,
	`{"query":"q","answers":"[{\"arguments\":{},\"name\":\"f\"}]","tools":"[]"}`, `{"query":"q","answers":"[{\"name\":\"f\",\"arguments\":[]}]","tools":"[]"}`,
	`{"query":"q","answers":"{\"name\":\"f\",\"arguments\":{}}","tools":"[{\"name\":\"f\"}"}`, `{"query":"q","answers":"[{\"name\":\"f\",\"arguments\":{}},]","tools":"[]"}`,
	`{"query":"\ud83d","answers":"[{\"name\":\"f\",\"arguments\":{}}]","tools":"[]","origin":"o"}`, "{\"query\":\"\xff\",\"answers\":\"[{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}]\",\"tools\":\"[]\"}",
	`{"query":"q","answers":null,"tools":null}`, `[]`, `{`, ``,
}

// agree reports a fault if what the one pass makes of an element is not what
// the columns make, and returns whether it makes anything.
func agree(t interface{ Errorf(string, ...any) }, c *converter, data string) bool {
	rec, ok := c.plain(convert.Element{Data: []byte(data)})
	if !ok {
		return false
	}
	want, rejects := c.byColumns(convert.Element{Data: []byte(data)})
	if len(rejects) > 0 || len(want) != 1 {
		t.Errorf("%s: one pass makes a record, the columns make %d and %v", data, len(want), rejects)
	} else if diff := cmp.Diff(want[0], rec); diff != "" {
		t.Errorf("%s: by columns (-), in one pass (+):\n%s", data, diff)
	}
	return true
}

func newConverter(profile convert.Profile) *converter {
	terms, err := convert.TermsOf(convert.Options{Profile: profile})
	if err != nil {
		panic(err) // no language rule is asked for
	}
	c := &converter{terms: terms}
	c.cache.Unmarked = true
	return c
}

func TestOnePassAgreesWithColumns(t *testing.T) {
	for _, profile := range []convert.Profile{convert.Paper, convert.Strict} {
		c := newConverter(profile)
		for _, data := range elements {
			agree(t, c, data)
		}
	}
	c := newConverter(convert.Paper)
	for _, data := range elements[:2] {
		if !agree(t, c, data) {
			t.Errorf("one pass gives up on %s, which is ordinary", data)
		}
	}
}

// A record must hold nothing of the buffers that the next element overwrites.
func TestRecordsStay(t *testing.T) {
	c := newConverter(convert.Paper)
	first, _ := c.plain(convert.Element{Data: []byte(ordinary)})
	before := string(qaoa.AppendRecord(nil, first))
	for range 3 {
		c.plain(convert.Element{Data: []byte(strings.NewReplacer("price", "PRICE", "lot", "LOT", "What", "WHAT").Replace(ordinary))})
	}
	if after := string(qaoa.AppendRecord(nil, first)); after != before {
		t.Errorf("the record was %s and is %s", before, after)
	}
}

func FuzzOnePass(f *testing.F) {
	for _, data := range elements {
		f.Add(data)
	}
	c := newConverter(convert.Paper)
	f.Fuzz(func(t *testing.T, data string) {
		if _, err := qaoa.Compact(data); agree(t, c, data) && err != nil {
			t.Errorf("a record is made of %q, which is no JSON: %v", data, err)
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	c := newConverter(convert.Paper)
	el := convert.Element{Data: []byte(ordinary), Valid: true}
	b.SetBytes(int64(len(el.Data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, rejects := c.convert(el); rejects != nil {
			b.Fatal(rejects)
		}
	}
}

// A row of a Parquet file is converted as the line of JSON that says the same,
// whether its cells are usual or not.
func TestRowsAsLines(t *testing.T) {
	for _, line := range elements {
		v, err := qaoa.ParseValue(line)
		if err != nil || v.Kind != qaoa.Object {
			continue
		}
		var cells []convert.Cell
		for _, m := range v.Members {
			cell := convert.Cell{Name: m.Name, Value: []byte(m.Value.JSON()), Text: m.Value.Kind == qaoa.String}
			if cell.Text {
				cell.Value = []byte(m.Value.Text)
			}
			cells = append(cells, cell)
		}
		c := newConverter(convert.Paper)
		got, ok := c.plain(convert.Element{Cells: cells})
		if !ok {
			continue // its JSON is made then
		}
		want, rejects := c.convert(convert.Element{Data: []byte(line), Valid: true})
		if len(want) != 1 || len(rejects) != 0 {
			t.Errorf("%s: cells make a record, the line %d and %d rejects", line, len(want), len(rejects))
			continue
		}
		if got, want := string(qaoa.AppendRecord(nil, got)), string(qaoa.AppendRecord(nil, want[0])); got != want {
			t.Errorf("%s:\ncells make %s\nthe line   %s", line, got, want)
		}
	}
}
