package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"assay/convert"

	json "github.com/goccy/go-json"
)

// maxNames bounds the different sources, and the different stages and codes of
// one: real files have a few dozen, and any file may be named.
const maxNames = 1000

// Read adds up the ledgers and summaries in files; "-" is standard input. Which
// of the two an element is tells its shape, so they may be mixed, compressed,
// and in any order. Summaries of one source are added, as those of shards are:
// to name a file twice counts it twice.
//
// The first element that is neither is an error with its place, and so is a
// file that cannot be read to its end.
func Read(ctx context.Context, files []string) (Account, error) {
	tallies := map[string]*tally{}
	for _, name := range files {
		if err := readFile(ctx, tallies, name); err != nil {
			return Account{}, err
		}
	}
	return account(tallies), nil
}

func readFile(ctx context.Context, tallies map[string]*tally, name string) error {
	if name == "-" {
		return readAll(ctx, tallies, os.Stdin, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return readAll(ctx, tallies, f, name)
}

func readAll(ctx context.Context, tallies map[string]*tally, r io.Reader, name string) error {
	for el, err := range convert.Elements(ctx, r, name) {
		if err != nil {
			return err
		}
		if err := add(tallies, el.Data); err != nil {
			return fmt.Errorf("%s: %w", el.Pos, err)
		}
	}
	return nil
}

// A line is an element of either kind. Members that are not named here do not
// matter.
type line struct {
	Source *string `json:"source"`
	// of a line of a ledger
	Stage convert.Stage `json:"stage"`
	Code  convert.Code  `json:"code"`
	// Dropped is false for what was found about a record that was kept.
	Dropped *bool `json:"dropped"`
	// of a summary
	Read      *int                 `json:"read"`
	Converted *int                 `json:"converted"`
	Codes     map[convert.Code]int `json:"codes"`
}

// add counts one element.
func add(tallies map[string]*tally, data []byte) error {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return fmt.Errorf("want a line of a ledger or a summary, have what is neither: %w", err)
	}
	if l.Dropped != nil && !*l.Dropped {
		return nil
	}
	entry := l.Stage != "" && l.Code != ""
	summary := l.Read != nil && l.Converted != nil
	if l.Source == nil || entry == summary {
		return errors.New(`want a line of a ledger ("source", "stage", "code") or a summary ("source", "read", "converted", "codes"), have neither`)
	}
	name := *l.Source
	if name == "" {
		// What the filter could not read has no source.
		name = string(convert.StageFilter)
	}
	t := tallies[name]
	if t == nil {
		if len(tallies) == maxNames {
			return fmt.Errorf("want at most %d sources, have more: this is no file that a conversion wrote", maxNames)
		}
		t = &tally{codes: map[convert.Code]int{}, lines: map[key]int{}}
		tallies[name] = t
	}
	if entry {
		t.lines[key{l.Stage, l.Code}]++
	} else if err := t.addSummary(l); err != nil {
		return err
	}
	if len(t.codes)+len(t.lines) > maxNames {
		return fmt.Errorf("want at most %d codes of a source, have more: this is no file that a conversion wrote", maxNames)
	}
	return nil
}

// addSummary adds a summary, whose numbers must fit together.
func (t *tally) addSummary(l line) error {
	rejected := 0
	for code, n := range l.Codes {
		if n < 0 {
			return fmt.Errorf("/codes: want counts of at least 0, have %d for %.40q", n, code)
		}
		rejected += n
	}
	if *l.Read < 0 || *l.Converted < 0 || *l.Converted+rejected != *l.Read {
		return fmt.Errorf("want a summary with converted + rejected = read, have %d + %d and %d", *l.Converted, rejected, *l.Read)
	}
	t.summed = true
	t.read += *l.Read
	t.converted += *l.Converted
	for code, n := range l.Codes {
		t.codes[code] += n
	}
	return nil
}
