package toolcall

import (
	"errors"
	"strconv"
	"strings"

	"assay/internal/pylit"
)

// errNoOddName says that a text calls no tool by a name that Python could not
// write.
var errNoOddName = errors.New("no call of a tool with such a name")

// oddCalls reads Python calls among which are some of tools whose names are no
// names in Python, such as [Market Trends API(country="us")]: corpora hold such
// names, and models that learnt from them write them as they are. Only names
// on offer are read so.
func (p *parser) oddCalls(text string) ([]pylit.Call, error) {
	const stand = "\u01c3tool_" // and the number of the tool; begins with a letter of no tool
	var out strings.Builder
	back := map[string]string{}
	depth, starts := 0, true // starts: a call may begin here
	for i := 0; i < len(text); i++ {
		c := text[i]
		if starts && depth == 0 && !isBlank(c) {
			if n := p.oddName(text[i:]); n >= 0 {
				name := p.opt.Tools[n].Name
				placeholder := stand + strconv.Itoa(n)
				back[placeholder] = name
				out.WriteString(placeholder)
				i += len(name) - 1
				starts = false
				continue
			}
		}
		end := i + 1
		switch c {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case '"', '\'':
			end = min(stringEnd(text, i)+1, len(text))
		}
		starts = c == '[' || c == ',' || c == ';' || c == '\n' || starts && isBlank(c)
		out.WriteString(text[i:end])
		i = end - 1
	}
	if len(back) == 0 {
		return nil, errNoOddName
	}
	calls, err := pylit.ParseCalls(out.String())
	for i, c := range calls {
		if name, ok := back[c.Name]; ok {
			calls[i].Name = name
		}
	}
	return calls, err
}

// oddName returns the number of the tool on offer that s begins to call by a
// name that Python could not write, -1 if there is none.
func (p *parser) oddName(s string) int {
	for i := range p.opt.Tools {
		name := p.opt.Tools[i].Name
		if rest, ok := strings.CutPrefix(s, name); ok && name != "" && strings.HasPrefix(rest, "(") && !plainName(name) {
			return i
		}
	}
	return -1
}
