// Command mktiny writes the model of the end-to-end tests:
//
//	mktiny FILE.gguf
package main

import (
	"fmt"
	"os"

	"assay/e2e/tinygguf"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mktiny FILE.gguf")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "mktiny:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := tinygguf.Write(f, tinygguf.Weather()); err != nil {
		_ = f.Close() // the error of Write tells more
		return err
	}
	return f.Close()
}
