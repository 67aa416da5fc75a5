// Command mktiny writes the model of the end-to-end tests with its tokenizer.json
// and its chat template:
//
//	mktiny DIR
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"assay/e2e/tinygguf"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mktiny DIR")
		os.Exit(2)
	}
	spec := tinygguf.Weather()
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"tiny.gguf", func(w io.Writer) error { return tinygguf.Write(w, spec) }},
		{"tokenizer.json", func(w io.Writer) error { return tinygguf.WriteTokenizer(w, spec) }},
		{"chat_template.jinja", func(w io.Writer) error { _, err := io.WriteString(w, tinygguf.ChatTemplate); return err }},
	} {
		if err := write(filepath.Join(os.Args[1], f.name), f.write); err != nil {
			fmt.Fprintln(os.Stderr, "mktiny:", err)
			os.Exit(1)
		}
	}
}

func write(path string, content func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := content(f); err != nil {
		_ = f.Close() // the error of content tells more
		return err
	}
	return f.Close()
}
