package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// The page is written by hand: markup, one style sheet, and the parts of one
// script in their order.
//
//go:embed assets
var assets embed.FS

var scriptParts = []string{"text.js", "data.js", "embedded.js", "paged.js", "overview.js", "items.js", "detail.js", "main.js"}

func asset(name string) []byte {
	data, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(fmt.Sprintf("page: %v", err)) // it is embedded
	}
	return data
}

// script returns the one script, as it stands in the page.
func script() []byte {
	var b bytes.Buffer
	b.WriteString("\"use strict\";\n")
	for _, part := range scriptParts {
		b.Write(asset(part))
	}
	return b.Bytes()
}

func source(data []byte) string {
	sum := sha256.Sum256(data)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Policy returns the Content-Security-Policy of the page. A page that is served
// may fetch from where it came, and one on disk from nowhere.
func Policy(served bool) string {
	connect := "'none'"
	if served {
		connect = "'self'"
	}
	return "default-src 'none'; script-src " + source(script()) + "; style-src " + source(asset("style.css")) +
		"; connect-src " + connect + "; img-src data:; base-uri 'none'; form-action 'none'; frame-src 'none'; object-src 'none'"
}

// WriteHTML writes the report as one file that needs nothing else. The index of
// the items stands before the script, so that the list is there while a browser
// still reads the items.
func (r *Report) WriteHTML(w io.Writer) error {
	if r.paged != nil {
		return errors.New("the report was built to be served: build it without Input.Paged for one file")
	}
	if err := r.write(w, false); err != nil {
		return err
	}
	first := map[int]bool{}
	for _, n := range r.index {
		first[n] = true
		if err := r.embed(w, n); err != nil {
			return err
		}
	}
	if err := r.script(w); err != nil {
		return err
	}
	for n := range r.Blobs() {
		if first[n] {
			continue
		}
		if err := r.embed(w, n); err != nil {
			return err
		}
	}
	return r.end(w)
}

// embed writes a blob as an element that no browser executes.
func (r *Report) embed(w io.Writer, n int) error {
	data, err := r.Blob(n)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "<script type=\"application/octet-stream\" id=\"blob-%d\">", n); err != nil {
		return err
	}
	enc := base64.NewEncoder(base64.StdEncoding, w)
	if _, err := enc.Write(data); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	_, err = io.WriteString(w, "</script>\n")
	return err
}

// WriteServed writes the page without its blobs, which it fetches from
// blob/NUMBER, and without its index, for which it asks under api/. See package
// view.
func (r *Report) WriteServed(w io.Writer) error {
	if err := r.write(w, true); err != nil {
		return err
	}
	if err := r.script(w); err != nil {
		return err
	}
	return r.end(w)
}

// write writes the page up to the place of the first blobs.
func (r *Report) write(w io.Writer, served bool) error {
	shell, _, _ := strings.Cut(string(asset("page.html")), "<!--DATA-->")
	_, err := io.WriteString(w, strings.NewReplacer(
		"<!--TITLE-->", html.EscapeString(plain(r.title)),
		"<!--POLICY-->", html.EscapeString(Policy(served)),
		"/*STYLE*/", string(asset("style.css")),
		"<!--SERVED-->", strconv.FormatBool(served),
	).Replace(shell))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "<script type=\"application/json\" id=\"overview\">%s</script>\n", r.overview)
	return err
}

// script writes what stands between the first blobs and the others.
func (r *Report) script(w io.Writer) error {
	_, rest, _ := strings.Cut(string(asset("page.html")), "<!--DATA-->")
	rest, _, _ = strings.Cut(rest, "<!--MORE-->")
	_, err := io.WriteString(w, strings.Replace(strings.TrimLeft(rest, "\n"), "/*SCRIPT*/", string(script()), 1))
	return err
}

func (r *Report) end(w io.Writer) error {
	_, rest, _ := strings.Cut(string(asset("page.html")), "<!--MORE-->\n")
	_, err := io.WriteString(w, rest)
	return err
}

// plain returns s as one line without characters that cannot be seen.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
