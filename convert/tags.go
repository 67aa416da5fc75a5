package convert

import (
	"regexp"
	"strings"
)

// A finder finds the places of a tag in a text, front to back. It remembers the
// next one, so that a tag which is far away or missing is not searched for
// again and again.
type finder struct {
	text       string
	find       func(text string) []int // start and end of the first, or nil
	start, end int                     // of the next one; start is -1 if there is none
	searched   bool
}

// tagFinder returns a finder of the fixed text tag.
func tagFinder(text, tag string) *finder {
	return &finder{text: text, find: func(s string) []int {
		if i := strings.Index(s, tag); i >= 0 {
			return []int{i, i + len(tag)}
		}
		return nil
	}}
}

// next returns the first place that begins at from or later, -1 if there is
// none.
func (f *finder) next(from int) (start, end int) {
	if !f.searched || f.start >= 0 && f.start < from {
		f.searched, f.start, f.end = true, -1, -1
		if m := f.find(f.text[from:]); m != nil {
			f.start, f.end = from+m[0], from+m[1]
		}
	}
	return f.start, f.end
}

// CutThink takes the reasoning that models write between <think> and </think>
// out of text. Unbalanced counts the tags without a partner: a lone </think>
// ends reasoning that began with the text, and a lone <think> begins one that
// goes on to a line that begins with <tool_call>, else to the end.
func CutThink(text string) (rest, reasoning string, unbalanced int) {
	const open, end = "<think>", "</think>"
	if !strings.Contains(text, open) && !strings.Contains(text, end) {
		return text, "", 0
	}
	opens, ends, calls := tagFinder(text, open), tagFinder(text, end), tagFinder(text, "\n"+toolCallTag)
	var keep, cut []string
	for at := 0; ; {
		i, from := opens.next(at)
		j, behind := ends.next(at)
		switch {
		case i < 0 && j < 0:
			keep = append(keep, text[at:])
			return joinTexts(keep), joinTexts(cut), unbalanced
		case j >= 0 && (i < 0 || j < i):
			unbalanced++
			// What came before is reasoning, unless there was some already.
			if len(cut) == 0 {
				cut = append(cut, text[at:j])
			} else {
				keep = append(keep, text[at:j])
			}
			at = behind
		case j < 0:
			unbalanced++
			keep = append(keep, text[at:i])
			if at, _ = calls.next(from); at < 0 {
				at = len(text)
			}
			cut = append(cut, text[from:at])
		default:
			keep = append(keep, text[at:i])
			cut = append(cut, text[from:j])
			at = behind
		}
	}
}

// joinTexts returns texts without blanks at their ends, a line each.
func joinTexts(texts []string) string {
	var out []string
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

const toolCallTag = "<tool_call>"

// CutTags takes the blocks between <name> and </name> out of text. Unbalanced
// counts the tags without a partner: a lone opening tag is closed by the next
// one or by the end, and a lone closing tag makes a block of the text before
// it if that begins with a bracket.
func CutTags(text, name string) (blocks []string, rest string, unbalanced int) {
	open, end := "<"+name+">", "</"+name+">"
	if !strings.Contains(text, open) && !strings.Contains(text, end) {
		return nil, text, 0
	}
	opens, ends := tagFinder(text, open), tagFinder(text, end)
	var keep []string
	for at := 0; ; {
		i, from := opens.next(at)
		j, behind := ends.next(at)
		switch {
		case i < 0 && j < 0:
			return blocks, joinTexts(append(keep, text[at:])), unbalanced
		case j >= 0 && (i < 0 || j < i):
			unbalanced++
			before := strings.TrimSpace(text[at:j])
			if strings.HasPrefix(before, "{") || strings.HasPrefix(before, "[") {
				blocks = append(blocks, before)
			} else {
				keep = append(keep, before)
			}
			at = behind
			continue
		}
		keep = append(keep, text[at:i])
		next, _ := opens.next(from)
		switch {
		case j >= 0 && (next < 0 || j < next):
			blocks = append(blocks, text[from:j])
			at = behind
		case next >= 0:
			unbalanced++
			blocks = append(blocks, text[from:next])
			at = next
		default:
			unbalanced++
			blocks = append(blocks, text[from:])
			at = len(text)
		}
	}
}

// The markers of Glaive and of what was made of it: <functioncall> {…}, with
// </functioncall>, <|endoftext|> or nothing behind it, and
// <|fn_start|>{…}<|fn_end|>. Blanks inside of a marker do not matter.
var (
	markerStart = regexp.MustCompile(`<\s*(?:functioncall|\|\s*fn_start\s*\|)\s*>`)
	markerEnd   = regexp.MustCompile(`<\s*(?:/\s*functioncall|\|\s*fn_end\s*\||\|\s*endoftext\s*\|)\s*>`)
)

// CutMarkers takes the calls behind the markers of Glaive out of text.
// Unbalanced counts <|fn_start|> without <|fn_end|> and end markers without a
// start, except <|endoftext|>, which ends any text.
func CutMarkers(text string) (blocks []string, rest string, unbalanced int) {
	if strings.IndexByte(text, '<') < 0 {
		return nil, text, 0
	}
	starts := &finder{text: text, find: markerStart.FindStringIndex}
	ends := &finder{text: text, find: markerEnd.FindStringIndex}
	var keep []string
	cut := false
	for at := 0; ; {
		start, from := starts.next(at)
		before := text[at:]
		if start >= 0 {
			before = text[at:start]
		}
		keep = append(keep, markerEnd.ReplaceAllStringFunc(before, func(m string) string {
			if !strings.Contains(m, "endoftext") {
				unbalanced++
			}
			cut = true
			return ""
		}))
		if start < 0 {
			if !cut {
				return nil, text, 0
			}
			return blocks, joinTexts(keep), unbalanced
		}
		cut = true
		needsEnd := strings.Contains(text[start:from], "fn_start")
		stop, behind := len(text), len(text)
		if next, _ := starts.next(from); next >= 0 {
			stop, behind = next, next
		}
		if i, j := ends.next(from); i >= 0 && i < stop {
			stop, behind = i, j
			needsEnd = needsEnd && !strings.Contains(text[i:j], "fn_end")
		}
		if needsEnd {
			unbalanced++
		}
		blocks = append(blocks, text[from:stop])
		at = behind
	}
}
