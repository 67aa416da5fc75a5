package junaidjk

import (
	"strings"
	"testing"

	"assay/convert"
	"assay/convert/converttest"
)

func TestFixtures(t *testing.T) { converttest.Run(t, Source, "testdata/junaidjk") }

func TestMap(t *testing.T) {
	const row = `{"a":"Lot 1?","b":"[{\"name\":\"price\",\"arguments\":{}}]","c":"It is 12.","d":"[{\"name\":\"price\",\"parameters\":{}}]"}`
	tests := []struct {
		name   string
		m      map[string]string
		answer string
		fault  string
	}{
		{"all is told", map[string]string{"query": "c", "calls": "b", "answer": "a", "tools": "d"}, "Lot 1?", ""},
		{"by content", nil, "It is 12.", ""},
		{"a column that is not there", map[string]string{"query": "q", "calls": "b"}, "", `query is the column "q"; the row has "a": "Lot 1?"`},
		{"too little", map[string]string{"query": "a"}, "", "say which is which"},
		{"no such role", map[string]string{"question": "a"}, "", "map question=a: want one of the roles"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := Source.Open(t.Context(), convert.Input{Options: convert.Options{Map: tt.m}})
			if err != nil {
				if tt.fault == "" || !strings.Contains(err.Error(), tt.fault) {
					t.Errorf("have %v, want %q", err, tt.fault)
				}
				return
			}
			recs, rejs := f(convert.Element{Data: []byte(row)})
			switch {
			case len(recs) == 1 && tt.fault == "":
				if got := recs[0].Turns[0].Answer; got != tt.answer || len(recs[0].Tools) != 1 {
					t.Errorf("answer %q and %d tools, want %q and one", got, len(recs[0].Tools), tt.answer)
				}
			case len(rejs) != 1 || tt.fault == "" || !strings.Contains(rejs[0].Detail, tt.fault):
				t.Errorf("have %v and %v, want %q", recs, rejs, tt.fault)
			}
		})
	}
}
