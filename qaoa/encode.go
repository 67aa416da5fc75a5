package qaoa

import "strconv"

// AppendRecord appends rec in native form to dst, as one line without the line
// break. Equal records make equal bytes.
func AppendRecord(dst []byte, rec Record) []byte {
	dst = append(dst, `{"schema":"`+Schema+`","id":`...)
	dst = AppendQuote(dst, rec.ID)
	dst = append(dst, `,"source":`...)
	dst = appendSource(dst, rec.Source)
	dst = append(dst, `,"tools":`...)
	dst = AppendTools(dst, rec.Tools)
	dst = append(dst, `,"turns":`...)
	dst = AppendTurns(dst, rec.Turns)
	dst = appendOptional(dst, "system", rec.System)
	if rec.Meta != "" {
		dst = append(append(dst, `,"meta":`...), rec.Meta...)
	}
	return append(dst, '}')
}

// AppendPrediction appends p as a prediction line to dst, without the line
// break.
func AppendPrediction(dst []byte, p Prediction) []byte {
	dst = append(dst, `{"id":`...)
	dst = AppendQuote(dst, p.ID)
	if p.Repeat != 0 {
		dst = append(dst, `,"repeat":`...)
		dst = strconv.AppendInt(dst, int64(p.Repeat), 10)
	}
	dst = append(dst, `,"turns":`...)
	dst = AppendTurns(dst, p.Turns)
	return append(dst, '}')
}

func appendSource(dst []byte, s Source) []byte {
	dst = append(dst, `{"name":`...)
	dst = AppendQuote(dst, s.Name)
	dst = append(dst, `,"file":`...)
	dst = AppendQuote(dst, s.File)
	dst = append(dst, `,"index":`...)
	dst = strconv.AppendInt(dst, int64(s.Index), 10)
	dst = append(dst, `,"split":`...)
	dst = AppendQuote(dst, s.Split)
	return append(dst, '}')
}

// AppendTools appends the JSON array of tools to dst.
func AppendTools(dst []byte, tools []Tool) []byte {
	dst = append(dst, '[')
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendTool(dst, t)
	}
	return append(dst, ']')
}

// AppendTool appends t in native form to dst.
func AppendTool(dst []byte, t Tool) []byte {
	dst = append(dst, `{"name":`...)
	dst = AppendQuote(dst, t.Name)
	dst = append(dst, `,"description":`...)
	dst = AppendQuote(dst, t.Description)
	if t.Parameters != "" {
		dst = append(append(dst, `,"parameters":`...), t.Parameters...)
	}
	dst = appendOptional(dst, "category", t.Category)
	dst = appendOptional(dst, "domain", t.Domain)
	dst = appendOptional(dst, "origin", t.Origin)
	return append(dst, '}')
}

func appendOptional(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return AppendQuote(dst, value)
}

// AppendTurns appends the JSON array of turns to dst.
func AppendTurns(dst []byte, turns []Turn) []byte {
	dst = append(dst, '[')
	for i, t := range turns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"query":`...)
		dst = AppendQuote(dst, t.Query)
		dst = append(dst, `,"steps":[`...)
		for k, s := range t.Steps {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendStep(dst, s)
		}
		dst = append(dst, `],"answer":`...)
		dst = AppendQuote(dst, t.Answer)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendStep(dst []byte, s Step) []byte {
	dst = append(dst, `{"calls":[`...)
	for i, c := range s.Calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendCall(dst, c)
	}
	dst = append(dst, ']')
	if s.observed() {
		dst = append(dst, `,"observations":[`...)
		for i, o := range s.Observations {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendQuote(dst, o)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// observed reports whether any observation of s is known.
func (s Step) observed() bool {
	for _, o := range s.Observations {
		if o != "" {
			return true
		}
	}
	return false
}

// AppendCall appends c to dst: {"name","arguments"}, or {"raw"} for a call
// that did not parse.
func AppendCall(dst []byte, c Call) []byte {
	if c.Raw != "" {
		dst = append(dst, `{"raw":`...)
		dst = AppendQuote(dst, c.Raw)
		return append(dst, '}')
	}
	dst = append(dst, `{"name":`...)
	dst = AppendQuote(dst, c.Name)
	if c.Arguments != "" {
		dst = append(append(dst, `,"arguments":`...), c.Arguments...)
	}
	return append(dst, '}')
}
