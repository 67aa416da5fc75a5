// Command tokens is the part of bench/tokens/run.sh that is ours:
//
//	tokens texts KIND BYTES        texts to measure and compare on, a JSON string a line
//	tokens ids TOKENIZER TEXTS IDS what package tokenizer makes of them, a line of ids each
//	tokens patterns                the patterns that package tokenizer knows, as a JSON object
//
// Kinds: prose (several languages), code (the Go files below the working
// folder), tools (tool lists and calls as JSON), chars (every character once,
// between letters and digits) and random (hostile mixtures).
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/goccy/go-json"

	"assay/tokenizer"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "patterns":
		patterns := map[string]string{}
		for _, p := range tokenizer.Patterns() {
			patterns[p.Name] = p.Regexp
		}
		enc := json.NewEncoder(os.Stdout)
		enc.SetEscapeHTML(false)
		return enc.Encode(patterns)
	case len(args) == 3 && args[0] == "texts":
		size, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return writeTexts(args[1], size)
	case len(args) == 4 && args[0] == "ids":
		return writeIDs(args[1], args[2], args[3])
	}
	return fmt.Errorf(`%q: want "texts KIND BYTES", "ids TOKENIZER TEXTS IDS" or "patterns"`, args)
}

func writeTexts(kind string, size int) error {
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	texts, err := makeTexts(kind, size)
	if err != nil {
		return err
	}
	for _, text := range texts {
		if err := enc.Encode(text); err != nil {
			return err
		}
	}
	return out.Flush()
}

// result is what both sides print. Cpu are the seconds of encoding alone, the
// first pass over the texts; Warm those of a second pass.
type result struct {
	Bytes  int     `json:"bytes"`
	Tokens int     `json:"tokens"`
	CPU    float64 `json:"cpu"`
	Warm   float64 `json:"warm"`
	Load   float64 `json:"load"`
}

func writeIDs(file, from, to string) error {
	start := cpu()
	tok, err := tokenizer.LoadFile(file)
	if err != nil {
		return err
	}
	r := result{Load: cpu() - start}
	texts, err := readTexts(from)
	if err != nil {
		return err
	}
	ids := make([][]int, len(texts))
	start = cpu()
	for i, text := range texts {
		ids[i] = tok.Encode(text)
	}
	r.CPU = cpu() - start
	start = cpu()
	for _, text := range texts {
		r.Tokens += tok.Count(text)
	}
	r.Warm = cpu() - start
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	for i, line := range ids {
		r.Bytes += len(texts[i])
		for k, id := range line {
			if k > 0 {
				fmt.Fprint(out, " ")
			}
			fmt.Fprint(out, id)
		}
		fmt.Fprintln(out)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func readTexts(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, lines.Err()
}

// cpu returns the CPU seconds that this process has used.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
