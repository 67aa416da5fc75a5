package mcp

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// An endpoint is where a server is.
type endpoint struct {
	args []string // of a command, the command first
	url  *url.URL // of a server behind HTTP
}

// CheckEndpoint returns why s is no endpoint, or nil: see [Connect].
func CheckEndpoint(s string) error {
	_, err := parseEndpoint(s)
	return err
}

// parseEndpoint returns the endpoint that s is. Errors do not show s: a command
// line or a URL may hold a key.
func parseEndpoint(s string) (endpoint, error) {
	command, ok := strings.CutPrefix(s, "stdio:")
	if ok {
		args, err := split(command)
		if err != nil {
			return endpoint{}, fmt.Errorf("endpoint stdio:…: %w", err)
		}
		if len(args) == 0 || args[0] == "" {
			return endpoint{}, fmt.Errorf("endpoint stdio: want a command behind it (stdio:COMMAND ARG…), have none")
		}
		return endpoint{args: args}, nil
	}
	scheme, _, _ := strings.Cut(s, ":")
	if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return endpoint{}, fmt.Errorf("endpoint %.20q: want stdio:COMMAND ARG…, http://HOST/PATH or https://HOST/PATH", scheme)
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return endpoint{}, fmt.Errorf("endpoint %s://…: want %s://HOST/PATH, have no URL", scheme, scheme)
	}
	u.Fragment = ""
	return endpoint{url: u}, nil
}

// String returns e as errors show it: without the arguments of a command and
// without what may be a key in a URL.
func (e endpoint) String() string {
	if e.url == nil {
		return "stdio:" + e.args[0]
	}
	return e.url.Scheme + "://" + e.url.Host + e.url.Path
}

// split returns the words of a command line, quoted as in a shell but with
// nothing put in place: blanks part words, '…' is what it is, in "…" a
// backslash keeps a quote, a backslash, a dollar or a back quote, and outside
// of quotes it keeps any character.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	started := false
	quote := rune(0)
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", c) {
				word.WriteByte('\\')
			}
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, started = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, started = c, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", c):
			if started {
				words = append(words, word.String())
				word.Reset()
				started = false
			}
		default:
			word.WriteRune(c)
			started = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("want a closing %c, have none", quote)
	case escaped:
		return nil, fmt.Errorf("want a character behind the last backslash, have none")
	case started:
		words = append(words, word.String())
	}
	return words, nil
}

// A scrubber takes keys out of texts that others wrote.
type scrubber struct{ replacer *strings.Replacer }

// minSecret is how long a value must be to be taken out of texts: shorter ones
// are words of the language, and no keys.
const minSecret = 6

// newScrubber returns a scrubber of what may be a key in the environment, in
// headers, and in the endpoint.
func newScrubber(e endpoint, environment []string, header map[string][]string) scrubber {
	var secrets []string
	add := func(s string) {
		if s = strings.TrimSpace(s); len(s) >= minSecret {
			secrets = append(secrets, s)
		}
	}
	for _, pair := range environment {
		if name, value, ok := strings.Cut(pair, "="); ok && secretName(name) {
			add(value)
		}
	}
	for _, values := range header {
		for _, value := range values {
			add(value)
			if _, token, ok := strings.Cut(value, " "); ok {
				add(token)
			}
		}
	}
	if e.url != nil {
		if password, ok := e.url.User.Password(); ok {
			add(password)
			add(url.QueryEscape(password))
		}
		add(e.url.RawQuery)
		for _, values := range e.url.Query() {
			for _, value := range values {
				add(value)
			}
		}
	}
	for i, arg := range e.args {
		name, value, ok := strings.Cut(arg, "=")
		switch {
		case ok && secretName(name):
			add(value)
		case !ok && strings.HasPrefix(arg, "-") && secretName(arg) && i+1 < len(e.args):
			add(e.args[i+1])
		}
	}
	// At one place the longest must win, or half of a key stays.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(secrets))
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, "[key]")
	}
	return scrubber{strings.NewReplacer(pairs...)}
}

// secretName reports whether a variable or a flag may hold a key.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH"}, func(word string) bool { return strings.Contains(name, word) })
}

// clean returns text without keys, in one line of valid UTF-8.
func (s scrubber) clean(text string) string {
	return strings.Join(strings.Fields(s.replacer.Replace(strings.ToValidUTF8(text, "\ufffd"))), " ")
}
