package complexfuncbench

import (
	"testing"

	"assay/convert"
	"assay/convert/converttest"
)

func TestSource(t *testing.T) { converttest.Run(t, Source, "testdata/complexfuncbench") }

func TestLanguage(t *testing.T) {
	in := convert.Input{Options: convert.Options{Language: "cjk"}}
	f, err := Source.Open(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	el := convert.Element{Data: []byte(`{"id":"Hotels-1","conversations":[{"role":"user","content":"東京"}],"functions":[]}`)}
	if _, rejs := f(el); len(rejs) != 1 || rejs[0].Code != convert.NonEnglish || rejs[0].ID != "Hotels-1" {
		t.Errorf("have %v, want the query rejected", rejs)
	}
	in.Options.Language = "l9"
	if _, err := Source.Open(t.Context(), in); err == nil {
		t.Error("an unknown language rule opens")
	}
}
