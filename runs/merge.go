package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"assay/eval"
)

// A GapError says which parts of a run are missing.
type GapError struct {
	Count  int   // shards of the run
	Absent []int // shards that no folder holds
	// Unfinished are folders whose shard is not complete, with what is missing.
	Unfinished []string
}

// Error lists the parts, and says what to do.
func (e *GapError) Error() string {
	var parts []string
	if len(e.Absent) > 0 {
		parts = append(parts, fmt.Sprintf("no folder holds shard %s of %d", numbers(e.Absent), e.Count))
	}
	parts = append(parts, e.Unfinished...)
	return strings.Join(parts, "; ") + ": run these shards to their end first, or allow gaps and resume the joined run"
}

// numbers lists at most ten of them.
func numbers(list []int) string {
	const most = 10
	var s []string
	for _, n := range list[:min(len(list), most)] {
		s = append(s, fmt.Sprint(n))
	}
	if len(list) > most {
		s = append(s, fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(s, ", ")
}

// Merge joins the run folders of all shards of one run into the new folder
// out, which is then as that of a run on one machine: the same predictions
// byte for byte, the same scores, and it can be resumed.
//
// The shards must have equal settings, and each must be there once and be
// complete; a [*GapError] tells what is missing. With allowGaps the joined run
// may be incomplete, and resuming it asks for the rest. A folder in use, and a
// pair with two answers, are errors. After an error there is no folder out.
func Merge(out string, in []string, allowGaps bool) (sum eval.Summary, err error) {
	parts, err := readParts(in)
	if err != nil {
		return sum, err
	}
	gaps := parts.gaps()
	if gaps != nil && !allowGaps {
		return sum, gaps
	}
	if _, err := eval.ReadRun(out); !errors.Is(err, fs.ErrNotExist) {
		return sum, fmt.Errorf("%s holds a run already; give a new folder", out)
	}
	folder, err := eval.Open(out, parts.whole)
	if err != nil {
		return sum, err
	}
	for _, p := range parts.list {
		before := folder.Finished()
		if err = folder.Absorb(p.dir); err != nil {
			break
		}
		if n := folder.Finished() - before; n < p.info.Settings.Pairs && !allowGaps {
			err = &GapError{Count: len(parts.list), Unfinished: []string{fmt.Sprintf("%s holds %d of %d answers", p.dir, n, p.info.Settings.Pairs)}}
			break
		}
	}
	if err == nil {
		sum, err = folder.Finish(false)
	}
	if err := errors.Join(err, folder.Close()); err != nil {
		return sum, errors.Join(err, eval.Remove(out))
	}
	return sum, nil
}

// A part is one folder that is joined.
type part struct {
	dir   string
	shard eval.Shard
	info  eval.RunInfo
}

type parts struct {
	list  []part
	whole eval.Settings
}

// readParts reads what the folders say of themselves, and checks that they are
// parts of one run.
func readParts(in []string) (*parts, error) {
	if len(in) == 0 {
		return nil, errors.New("want the folders of the shards, have none")
	}
	out := &parts{}
	seen := map[int]string{}
	for _, dir := range in {
		info, err := eval.ReadRun(dir)
		if err != nil {
			return nil, err
		}
		shard, err := eval.ParseShard(info.Settings.Shard)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if shard.Count == 0 {
			return nil, fmt.Errorf("%s holds a whole run and no shard of one; want folders of \"run --shard i/n\"", dir)
		}
		if other, ok := seen[shard.Index]; ok {
			return nil, fmt.Errorf("%s and %s both hold shard %s: they overlap; leave one of them out", other, dir, shard)
		}
		seen[shard.Index] = dir
		whole := info.Settings
		whole.Shard, whole.Pairs = "", whole.Records*whole.Repeats
		if len(out.list) == 0 {
			out.whole = whole
		} else if first := out.list[0]; shard.Count != first.shard.Count {
			return nil, fmt.Errorf("%s holds shard %s, and %s shard %s: want parts of one run", first.dir, first.shard, dir, shard)
		} else if diffs := whole.Differences(out.whole); len(diffs) > 0 {
			return nil, fmt.Errorf("%s has other settings than %s:\n  %s", dir, first.dir, strings.Join(diffs, "\n  "))
		}
		out.environment(info.Settings.Environment)
		out.list = append(out.list, part{dir, shard, info})
	}
	slices.SortFunc(out.list, func(a, b part) int { return a.shard.Index - b.shard.Index })
	return out, nil
}

// environment adds what one part says of where it ran: values that differ are
// listed.
func (p *parts) environment(env map[string]string) {
	joined := map[string]string{}
	for _, from := range []map[string]string{p.whole.Environment, env} {
		for name, value := range from {
			have := strings.Split(joined[name], ", ")
			switch {
			case joined[name] == "":
				joined[name] = value
			case !slices.Contains(have, value):
				have = append(have, value)
				slices.Sort(have)
				joined[name] = strings.Join(have, ", ")
			}
		}
	}
	p.whole.Environment = joined
}

// gaps returns what is missing, or nil.
func (p *parts) gaps() error {
	gap := &GapError{Count: p.list[0].shard.Count}
	have := map[int]bool{}
	for _, part := range p.list {
		have[part.shard.Index] = true
		if c := part.info.Counts; part.info.State == eval.StateIncomplete || part.info.State == eval.StateInterrupted {
			gap.Unfinished = append(gap.Unfinished, fmt.Sprintf("%s is %s (%d of %d answers)", part.dir, part.info.State, c.Finished, c.Planned))
		}
	}
	for i := range gap.Count {
		if !have[i] {
			gap.Absent = append(gap.Absent, i)
		}
	}
	if len(gap.Absent)+len(gap.Unfinished) == 0 {
		return nil
	}
	return gap
}
