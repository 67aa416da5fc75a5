package mcp

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		name, line string
		want       []string
	}{
		{"blanks part words", "  npx  -y\tserver /tmp ", []string{"npx", "-y", "server", "/tmp"}},
		{"single quotes keep all", `a 'b c' '"\$x'`, []string{"a", "b c", `"\$x`}},
		{"double quotes keep blanks, and escapes of four signs", `"a b" "\"\\\$\` + "`" + `\n"`, []string{"a b", `"\$` + "`" + `\n`}},
		{"a backslash keeps one character", `a\ b \'c`, []string{"a b", "'c"}},
		{"quotes within a word", `--x='a b'"c"d`, []string{"--x=a bcd"}},
		{"empty words", `a '' ""`, []string{"a", "", ""}},
		{"nothing of a shell", `$HOME *.go ~ a;b | c > d && e $(f)`, []string{"$HOME", "*.go", "~", "a;b", "|", "c", ">", "d", "&&", "e", "$(f)"}},
		{"nothing", " ", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := split(tt.line); err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("split(%s) = %q, %v, want %q", tt.line, got, err, tt.want)
			}
		})
	}
	for _, line := range []string{`'a`, `"a`, `a\`, `"a\`} {
		if got, err := split(line); err == nil {
			t.Errorf("split(%s) = %q, want an error", line, got)
		}
	}
}

func TestSplitGivesBackQuotedWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.String()).Draw(t, "words")
		var line []string
		for _, w := range words {
			line = append(line, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		got, err := split(strings.Join(line, " "))
		if err != nil || !slices.Equal(got, words) {
			t.Fatalf("have %q, %v, want %q", got, err, words)
		}
	})
}

func TestCheckEndpoint(t *testing.T) {
	for _, good := range []string{"stdio:cat", "stdio:'my server' --x", "http://localhost:8000/mcp", "HTTPS://h/mcp", "https://u:p@h/?k=v"} {
		if err := CheckEndpoint(good); err != nil {
			t.Errorf("CheckEndpoint(%q) = %v, want none", good, err)
		}
	}
	for _, bad := range []string{"", "stdio:", "stdio: ''", "stdio:'a", "cat", "ftp://h", "http://", "http:/mcp", "https://sk-secret-value\x7f/", "mcp:stdio:cat"} {
		if err := CheckEndpoint(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("CheckEndpoint(%q) = %v, want an error without keys", bad, err)
		}
	}
}

func TestScrubber(t *testing.T) {
	end, err := parseEndpoint("https://me:pass-word@host/mcp?token=from-the-url&n=3")
	if err != nil {
		t.Fatal(err)
	}
	s := newScrubber(end, []string{"OPENAI_API_KEY=sk-abc", "OTHER_TOKEN=sk-abcdefgh", "HOME=/home/someone", "SHORT_KEY=abc"}, http.Header{"Authorization": {"Bearer hdr-token"}})
	const in = "at /home/someone: sk-abcdefgh sk-abc hdr-token Bearer hdr-token pass-word from-the-url abc\nnext \xff line"
	const want = "at /home/someone: [key] [key] [key] [key] [key] [key] abc next \ufffd line"
	if got := s.clean(in); got != want {
		t.Errorf("have %q, want %q", got, want)
	}
	command, err := parseEndpoint("stdio:server --api-key arg-one --token=arg-two --name arg-three")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := newScrubber(command, nil, nil).clean("arg-one arg-two arg-three"), "[key] [key] arg-three"; got != want {
		t.Errorf("have %q, want %q", got, want)
	}
	if got := command.String() + " " + end.String(); got != "stdio:server https://host/mcp" {
		t.Errorf("endpoints are shown as %q", got)
	}
}
