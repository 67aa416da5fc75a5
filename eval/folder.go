package eval

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"assay/internal/filelock"
	"assay/model"
	"assay/qaoa"
)

// The files of a run folder.
const (
	RunFile         = "run.json"          // settings, state and counts
	PredictionsFile = "predictions.jsonl" // the finished pairs in the order of cases
	JournalFile     = "journal.jsonl"     // every finished or failed pair, as it came
	LockFile        = "lock"              // held while a process works on the folder
	ScoresDir       = "scores"            // PRESET.json and PRESET.items.jsonl
)

// tempSuffix marks a file that is being written and will be renamed.
const tempSuffix = ".tmp"

// ErrLocked says that another process works on a run folder.
var ErrLocked = errors.New("another process is working on this folder; wait for it, or give each run a folder of its own")

// A Folder keeps one run. It is the only process on its directory from
// [Open] to [Folder.Close]. Its methods Done and Save serve [Options].
type Folder struct {
	// Dropped is how many bytes of a cut last journal line Open dropped.
	Dropped int64

	dir     string
	lock    *os.File
	journal *journal
	info    RunInfo

	notes func() []string // see Options.Notes; may be nil
	price *Price          // see Options.Price; may be nil

	mu     sync.Mutex       // guards the rest
	pairs  map[string]entry // finished pairs by content key
	failed map[int]entry    // failed ones by index
}

// Open makes dir the folder of a run with these settings, or resumes the run
// that it holds. A folder that another process works on, that holds other
// files but no run, or that holds a run with other settings (a
// [*SettingsError]) is refused.
func Open(dir string, s Settings) (*Folder, error) { return open(dir, s, createJournal) }

func open(dir string, s Settings, create func(string) (journalFile, error)) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// Looked at before the lock too: not even a lock belongs into a folder of
	// somebody else.
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	lock, err := filelock.Take(filepath.Join(dir, LockFile))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%s: %w%s", dir, ErrLocked, inBrackets(dir))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; a run needs a folder that it can write to", dir, err)
	}
	sign(lock)
	f := &Folder{dir: dir, lock: lock, pairs: map[string]entry{}, failed: map[int]entry{}}
	err = f.settle(s)
	if err == nil {
		f.journal, f.Dropped, err = openJournal(filepath.Join(dir, JournalFile), create, f.keep)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// settle compares s with what the folder holds, and writes it down if it holds
// nothing.
func (f *Folder) settle(s Settings) error {
	info, err := ReadRun(f.dir)
	switch {
	case err == nil:
		if diffs := s.diff(info.Settings); len(diffs) > 0 {
			return &SettingsError{Dir: f.dir, Diffs: diffs}
		}
		f.info = info
		f.info.State = StateRunning
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := refuseForeign(f.dir); err != nil {
		return err
	}
	f.info = RunInfo{Format: RunFormat, State: StateRunning, Settings: s}
	return f.writeInfo()
}

// refuseForeign returns an error if dir holds files but no run.
func refuseForeign(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	foreign := ""
	for _, file := range files {
		switch name := file.Name(); name {
		case RunFile:
			return nil
		case LockFile, RunFile + tempSuffix: // of a process that was killed, or that begins
		default:
			foreign = name
		}
	}
	if foreign == "" {
		return nil
	}
	return fmt.Errorf("%s holds %s but no %s, so it is no run folder; give an empty or a new one", dir, foreign, RunFile)
}

// keep takes in one journal line.
func (f *Folder) keep(e entry) error {
	if e.Fail != nil {
		if _, done := f.pairs[e.Key]; !done {
			f.failed[e.Index] = e
		}
		return nil
	}
	f.pairs[e.Key] = e
	delete(f.failed, e.Index)
	return nil
}

// Done reports whether the pair with this content key has been answered.
func (f *Folder) Done(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.pairs[key]
	return ok
}

// Finished returns how many pairs have been answered.
func (f *Folder) Finished() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pairs)
}

// Save appends res to the journal. After it returned, not even kill -9 loses
// res.
func (f *Folder) Save(res Result) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, err := f.journal.append(res)
	if err != nil {
		return fmt.Errorf("%s: %w; what was written before is safe, run the same command again to go on", filepath.Join(f.dir, JournalFile), err)
	}
	return f.keep(e)
}

// Run asks about the pairs of cases that are not answered yet, and finishes
// the folder whatever comes: see [Run] and [Folder.Finish]. The error is the
// last of Run; after an interrupt [Interrupted] holds for it.
func (f *Folder) Run(ctx context.Context, m model.Chatter, cases iter.Seq2[qaoa.Record, error], opt Options) (Summary, error) {
	opt.Done, opt.Save = f.Done, f.Save
	if opt.Total == 0 {
		opt.Total = f.info.Settings.Pairs
	}
	f.notes, f.price = opt.Notes, opt.Price
	if opt.Sync != "" {
		f.journal.policy = opt.Sync
	}
	var fault error
	for _, err := range Run(ctx, m, cases, opt) {
		if err != nil {
			fault = err
		}
	}
	sum, err := f.Finish(Interrupted(fault))
	return sum, errors.Join(fault, err)
}

// Finish writes predictions.jsonl, the answered pairs in the order of cases,
// and the counts of run.json. Both replace what was there in one step. The
// bytes of predictions.jsonl depend on the answers only, and not on
// interrupts, on the number of workers, or on times. When they cannot be
// written, the summary still says how many pairs are planned, safe and failed.
func (f *Folder) Finish(interrupted bool) (Summary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := Summary{Counts: Counts{Planned: f.info.Settings.Pairs, Finished: len(f.pairs), Failed: len(f.failed)}}
	if err := f.journal.sync(); err != nil {
		return known, err
	}
	entries := slices.SortedFunc(maps.Values(f.pairs), func(a, b entry) int { return a.Index - b.Index })
	var watch watch
	err := replaceFile(filepath.Join(f.dir, PredictionsFile), func(w io.Writer) error {
		for _, e := range entries {
			line, head, err := f.journal.prediction(e)
			if err != nil {
				return err
			}
			if err := watch.add(line, head); err != nil {
				return fmt.Errorf("%s: byte %d: %w", filepath.Join(f.dir, JournalFile), e.Offset, err)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return known, fmt.Errorf("%w; all that was answered is safe in %s, run the same command again to write it", err, JournalFile)
	}
	f.info.Counts = watch.counts
	f.info.Counts.Planned = f.info.Settings.Pairs
	f.info.Counts.Failed = len(f.failed)
	f.info.Counts.Classes = map[model.Class]int{}
	f.info.Failed = nil
	for _, i := range slices.Sorted(maps.Keys(f.failed)) {
		e := f.failed[i]
		f.info.Counts.Classes[e.Fail.Class]++
		if len(f.info.Failed) < maxListed {
			f.info.Failed = append(f.info.Failed, FailedPair{e.ID, e.Repeat, e.Fail.Class, e.Fail.Msg})
		}
	}
	f.info.Alarms = watch.alarms()
	f.tell(&watch)
	switch {
	case interrupted:
		f.info.State = StateInterrupted
	case f.info.Counts.Finished < f.info.Counts.Planned:
		f.info.State = StateIncomplete
	default:
		f.info.State = StateComplete
	}
	return f.summary(), f.writeInfo()
}

// Close ends the work on the folder.
func (f *Folder) Close() error {
	var err error
	if f.journal != nil {
		err = f.journal.close()
	}
	return errors.Join(err, filelock.Release(f.lock))
}

func (f *Folder) writeInfo() error {
	return replaceFile(filepath.Join(f.dir, RunFile), func(w io.Writer) error {
		return encodeJSON(w, f.info, "  ")
	})
}

// replaceFile writes a file in one step: under another name, flushed to the
// disk, and renamed. A kill leaves the old file or the new one.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	file, err := os.Create(path + tempSuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	w := bufio.NewWriterSize(file, 1<<16)
	err = write(w)
	err = errors.Join(err, w.Flush())
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
