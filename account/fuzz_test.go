package account

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// FuzzRead: whatever a file holds, it is an account or an error with a place,
// and what is written of it has no control characters.
func FuzzRead(f *testing.F) {
	f.Add(`{"source":"bfcl","read":3,"converted":2,"codes":{"no_call":1}}` + "\n" + `{"source":"bfcl","stage":"filter","code":"no_call"}`)
	f.Add(`{"source":"\u001b","stage":"\u0000","code":"y|"}`)
	f.Add(`{"source":"filter","read":2,"converted":1,"codes":{"parse_error":1}}{"source":"","stage":"read","code":"parse_error"}`)
	f.Fuzz(func(t *testing.T, text string) {
		tallies := map[string]*tally{}
		if err := readAll(t.Context(), tallies, strings.NewReader(text), "file"); err != nil {
			if !strings.Contains(err.Error(), "file") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		a := account(tallies)
		var b bytes.Buffer
		if err := errors.Join(a.WriteText(&b), a.Markdown(&b), a.JSON(&b)); err != nil {
			t.Error(err)
		}
		for _, r := range b.String() {
			if r < ' ' && r != '\n' || r == 0x7f {
				t.Errorf("the control character %q is written for %q", r, text)
			}
		}
	})
}
