package convert

import (
	"bytes"
	"io"
	"strconv"

	"assay/qaoa"

	json "github.com/goccy/go-json"
)

// maxDetail bounds the bytes of a detail in a ledger: text of a corpus may be
// quoted there.
const maxDetail = 1000

// A Ledger writes rejects as JSON lines:
//
//	{"source","file","index","offset","id"?,"stage","code","path"?,"detail"}
type Ledger struct {
	w   io.Writer
	buf []byte
}

// NewLedger returns a ledger that writes to w, a line at a time.
func NewLedger(w io.Writer) *Ledger { return &Ledger{w: w} }

// Write adds a line.
func (l *Ledger) Write(rej *Reject) error {
	l.buf = append(AppendLedger(l.buf[:0], rej), '\n')
	_, err := l.w.Write(l.buf)
	return err
}

// AppendLedger appends the line of rej to dst, without a line break. Details
// over 1,000 bytes are cut.
func AppendLedger(dst []byte, rej *Reject) []byte {
	str := func(name, value string) {
		dst = append(append(append(dst, ',', '"'), name...), `":`...)
		dst = qaoa.AppendQuote(dst, value)
	}
	dst = append(dst, `{"source":`...)
	dst = qaoa.AppendQuote(dst, rej.Source)
	str("file", rej.Pos.File)
	dst = strconv.AppendInt(append(dst, `,"index":`...), int64(rej.Pos.Index), 10)
	dst = strconv.AppendInt(append(dst, `,"offset":`...), rej.Pos.Offset, 10)
	if rej.ID != "" {
		str("id", rej.ID)
	}
	str("stage", string(rej.Stage))
	str("code", string(rej.Code))
	if rej.Path != "" {
		str("path", rej.Path)
	}
	detail := rej.Detail
	if len(detail) > maxDetail {
		detail = detail[:maxDetail] + "…"
	}
	str("detail", detail)
	return append(dst, '}')
}

// marshal returns v as JSON without HTML escapes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
