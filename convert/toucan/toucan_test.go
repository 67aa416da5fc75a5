package toucan

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/convert"
	"assay/convert/converttest"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
)

func TestFixtures(t *testing.T) { converttest.Run(t, Source, "testdata/toucan") }

// The fast way of reading messages makes what the tree makes.
func TestPlainMessagesAgreeWithTheTree(t *testing.T) {
	files, err := filepath.Glob("testdata/toucan/raw/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	plain := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			v, err := qaoa.ParseValue(strings.TrimSpace(line))
			if err != nil {
				continue
			}
			messages, _ := v.Get("messages")
			if messages.Kind != qaoa.String {
				continue
			}
			var tree convert.Chat
			treeRej := tree.AddAll(messages, "/messages")
			chat, rej := readMessages(messages.Text)
			if !cmp.Equal(rej, treeRej) {
				t.Errorf("%s: rejects %v and %v", messages.Text, rej, treeRej)
			}
			if rej != nil {
				continue
			}
			var a, b qaoa.Record
			if ra, rb := chat.Finish(&a, ""), tree.Finish(&b, ""); !cmp.Equal(ra, rb) || !cmp.Equal(a, b) {
				t.Errorf("%s: %v %v\n%s", messages.Text, ra, rb, cmp.Diff(a, b))
			}
			if qaoa.EachItem(messages.Text, func(item string) bool { return plainMessage(new(convert.Chat), item) }) {
				plain++
			}
		}
	}
	if plain < 5 {
		t.Errorf("only %d conversations are read the fast way", plain)
	}
}
