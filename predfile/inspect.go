package predfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-json/jsontext"

	"assay/qaoa"
)

var jsonOptions = []jsontext.Options{
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
}

// isInspectLog reports whether a file that begins with head is one JSON object
// with the members that logs of Inspect have at their beginning: version or
// status, and then eval.
func isInspectLog(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	dec := jsontext.NewDecoder(bytes.NewBuffer(head), jsonOptions...)
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return false
	}
	marked := false
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return false
		}
		switch name.String() {
		case "version", "status":
			marked = true
		case "eval":
			return marked && dec.PeekKind() == '{'
		}
		if err := dec.SkipValue(); err != nil {
			return false
		}
	}
	return false
}

// inspectLog reads a whole log, sample by sample, and others that follow it.
func (d *decoder) inspectLog(ctx context.Context, r io.Reader) {
	in := &bounded{ctx: ctx, r: skipMark(r), max: d.opt.MaxElement}
	in.left = in.max
	dec := jsontext.NewDecoder(in, jsonOptions...)
	index, err := -1, error(nil)
	for more := true; more; more = err == nil && !d.stopped && dec.PeekKind() != 0 {
		index, err = d.inspectSamples(dec, in, index)
	}
	if err == nil && !d.stopped && in.err != nil && !errors.Is(in.err, io.EOF) {
		err = in.err
	}
	switch {
	case d.stopped:
	case err == nil && index < 0:
		d.note.Skipped = "the header of an Inspect log without its samples"
	case err == nil:
	case in.err != nil && !errors.Is(in.err, io.EOF):
		d.fail(fmt.Errorf("%s: after %d samples: %w", d.name, max(index, 0), in.err))
	default:
		d.fail(&raggedLogError{File: d.name, Samples: max(index, 0), Offset: dec.InputOffset(), Err: err})
	}
}

// A raggedLogError says where a log of Inspect is no JSON any more. What came
// before has been yielded.
type raggedLogError struct {
	File    string
	Samples int // that were whole
	Offset  int64
	Err     error
}

// Error returns the place and the fault.
func (e *raggedLogError) Error() string {
	return fmt.Sprintf("%s: byte %d: after %d samples: the log is cut off or no JSON: %v; write it again with \"inspect log convert\"", e.File, e.Offset, e.Samples, e.Err)
}

// Unwrap returns the fault of the JSON text.
func (e *raggedLogError) Unwrap() error { return e.Err }

// inspectSamples yields the samples of the object that dec is before, the first
// of which has the given index. It returns that of the next one; a negative one
// stands for 0 and says that there was no list of samples yet.
func (d *decoder) inspectSamples(dec *jsontext.Decoder, in *bounded, index int) (int, error) {
	switch tok, err := dec.ReadToken(); {
	case err != nil:
		return index, err
	case tok.Kind() != '{':
		return index, fmt.Errorf("want an object, have %.40s", tok.String())
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return index, err
		}
		if name.String() != "samples" || dec.PeekKind() != '[' {
			in.left = 1 << 62 // what is skipped is not kept
			if err := dec.SkipValue(); err != nil {
				return index, err
			}
			continue
		}
		if _, err := dec.ReadToken(); err != nil {
			return index, err
		}
		index = max(index, 0)
		for dec.PeekKind() != ']' {
			in.left = in.max
			data, err := dec.ReadValue()
			if err != nil {
				return index, err
			}
			pos := qaoa.Pos{File: d.name, Index: index, Offset: dec.InputOffset() - int64(len(data))}
			index++
			v, err := qaoa.ParseValue(data)
			if err != nil {
				if !d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Msg: err.Error()}) {
					return index, nil
				}
				continue
			}
			if !d.inspectSample(pos, v, fmt.Sprintf("/samples/%d", pos.Index)) {
				return index, nil
			}
		}
		if _, err := dec.ReadToken(); err != nil {
			return index, err
		}
	}
	_, err := dec.ReadToken()
	return index, err
}

// bounded is a reader that ends at ctx, and with an error after left bytes.
type bounded struct {
	ctx  context.Context //nolint:containedctx // it lives as long as one call
	r    io.Reader
	max  int64
	left int64
	err  error // the last one
}

// Read reads from r.
func (b *bounded) Read(p []byte) (n int, err error) {
	switch {
	case b.ctx.Err() != nil:
		err = b.ctx.Err()
	case b.left <= 0:
		err = fmt.Errorf("a sample has more than the limit of %d bytes", b.max)
	default:
		n, err = b.r.Read(p[:min(int64(len(p)), b.left)])
		b.left -= int64(n)
	}
	if err != nil {
		b.err = err
	}
	return n, err
}

// skipMark returns r without a byte order mark at its beginning.
func skipMark(r io.Reader) io.Reader {
	const mark = "\xef\xbb\xbf"
	head := make([]byte, len(mark))
	n, _ := io.ReadFull(r, head) // an error comes again with the next read
	if string(head[:n]) == mark {
		return r
	}
	return io.MultiReader(bytes.NewReader(head[:n]), r)
}

// inspect reads an element that is a sample, or a whole log.
func (d *decoder) inspect(pos qaoa.Pos, v qaoa.Value) bool {
	samples, ok := v.Get("samples")
	if !ok {
		return d.inspectSample(pos, v, "")
	}
	for i, sample := range samples.Items {
		if !d.inspectSample(pos, sample, fmt.Sprintf("/samples/%d", i)) {
			return false
		}
	}
	return true
}

// inspectSample reads one sample, which lies at path.
func (d *decoder) inspectSample(pos qaoa.Pos, v qaoa.Value, path string) bool {
	who, err := d.identify(v, "id")
	if err != nil {
		return d.emit(pos, qaoa.Prediction{}, under(path, err))
	}
	if msg, at, ok := fault(v, path); ok {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	opt := d.tools(who.id)
	kept, _ := v.Get("attachments")
	messages, _ := v.Get("messages")
	turns, answered, err := foldMessages(attach(messages, kept).Items, path+"/messages", opt)
	if err != nil || answered {
		return d.emit(pos, who.prediction(turns...), err)
	}
	output, _ := v.Get("output")
	if msg, at, ok := fault(output, path+"/output"); ok {
		return d.emit(pos, qaoa.Prediction{}, who.unanswered(at, msg))
	}
	if choices, _ := output.Get("choices"); len(choices.Items) > 0 {
		if message, ok := choices.Items[0].Get("message"); ok && message.Kind == qaoa.Object {
			return d.emit(pos, who.prediction(messageTurn(attach(message, kept), opt)), nil)
		}
	}
	return d.emit(pos, qaoa.Prediction{}, &qaoa.Error{Path: path + "/messages", Msg: "want messages of an assistant, or an output with choices, have neither"})
}

// under puts path before that of an error.
func under(path string, err error) error {
	if e, ok := errors.AsType[*qaoa.Error](err); ok {
		at := *e
		at.Path = path + e.Path
		return &at
	}
	return err
}

// attach returns v with the texts that Inspect took out of it, attachment://
// and a hash, put back from the object kept.
func attach(v, kept qaoa.Value) qaoa.Value {
	if len(kept.Members) == 0 {
		return v
	}
	texts := make(map[string]string, len(kept.Members))
	for _, m := range kept.Members {
		texts[m.Name] = m.Value.Text
	}
	return attachTexts(v, texts)
}

func attachTexts(v qaoa.Value, texts map[string]string) qaoa.Value {
	if hash, ok := strings.CutPrefix(v.Text, "attachment://"); ok && v.Kind == qaoa.String {
		if text, ok := texts[hash]; ok {
			v.Text = text
		}
	}
	for i := range v.Items { // v is read once, so that it can be changed in place
		v.Items[i] = attachTexts(v.Items[i], texts)
	}
	for i := range v.Members {
		v.Members[i].Value = attachTexts(v.Members[i].Value, texts)
	}
	return v
}
