package filelock

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Take(path)
	if err != nil {
		t.Fatal(err)
	}
	if !Held(path) {
		t.Error("Held = false while it is")
	}
	if second, err := Take(path); !errors.Is(err, ErrLocked) || second != nil {
		t.Errorf("the second Take = %v, %v; want ErrLocked", second, err)
	}
	if err := Release(first); err != nil {
		t.Fatal(err)
	}
	if Held(path) || Held(filepath.Join(path, "no")) {
		t.Error("Held = true after Release, or for no file")
	}
	third, err := Take(path)
	if err != nil {
		t.Fatalf("after Release: %v", err)
	}
	if err := Release(third); err != nil {
		t.Error(err)
	}
	if _, err := Take(filepath.Join(path, "no", "folder")); err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("in no folder: %v, want an error that is not ErrLocked", err)
	}
}
