package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/model/modeltest"
)

// numberedGold writes n records whose queries are numbered.
func numberedGold(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"n%03d","tools":[{"name":"f","description":"Does f.","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}],"turns":[{"query":"Question %d?","steps":[{"calls":[{"name":"f","arguments":{"n":%d}}],"observations":["ok"]}],"answer":"Done."}]}`+"\n", i, i, i)
	}
	path := filepath.Join(t.TempDir(), "gold.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// numberedAnswer calls f with the number of the question, and then answers.
func numberedAnswer(r modeltest.Request) modeltest.Reply {
	if strings.Contains(r.Last(), "<tool_response>") {
		return modeltest.Reply{Text: "Done."}
	}
	n := -1
	_, _ = fmt.Sscanf(r.Last(), "Question %d?", &n) // a probe has no number
	return modeltest.Reply{Text: fmt.Sprintf("<tool_call>{\"name\":\"f\",\"arguments\":{\"n\":%d}}</tool_call>", n)}
}
