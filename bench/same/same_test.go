package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two elements that mean the same, as a peer and as we write them.
const (
	peerLine = `{"id":"xlam-7","source":"xlam","conversations":[{"from":"human","value":"hi"},` +
		`{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{\"a\":1,\"b\":[2.50]}}"},{"from":"observation","value":""},` +
		`{"from":"gpt","value":"<answer></answer>"}],` +
		`"tools":"[{\"name\":\"f\",\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"description\":\"p\"},\"b\":{\"type\":\"array\",\"default\":[]}},\"required\":[\"a\",\"b\"]}}]"}`
	ourLine = `{"conversations":[{"from":"human","value":"hi"},` +
		`{"from":"function_call","value":"{\"arguments\":{\"b\":[2.5],\"a\":1},\"name\":\"f\"}"},{"from":"observation","value":""},` +
		`{"from":"gpt","value":""}],"system":"",` +
		`"tools":"[{\"name\":\"f\",\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"properties\":{\"b\":{\"default\":[],\"items\":{},\"type\":\"array\"},\"a\":{\"type\":\"integer\",\"description\":\"p\"}},\"required\":[\"a\"]}}]",` +
		`"properties":{"id":"apigen/7","turns":1}}`
)

// files writes two files and returns their paths.
func files(t *testing.T, peer, ours string) []string {
	t.Helper()
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "peer.jsonl"), filepath.Join(dir, "ours.jsonl")}
	for i, text := range []string{peer, ours} {
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func TestFilesThatMeanTheSame(t *testing.T) {
	var stdout, stderr bytes.Buffer
	code := run(&stdout, &stderr, files(t, peerLine+"\n"+peerLine+"\n", ourLine+"\n"+ourLine+"\n"))
	want := "2 elements: 2 mean the same, 0 differ (8 messages, 2 of them calls; 2 tools, 4 parameters; " +
		"2 with a default, which are required for the peer and optional for us)\n"
	if code != 0 || stdout.String() != want || stderr.Len() > 0 {
		t.Errorf("code %d, stdout %q, stderr %q; want 0 and %q", code, stdout.String(), stderr.String(), want)
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"another id", `apigen/7`, `apigen/8`, "/id:"},
		{"another text", `"value":"hi"`, `"value":"ho"`, "/conversations/0/value:"},
		{"another role", `"from":"observation"`, `"from":"gpt"`, "/conversations/2/from:"},
		{"an answer where the peer has none", `"from":"gpt","value":""`, `"from":"gpt","value":"x"`, "/conversations/3/value:"},
		{"a message less", `{"from":"human","value":"hi"},`, ``, "/conversations:"},
		{"another argument", `\"a\":1}`, `\"a\":2}`, "/conversations/1/value:"},
		{"a number as text", `\"a\":1}`, `\"a\":\"1\"}`, "/conversations/1/value:"},
		{"another name of a call", `\"name\":\"f\"}"}`, `\"name\":\"g\"}"}`, "/conversations/1/value:"},
		{"a call that is no JSON", `\"name\":\"f\"}"}`, `\"name\":\"f\""}`, "/conversations/1/value: of ours:"},
		{"two values in a call", `\"name\":\"f\"}"}`, `\"name\":\"f\"} {}"}`, "/conversations/1/value: of ours:"},
		{"another tool", `[{\"name\":\"f\"`, `[{\"name\":\"g\"`, "/tools/0/name:"},
		{"a tool less", `"tools":"[`, `"tools":"[],[`, "/tools:"},
		{"another description of a tool", `\"description\":\"d\"`, `\"description\":\"\"`, "/tools/0/description:"},
		{"another type", `\"type\":\"integer\"`, `\"type\":\"number\"`, "/tools/0/parameters/properties/a/type:"},
		{"no default", `\"default\":[],`, ``, "/tools/0/parameters/properties/b/default:"},
		{"another description of a parameter", `\"description\":\"p\"`, `\"description\":\"q\"`, "/tools/0/parameters/properties/a/description:"},
		{"another name of a parameter", `\"a\":{`, `\"c\":{`, "/tools/0/parameters/properties/a:"},
		{"a parameter without default that is not required", `\"required\":[\"a\"]`, `\"required\":[]`, "/tools/0/parameters/properties/a required:"},
		{"a required name that is no parameter", `\"required\":[\"a\"]`, `\"required\":[\"a\",\"z\"]`, "/tools/0/parameters/required:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours := strings.Replace(ourLine, c.old, c.new, 1)
			if ours == ourLine {
				t.Fatalf("no %s in the line", c.old)
			}
			var stdout, stderr bytes.Buffer
			code := run(&stdout, &stderr, files(t, peerLine, ours))
			if code != 1 || !strings.HasPrefix(stderr.String(), "element 0: "+c.want) || !strings.Contains(stdout.String(), "1 differ") {
				t.Errorf("code %d, stdout %q, stderr %q; want 1 and %q", code, stdout.String(), stderr.String(), c.want)
			}
		})
	}
}

func TestFilesThatCannotBeCompared(t *testing.T) {
	for _, c := range []struct {
		name, peer, ours, want string
		code                   int
	}{
		{"ours is shorter", peerLine + peerLine, ourLine, "ours ends after 1 elements", 2},
		{"the peer is shorter", peerLine, ourLine + ourLine, "the peer ends after 1 elements", 2},
		{"ours is cut off", peerLine, ourLine[:100], "ours: element 0:", 2},
		{"the peer is no JSON", "x", ourLine, "peer: element 0:", 2},
		{"both are empty", "", "", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(&stdout, &stderr, files(t, c.peer, c.ours))
			if code != c.code || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("code %d, stderr %q; want %d and %q", code, stderr.String(), c.code, c.want)
			}
		})
	}
	var stdout, stderr bytes.Buffer
	if code := run(&stdout, &stderr, []string{"one"}); code != 2 {
		t.Errorf("one argument: code %d, want 2", code)
	}
	if code := run(&stdout, &stderr, []string{"/nonexistent/a", "/nonexistent/b"}); code != 2 {
		t.Errorf("no such file: code %d, want 2", code)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1", "1", true},
		{"1", "1.0", true},
		{"1e3", "1000", true},
		{"0.1", "0.10", true},
		{"1", "2", false},
		{"9007199254740993", "9007199254740992", false},
		{"1e400", "1e401", false},
	} {
		if got := equal(json.Number(c.a), json.Number(c.b)); got != c.want {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
