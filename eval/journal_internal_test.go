package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"assay/model"
	"assay/qaoa"
)

// A disk is a journal file that fills up, and counts flushes.
type disk struct {
	journalFile
	room    int // bytes that still fit
	syncs   int
	syncErr error
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		k, err := d.journalFile.Write(p[:n])
		return k, errors.Join(err, syscall.ENOSPC)
	}
	return d.journalFile.Write(p)
}

func (d *disk) Sync() error {
	d.syncs++
	return errors.Join(d.syncErr, d.journalFile.Sync())
}

// on returns what opens a journal on the disk.
func (d *disk) on(path string) (journalFile, error) {
	f, err := createJournal(path)
	d.journalFile = f
	return d, err
}

type echo struct{}

func (echo) Chat(_ context.Context, req model.Request) (model.Reply, error) {
	return model.Reply{Text: "It is " + req.Case.Record.ID, Attempts: 1}, nil
}

func talk(n int) []qaoa.Record {
	var recs []qaoa.Record
	for i := range n {
		recs = append(recs, qaoa.Record{ID: fmt.Sprint("r", i), Turns: []qaoa.Turn{{Query: fmt.Sprint("Say ", i)}}})
	}
	return recs
}

func list(recs []qaoa.Record) iter.Seq2[qaoa.Record, error] {
	return func(yield func(qaoa.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func describe(t *testing.T, recs []qaoa.Record) Settings {
	t.Helper()
	survey, err := Look(t.Context(), list(recs), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSettings(Options{}, survey)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Wherever in the journal the disk is full, the run ends with what fitted, and
// goes on to the same predictions when there is room again.
func TestDiskFull(t *testing.T) {
	recs := talk(4)
	set := describe(t, recs)
	whole := t.TempDir()
	f, err := Open(whole, set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Run(t.Context(), echo{}, list(recs), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(whole, PredictionsFile))
	if err != nil {
		t.Fatal(err)
	}
	journal, err := os.ReadFile(filepath.Join(whole, JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	for room := 0; room < len(journal); room += 31 {
		dir := t.TempDir()
		f, err := open(dir, set, (&disk{room: room}).on)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := f.Run(t.Context(), echo{}, list(recs), Options{})
		fitted := bytes.Count(journal[:room], []byte("\n"))
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "run the same command again") || sum.Counts.Finished != fitted {
			t.Fatalf("room for %d bytes: %d finished, %v; want %d and the fault of the disk", room, sum.Counts.Finished, err, fitted)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(dir, PredictionsFile)); err != nil || bytes.Count(data, []byte("\n")) != fitted {
			t.Errorf("room for %d bytes: predictions %q, %v; want %d", room, data, err, fitted)
		}
		f, err = Open(dir, set)
		if err != nil {
			t.Fatal(err)
		}
		if f.Dropped != 0 {
			t.Errorf("room for %d bytes: half a line was left", room)
		}
		if _, err := f.Run(t.Context(), echo{}, list(recs), Options{}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, PredictionsFile)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("room for %d bytes: resumed to %q, %v; want %q", room, got, err, want)
		}
	}
}

// A flush that fails is not passed over: the disk may have lost the line.
func TestFlushFails(t *testing.T) {
	recs := talk(2)
	f, err := open(t.TempDir(), describe(t, recs), (&disk{room: 1 << 20, syncErr: syscall.EIO}).on)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Run(t.Context(), echo{}, list(recs), Options{Sync: SyncAlways}); !errors.Is(err, syscall.EIO) {
		t.Errorf("Run = %v; want the fault of the disk", err)
	}
	if err := f.Close(); !errors.Is(err, syscall.EIO) && err != nil {
		t.Error(err)
	}
}

func TestSyncPolicy(t *testing.T) {
	tests := []struct {
		policy SyncPolicy
		pause  time.Duration // between lines
		want   int           // flushes of 130 lines, the end included
	}{
		{SyncAlways, 0, 130},
		{SyncInterval, 0, 3},
		{SyncInterval, time.Second, 65},
		{SyncNever, time.Second, 1},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.policy, " every ", tt.pause), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &disk{room: 1 << 20}
				j, _, err := openJournal(filepath.Join(t.TempDir(), JournalFile), d.on, nil)
				if err != nil {
					t.Fatal(err)
				}
				j.policy = tt.policy
				for i := range 130 {
					if _, err := j.append(Result{Key: fmt.Sprint(i), Fail: &Failure{Class: model.ClassServer}}); err != nil {
						t.Fatal(err)
					}
					synctest.Wait() // a flush beside the run is done
					time.Sleep(tt.pause)
				}
				if err := j.close(); err != nil {
					t.Fatal(err)
				}
				if d.syncs != tt.want {
					t.Errorf("%d flushes, want %d", d.syncs, tt.want)
				}
			})
		})
	}
	if _, err := ParseSyncPolicy("often"); err == nil || !strings.Contains(err.Error(), "interval, always or never") {
		t.Errorf("ParseSyncPolicy of nonsense: %v", err)
	}
}

// What is no line of ours at the end is kept aside, and a file that does not
// begin as a journal is not touched at all.
func TestForeignBytes(t *testing.T) {
	recs := talk(1)
	set := describe(t, recs)
	dir := t.TempDir()
	f, err := Open(dir, set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Run(t.Context(), echo{}, list(recs), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, JournalFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const torn = "\x00\x00\n\x00 after the machine died"
	if err := os.WriteFile(path, append(bytes.Clone(good), torn...), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err = Open(dir, set)
	if err != nil || f.Dropped != int64(len(torn)) || f.Finished() != 1 {
		t.Fatalf("Open = %+v, %v; want the torn end dropped and the line kept", f, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, CutFile)); err != nil || string(kept) != torn {
		t.Errorf("kept %q, %v; want %q", kept, err, torn)
	}
	later := append([]byte(`{"v":2,"sum":"`), good...)
	if err := os.WriteFile(path, later, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, set); err == nil || !strings.Contains(err.Error(), "want a journal of this program") {
		t.Errorf("Open of a journal of another form: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, later) {
		t.Errorf("it was changed to %q, %v", after, err)
	}
}

func TestLockNamesItsHolder(t *testing.T) {
	dir, set := t.TempDir(), describe(t, talk(1))
	f, err := Open(dir, set)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir, set)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid(), " on ")) {
		t.Errorf("the second Open = %v; want a refusal that names the process", err)
	}
	if err := Remove(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("Remove of a folder in use = %v", err)
	}
	if !Busy(dir) {
		t.Error("Busy = false while it is")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if Busy(dir) {
		t.Error("Busy = true after Close")
	}
}
