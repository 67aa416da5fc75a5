package main

import (
	"bytes"
	"encoding/json" // on purpose another reader than the one under test
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An element is one line of an interchange file.
type element struct {
	ID            string `json:"id"` // of a peer
	Conversations []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
	Tools      string `json:"tools"` // JSON text
	Properties struct {
		ID string `json:"id"` // of ours
	} `json:"properties"`
}

// A tool is one element of the list that is the text of "tools".
type tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Parameters  schema `json:"parameters"`
}

// A schema is the part of a JSON Schema that both sides write.
type schema struct {
	Properties map[string]map[string]any `json:"properties"`
	Required   []string                  `json:"required"`
}

// compare returns the first difference of two elements, with its place, or "",
// and counts what it looks at.
func (t *tally) compare(peer, ours element) string {
	if a, b := peer.name(), ours.name(); a != b {
		return differ("/id", a, b)
	}
	if d := t.compareMessages(peer, ours); d != "" {
		return d
	}
	var a, b []tool
	if err := decode(peer.Tools, &a); err != nil {
		return fmt.Sprintf("/tools: of the peer: %v", err)
	}
	if err := decode(ours.Tools, &b); err != nil {
		return fmt.Sprintf("/tools: of ours: %v", err)
	}
	if len(a) != len(b) {
		return differ("/tools", len(a), len(b))
	}
	for i := range a {
		if d := t.compareTools(fmt.Sprintf("/tools/%d", i), a[i], b[i]); d != "" {
			return d
		}
	}
	return ""
}

func (t *tally) compareMessages(peer, ours element) string {
	if a, b := len(peer.Conversations), len(ours.Conversations); a != b {
		return differ("/conversations", a, b)
	}
	for i, a := range peer.Conversations {
		b := ours.Conversations[i]
		path := fmt.Sprintf("/conversations/%d", i)
		t.messages++
		switch {
		case a.From != b.From:
			return differ(path+"/from", a.From, b.From)
		case a.From == "function_call":
			t.calls++
			var x, y any
			if err := decode(a.Value, &x); err != nil {
				return fmt.Sprintf("%s/value: of the peer: %v", path, err)
			}
			if err := decode(b.Value, &y); err != nil {
				return fmt.Sprintf("%s/value: of ours: %v", path, err)
			}
			if !equal(x, y) {
				return differ(path+"/value", a.Value, b.Value)
			}
		case plain(a.Value) != plain(b.Value):
			return differ(path+"/value", a.Value, b.Value)
		}
	}
	return ""
}

// compareTools compares two tools; path is where they are.
func (t *tally) compareTools(path string, peer, ours tool) string {
	t.tools++
	if peer.Name != ours.Name {
		return differ(path+"/name", peer.Name, ours.Name)
	}
	if peer.Description != ours.Description {
		return differ(path+"/description", peer.Description, ours.Description)
	}
	a, b := peer.Parameters, ours.Parameters
	if len(a.Properties) != len(b.Properties) {
		return differ(path+"/parameters/properties", len(a.Properties), len(b.Properties))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Properties)) {
		p := a.Properties[name]
		path := path + "/parameters/properties/" + name
		q, ok := b.Properties[name]
		if !ok {
			return differ(path, "it", "none")
		}
		t.params++
		for _, member := range []string{"type", "description", "default"} {
			if !equal(p[member], q[member]) {
				return differ(path+"/"+member, p[member], q[member])
			}
		}
		_, byDefault := p["default"]
		switch needs, has := slices.Contains(a.Required, name), slices.Contains(b.Required, name); {
		case needs == has:
		case needs && byDefault:
			t.ruled++
		default:
			return differ(path+" required", needs, has)
		}
	}
	for _, name := range b.Required {
		if _, ok := a.Properties[name]; !ok {
			return differ(path+"/parameters/required", "no "+name, "it")
		}
	}
	return ""
}

// name returns the id of e without the name of the corpus before it: xlam-7 at
// the top (a peer) and apigen/7 in properties (ours) are both 7.
func (e element) name() string {
	id, sep := e.ID, "-"
	if e.Properties.ID != "" {
		id, sep = e.Properties.ID, "/"
	}
	if _, rest, found := strings.Cut(id, sep); found {
		return rest
	}
	return id
}

// plain returns a text as it is compared: the tags around no answer are none.
func plain(s string) string {
	if s == "<answer></answer>" {
		return ""
	}
	return s
}

// decode reads the one JSON value in text.
func decode(text string, into any) error {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("want JSON, have %.80q: %w", text, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("want one JSON value, have more after it in %.80q", text)
	}
	return nil
}

// equal compares two decoded JSON values. The order of members does not count.
func equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case json.Number:
		y, ok := b.(json.Number)
		if !ok {
			return false
		}
		return x == y || sameFloat(x.String(), y.String())
	}
	return a == b
}

// sameFloat compares 1e3 with 1000.0. Two integers are the same only by text,
// as a float64 does not hold all of them.
func sameFloat(a, b string) bool {
	if !strings.ContainsAny(a+b, ".eE") {
		return false
	}
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	return errA == nil && errB == nil && x == y
}

// differ words a difference.
func differ(path string, peer, ours any) string {
	return fmt.Sprintf("%s: the peer has %.200s, we have %.200s", path, fmt.Sprintf("%#v", peer), fmt.Sprintf("%#v", ours))
}
