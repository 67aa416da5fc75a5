package preflight

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"assay/chat"
	"assay/internal/ordered"
	"assay/qaoa"
)

// maxExamples is how many rows a tally names.
const maxExamples = 20

// A Tally is how often a code was found.
type Tally struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Rows     int      `json:"rows"`     // with the code
	Examples []string `json:"examples"` // IDs of the first 20
	First    string   `json:"first"`    // path and detail of the first
	What     string   `json:"what"`     // happens
	Do       string   `json:"do"`
}

// A Report is what a trainer will do with all rows.
type Report struct {
	Trainer   Trainer `json:"trainer"`
	Template  string  `json:"template"`
	Tokenizer string  `json:"tokenizer"` // "estimate: bytes/3" if there is none
	Cutoff    int     `json:"cutoff"`    // 0 is what the model takes
	// Default tells that Cutoff is the trainer's own.
	Default bool     `json:"default_cutoff"`
	Files   []string `json:"files"`
	// Rows = Whole + Cut + Dropped + Fails.
	Rows    int `json:"rows"`
	Whole   int `json:"whole"`
	Cut     int `json:"cut"`
	Dropped int `json:"dropped"`
	Fails   int `json:"fails"`
	// Tokens are those of all rows that reach the template, Kept those of
	// rows that are trained, behind the cut, and Trained those of them in the
	// loss.
	Tokens    int      `json:"tokens"`
	Kept      int      `json:"kept"`
	Trained   int      `json:"trained"`
	Longest   int      `json:"longest"`
	Calls     int      `json:"calls"`
	CallsLost int      `json:"calls_lost"`
	Packs     int      `json:"packs,omitempty"`     // sequences, if rows are packed
	PackFill  float64  `json:"pack_fill,omitempty"` // share of them that holds tokens, in [0,1]
	Codes     []Tally  `json:"codes"`               // the gravest first
	Notes     []string `json:"notes"`
}

// Share returns the share of trained tokens among those that are kept, in
// [0,1]; 0 if there are none.
func (r Report) Share() float64 {
	if r.Kept == 0 {
		return 0
	}
	return float64(r.Trained) / float64(r.Kept)
}

// Failing returns the codes by which something would be lost or trained wrong
// and that are not allowed, the gravest first.
func (r Report) Failing(allow []Code) []Code {
	var out []Code
	for _, t := range r.Codes {
		allowed := t.Severity == Note
		for _, a := range allow {
			allowed = allowed || a == t.Code
		}
		if !allowed {
			out = append(out, t.Code)
		}
	}
	return out
}

// Run simulates what the trainer does with the rows of in. It reads them twice:
// Arrow unites the types of all rows before it hands out the first. Memory is
// that of the places in the rows, of which the first 262,144 are followed.
func Run(ctx context.Context, in Input, opt Options) (Report, error) {
	if err := opt.Check(); err != nil {
		return Report{}, err
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	rep := newReport(in, opt)
	all, err := unite(ctx, in, opt)
	if err != nil {
		return rep, err
	}
	clash := map[string]clash{}
	for _, c := range all.clashes() {
		if _, ok := clash[c.row]; !ok {
			clash[c.row] = c
		}
	}
	tally := map[Code]*Tally{}
	pack := newPacker(opt.cutoff())
	rows := ordered.Map(ctx, in.rows(ctx, opt.Trainer), opt.Workers, func(r rawRow) seen { return look(r, in, all, clash, opt) })
	for s, err := range rows {
		if err != nil {
			return rep, err
		}
		rep.add(s.row, tally)
		if opt.Packing && pack != nil && s.row.usable() {
			pack.add(s.row.Kept)
		}
		if opt.OnRow != nil {
			opt.OnRow(s.row)
		}
		if s.preview != nil && opt.OnPreview != nil {
			opt.OnPreview(*s.preview)
		}
	}
	if opt.Packing && pack != nil {
		if rep.Packs = pack.pack(); rep.Packs > 0 {
			rep.PackFill = float64(pack.tokens) / float64(rep.Packs*pack.limit)
		}
	}
	for _, m := range meanings {
		if t := tally[m.code]; t != nil {
			rep.Codes = append(rep.Codes, *t)
		}
	}
	if all.full {
		rep.Notes = append(rep.Notes, fmt.Sprintf("rows have more than %d places: types of further ones were not united", maxNodes))
	}
	return rep, nil
}

func newReport(in Input, opt Options) Report {
	rep := Report{
		Trainer: opt.Trainer, Template: opt.Template.Name, Tokenizer: "tokenizer.json", Cutoff: opt.cutoff(), Default: opt.Cutoff == 0,
		Files: []string{}, Codes: []Tally{}, Notes: append([]string{}, in.Notes...),
	}
	if opt.Tokenizer == nil {
		rep.Tokenizer = "estimate: bytes/3"
	}
	for _, f := range in.Files {
		rep.Files = append(rep.Files, filepath.Base(f))
	}
	if !opt.Template.Verified {
		rep.Notes = append(rep.Notes, "the template is rendered by Jinja's rules, but this source was never compared with Jinja itself")
	}
	switch {
	case rep.Cutoff == 0:
		rep.Notes = append(rep.Notes, "no cutoff was given, and the trainer takes what the model takes: no row is found too long here")
	case rep.Default:
		_, name := opt.Trainer.DefaultCutoff()
		rep.Notes = append(rep.Notes, fmt.Sprintf("no cutoff was given: %s is %d by default", name, rep.Cutoff))
	}
	if opt.Trainer == MSSwift || opt.Trainer == LlamaFactory {
		rep.Notes = append(rep.Notes, string(opt.Trainer)+" renders by a template of its own, which may differ in blanks from the one named here")
	}
	return rep
}

// unite reads all rows for the types that Arrow gives them.
func unite(ctx context.Context, in Input, opt Options) (*schema, error) {
	type parsed struct {
		row rawRow
		v   qaoa.Value
		ok  bool
	}
	all := &schema{}
	rows := ordered.Map(ctx, in.rows(ctx, opt.Trainer), opt.Workers, func(r rawRow) parsed {
		v, err := qaoa.ParseValue(r.data)
		return parsed{r, v, err == nil && r.bad == nil}
	})
	for p, err := range rows {
		if err != nil {
			return all, err
		}
		if p.ok {
			all.add(idOf(p.row, p.v), p.v)
		}
	}
	return all, nil
}

// idOf returns the ID of a row.
func idOf(r rawRow, v qaoa.Value) string {
	if id, _ := v.Get("id"); id.Kind == qaoa.String || id.Kind == qaoa.Number {
		return id.Text
	}
	return fmt.Sprintf("%s#%d", r.file, r.index)
}

// seen is a row that was looked at.
type seen struct {
	row     Row
	preview *Preview
}

// look applies all rules to one row.
func look(r rawRow, in Input, all *schema, clash map[string]clash, opt Options) seen {
	row := Row{File: r.file, Index: r.index, Outcome: Whole, Findings: []Finding{}}
	v, err := qaoa.ParseValue(r.data)
	row.ID = idOf(r, v)
	if r.bad != nil {
		row.add(r.bad.Code, r.bad.Path, "%s", r.bad.Detail)
		return seen{row: row}
	}
	if err != nil {
		row.add(NotJSON, "", "%s", err)
		return seen{row: row}
	}
	if c, ok := clash[row.ID]; ok {
		row.add(ArrowType, c.path, "%s", c.detail)
	}
	if at := padded(&all.root, v, "", false); at != "" {
		row.add(ArrowNulls, at, "want the members that were written, and loading adds those of other rows as nulls")
	}
	got := ingest(&row, v, opt.Trainer, in.Columns)
	if at := nullsIn(got); at != "" {
		row.add(NullPadded, "", "%s", at)
	}
	special(&row, got, opt)
	if !reaches(&row) {
		row.CallsLost = countCalls(got)
		row.Calls = row.CallsLost
		return seen{row: row}
	}
	outcome := row.Outcome
	l := measure(&row, got, opt)
	if outcome == Fails {
		row.Outcome = Fails
	}
	if l == nil {
		row.Kept, row.Trained = 0, 0
		return seen{row: row}
	}
	twice(&row, l, got)
	s := seen{row: row}
	if opt.PreviewID != "" && row.ID == opt.PreviewID {
		s.preview = l.preview(row)
	}
	if !row.usable() {
		s.row.Kept, s.row.Trained = 0, 0
	}
	return s
}

// reaches reports whether there is a conversation to render: a row that ends
// the run by its types alone still has one.
func reaches(row *Row) bool {
	for _, f := range row.Findings {
		if m := f.Code.meaning(); (m.ends || m.drops) && f.Code != ArrowType && f.Code != ToolsList {
			return false
		}
	}
	return true
}

func countCalls(in ingested) int {
	n := 0
	for _, m := range in.conv.Messages {
		n += len(m.Calls)
	}
	return n
}

// special looks for special tokens in what users and tools say.
func special(row *Row, in ingested, opt Options) {
	if opt.Tokenizer == nil {
		return
	}
	for i, m := range in.conv.Messages {
		if m.Role != chat.User && m.Role != chat.Tool {
			continue
		}
		if hits := opt.Tokenizer.SpecialIn(m.Content); len(hits) > 0 {
			row.add(SpecialInText, "", "message %d holds %s (id %d)", i, hits[0].Text, hits[0].ID)
			return
		}
	}
}

// twice finds arguments that the template wrote as a string.
func twice(row *Row, l *layout, in ingested) {
	if row.has(DoubleEncoded) {
		return
	}
	for i, m := range in.conv.Messages {
		for k, c := range m.Calls {
			if c.Arguments.Kind() == qaoa.String && !l.says(i, k, c.Arguments.Text()) {
				row.add(DoubleEncoded, "", "call %d of message %d: arguments are the text %.60q, and the template quotes it", k, i, c.Arguments.Text())
				return
			}
		}
	}
}

// says reports whether the arguments of a call are in the text as they are, and
// not as a JSON string.
func (l *layout) says(message, item int, text string) bool {
	for _, s := range l.text.Find(chat.FieldArguments) {
		if s.Message == message && s.Item == item && l.text.Text[s.Start:s.End] == strings.TrimSpace(text) {
			return true
		}
	}
	return false
}

// add counts a row.
func (r *Report) add(row Row, tally map[Code]*Tally) {
	r.Rows++
	switch row.Outcome {
	case Whole:
		r.Whole++
	case Cut:
		r.Cut++
	case Dropped:
		r.Dropped++
	default:
		r.Fails++
	}
	r.Tokens += row.Tokens
	r.Kept += row.Kept
	r.Trained += row.Trained
	r.Longest = max(r.Longest, row.Tokens)
	r.Calls += row.Calls
	r.CallsLost += row.CallsLost
	done := map[Code]bool{}
	for _, f := range row.Findings {
		if done[f.Code] {
			continue
		}
		done[f.Code] = true
		t := tally[f.Code]
		if t == nil {
			m := f.Code.meaning()
			t = &Tally{Code: f.Code, Severity: m.severity, What: m.what, Do: m.do, First: strings.TrimPrefix(f.Path+": "+f.Detail, ": ")}
			tally[f.Code] = t
		}
		t.Rows++
		if len(t.Examples) < maxExamples {
			t.Examples = append(t.Examples, row.ID)
		}
	}
}

// WriteText writes the report for people, without control characters of the
// rows: clean is applied to what they hold.
func (r Report) WriteText(w io.Writer, clean func(string) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%s: %d in, %d whole, %d cut, %d dropped, %d that stop the trainer, %.1f %% of tokens trained\n",
		r.Trainer, clean(r.Template), r.Rows, r.Whole, r.Cut, r.Dropped, r.Fails, 100*r.Share())
	limit := "no cutoff"
	if r.Cutoff > 0 {
		limit = fmt.Sprintf("cutoff %d", r.Cutoff)
	}
	fmt.Fprintf(&b, "tokens: %d in all, %d kept, %d trained, longest row %d, %s (%s)\n", r.Tokens, r.Kept, r.Trained, r.Longest, limit, r.Tokenizer)
	fmt.Fprintf(&b, "calls: %d, of them %d lost\n", r.Calls, r.CallsLost)
	if r.Packs > 0 {
		fmt.Fprintf(&b, "packed: about %d sequences of %d tokens, %.1f %% full\n", r.Packs, r.Cutoff, 100*r.PackFill)
	}
	if len(r.Codes) > 0 {
		b.WriteByte('\n')
		tw := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
		for _, t := range r.Codes {
			fmt.Fprintf(tw, "%s\t%s\t%d\t%s: %s\n", t.Severity, t.Code, t.Rows, t.What, t.Do)
		}
		tw.Flush()
		b.WriteByte('\n')
		for _, t := range r.Codes {
			fmt.Fprintf(&b, "%s: %s: %s\n", t.Code, clean(strings.Join(t.Examples[:min(len(t.Examples), 3)], ", ")), clean(t.First))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", clean(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
