package predfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/predfile"
)

func TestHammerLogs(t *testing.T) {
	const log = `[
		{"FC_res":[
			{"input":"user:q","predict":"` + "```json\\n{\\\"name\\\": \\\"a.b\\\", \\\"parameters\\\": {\\\"x\\\": \\\"\\\"}}\\n```" + `","label":{"name":"a.b","arguments":{}}},
			{"input":"user:q","predict":"None","label":{"name":"a.b","arguments":{"x":"y"}}},
			{"input":"user:q","predict":null,"label":{"name":"a.b","arguments":{}}}
		]},
		{"FC":[]},
		{"FC_res":[{"predict":"x","label":7},{"predict":"x","label":{"arguments":{}}}]}
	]`
	var got []string
	for s, err := range predfile.HammerLogs(t.Context(), strings.NewReader(log)) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, fmt.Sprintf("%s gold %s%s, predicted %v, %s", s.ID, s.Gold.Name, s.Gold.Arguments, s.Pred, s.Class))
	}
	want := []string{
		`0_0 gold a.b{}, predicted [{a.b {"x":""} }], calls`,
		`0_1 gold a.b{"x":"y"}, predicted [], abstained`,
		`MT_res.json:2: record 0: /FC_res/2/predict: want a value of the kind string, have null`,
		`MT_res.json:7: record 1: /FC_res: want the list of snapshots of a conversation, have nothing`,
		`MT_res.json:8: record 2: /FC_res/0/label: want a value of the kind object, have number`,
		`MT_res.json:8: record 2: /FC_res/1/label: want a call with a name and arguments, have an object with "arguments"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
