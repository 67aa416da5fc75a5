//go:build unix

package convert_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"assay/convert"
)

// A path that is no regular file is written to, and is still there afterwards:
// -o /dev/null must not replace the device.
func TestOutputLeavesSpecialFilesAlone(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		f, err := os.Open(pipe)
		if err != nil {
			got <- err.Error()
			return
		}
		data, _ := io.ReadAll(f)
		_ = f.Close()
		got <- string(data)
	}()
	o, err := convert.NewOutput(pipe)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "text" || !convert.Special(pipe) {
		t.Errorf("the pipe got %q, and is special: %v; want \"text\", true", text, convert.Special(pipe))
	}
	if before, err := os.Stat(os.DevNull); err != nil || before.Mode().IsRegular() {
		t.Fatalf("%s is no device: %v", os.DevNull, err)
	}
	o, err = convert.NewOutput(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	o.Abort()
	if !convert.Special(os.DevNull) {
		t.Errorf("%s is gone", os.DevNull)
	}
}
