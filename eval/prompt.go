package eval

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"assay/model"
	"assay/qaoa"
)

//go:embed prompt.txt
var promptText string

//go:embed prompt_native.txt
var nativeText string

//go:embed prompt_reference.txt
var referenceText string

// ToolsMark is the placeholder in a system prompt that the tools on offer
// replace, one JSON object a line.
const ToolsMark = "{tools}"

var errNoMark = errors.New("the system prompt has no " + ToolsMark + ": write it where the list of tools belongs, or use --calls native")

// errMark says that a prompt for [Options.Compat] holds [ToolsMark].
var errMark = errors.New("the system prompt has " + ToolsMark + ", but --compat adds the tools itself: take it out")

// A Prompt is a system prompt, cut at its [ToolsMark]. One without text is an
// empty system message, which is not sent at all; but [Options] take the zero
// Prompt for the built-in one.
type Prompt struct {
	before, after string
	marked        bool
	// given tells a prompt that was made of an empty text, and asks for no
	// system message, from the zero Prompt, which asks for the default.
	given bool
}

// PromptFor returns the built-in prompt of a mode: in mode [CallsPrompt] the
// whole protocol with the tools in it, in mode [CallsNative] a few rules of
// conduct, because there the server words tools and calls.
func PromptFor(mode CallMode) Prompt {
	if mode == CallsNative {
		return cutPrompt(nativeText)
	}
	return cutPrompt(promptText)
}

// NewPrompt returns text as the prompt of a mode. Blanks at both ends are cut
// off. In mode [CallsPrompt] a text without [ToolsMark] is an error, because
// the model would never see a tool; in mode [CallsNative] the mark is dropped.
func NewPrompt(text string, mode CallMode) (Prompt, error) {
	p := cutPrompt(text)
	if mode == CallsPrompt && !p.marked {
		return Prompt{}, errNoMark
	}
	return p, nil
}

func cutPrompt(text string) Prompt {
	p := Prompt{given: true}
	p.before, p.after, p.marked = strings.Cut(strings.TrimSpace(text), ToolsMark)
	return p
}

// Text returns the prompt with its [ToolsMark].
func (p Prompt) Text() string {
	if p.marked {
		return p.before + ToolsMark + p.after
	}
	return p.before
}

// Hash returns the SHA-256 of [Prompt.Text] in hexadecimal digits.
func (p Prompt) Hash() string {
	sum := sha256.Sum256([]byte(p.Text()))
	return hex.EncodeToString(sum[:])
}

// System returns the system message for the tools on offer. A mark inside the
// text of a tool is left alone.
func (p Prompt) System(tools []qaoa.Tool) string {
	if !p.marked {
		return p.before
	}
	dst := make([]byte, 0, len(p.before)+len(p.after)+512*len(tools))
	dst = append(dst, p.before...)
	dst = appendTools(dst, tools)
	return string(append(dst, p.after...))
}

// systemFor is [Prompt.System] in mode [CallsPrompt]; in mode [CallsNative] the
// tools travel elsewhere.
func (p Prompt) systemFor(tools []qaoa.Tool, mode CallMode) string {
	if mode == CallsNative {
		return strings.TrimSpace(p.before + p.after)
	}
	return p.System(tools)
}

// appendTools appends one line per tool, in order. A tool without a schema
// takes no parameters.
func appendTools(dst []byte, tools []qaoa.Tool) []byte {
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(dst, `{"name":`...)
		dst = qaoa.AppendQuote(dst, t.Name)
		dst = append(dst, `,"description":`...)
		dst = qaoa.AppendQuote(dst, t.Description)
		dst = append(dst, `,"parameters":`...)
		if t.Parameters == "" {
			dst = append(dst, `{"type":"object","properties":{}}`...)
		} else {
			dst = append(dst, t.Parameters...)
		}
		dst = append(dst, '}')
	}
	return dst
}

// A CallMode says how tools and calls travel.
type CallMode string

// The call modes. CallsPrompt writes them into the text of messages;
// CallsNative uses the fields of the server.
const (
	CallsPrompt CallMode = "prompt"
	CallsNative CallMode = "native"
)

// ParseCallMode returns the mode of that name; "" is [CallsPrompt].
func ParseCallMode(s string) (CallMode, error) {
	switch m := CallMode(s); m {
	case "":
		return CallsPrompt, nil
	case CallsPrompt, CallsNative:
		return m, nil
	}
	return "", fmt.Errorf("--calls %q: want prompt or native", s)
}

// Render returns the messages that open a turn: the system message for the
// tools of rec, the history as it would read had the model itself said it, and
// the query. It is what training rows must equal to serve what was trained.
func Render(rec qaoa.Record, history []qaoa.Turn, query string, p Prompt, mode CallMode) []model.Message {
	d := newDialogue(p.systemFor(rec.Tools, mode), mode)
	for _, t := range history {
		d.gold(t)
	}
	d.query(query)
	return d.messages
}
