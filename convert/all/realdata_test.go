package all

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/convert"
	"assay/qaoa"

	"github.com/google/go-cmp/cmp"
)

// realdata returns the folder of raw files of a source, which stands beside
// the project.
func realdata(t testing.TB, folder ...string) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(append([]string{root, "..", "shared", "data", "raw"}, folder...)...)
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put the publishers' files beside the project, each benchmark under ../shared/data/raw")
	}
	return dir
}

// A result is what a source made of files: the records by ID, and the balance.
type result struct {
	recs map[string]qaoa.Record
	sum  convert.Summary
}

// results keeps what was converted, since several tests look at the same.
var results = map[string]result{}

// run converts a path.
func run(t testing.TB, name string, opt convert.Options, path string) (map[string]qaoa.Record, convert.Summary) {
	t.Helper()
	key := fmt.Sprint(name, opt, path)
	r, ok := results[key]
	if !ok {
		r = runAnew(t, name, opt, path)
		results[key] = r
	}
	return r.recs, r.sum
}

func runAnew(t testing.TB, name string, opt convert.Options, path string) result {
	t.Helper()
	src, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	inputs, _, err := convert.Find(src, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	recs := map[string]qaoa.Record{}
	var sum convert.Summary
	for o, err := range convert.Run(t.Context(), src, inputs, convert.RunOptions{Options: opt}) {
		if err != nil {
			t.Fatal(err)
		}
		sum.AddRead(o.Read)
		for _, rec := range o.Records {
			recs[rec.ID] = rec
			meta, err := rec.Meta.Value()
			if err != nil {
				t.Fatal(err)
			}
			category, _ := meta.Get("category")
			sum.AddRecord(rec, category.Text)
		}
		for _, rej := range o.Rejects {
			sum.AddReject(rej)
		}
	}
	if err := sum.Check(); err != nil {
		t.Error(err)
	}
	if len(recs) != sum.Converted {
		t.Errorf("%d records have %d IDs", sum.Converted, len(recs))
	}
	return result{recs, sum}
}

// balance writes a summary as one line: read, converted, calls, turns by hops,
// conversations by turns, rejects by code.
func balance(s convert.Summary) string {
	line := fmt.Sprintf("%d/%d calls %d hops %d+%d+%d turns %d+%d", s.Read, s.Converted, s.Calls,
		s.Turns.SingleHop, s.Turns.MultiHop, s.Turns.NoCall, s.Conversations.SingleTurn, s.Conversations.MultiTurn)
	for _, code := range slices.Sorted(maps.Keys(s.Codes)) {
		line += fmt.Sprintf(" %s:%d", code, s.Codes[code])
	}
	return line
}

// english returns the path of a file in the English half of ACEBench.
func english(category string) []string {
	return []string{"acebench", "data_all", "data_en", "data_" + category + ".json"}
}

func TestRealBalances(t *testing.T) {
	tests := []struct {
		name, source string
		opt          convert.Options
		path         []string
		want         string // hops are single + multi + none, turns single + multi
	}{
		{
			"BFCL as in Table 5", "bfcl",
			convert.Options{},
			[]string{"bfcl"},
			"4441/3065 calls 6800 hops 3457+1234+209 turns 2471+594 empty_turn:200 irrelevant_type:1140 non_english:36",
		},
		{
			"BFCL under the rule L2", "bfcl",
			convert.Options{Language: "l2"},
			[]string{"bfcl"},
			"4441/3066 calls 6801 hops 3458+1234+209 turns 2472+594 empty_turn:200 irrelevant_type:1140 non_english:35",
		},
		{
			"BFCL under the rule of the published script", "bfcl",
			convert.Options{Language: "cjk"},
			[]string{"bfcl"},
			"4441/3071 calls 6806 hops 3463+1234+209 turns 2477+594 empty_turn:200 irrelevant_type:1140 non_english:30",
		},
		{
			"BFCL in every language", "bfcl",
			convert.Options{Language: "off"},
			[]string{"bfcl"},
			"4441/3101 calls 6841 hops 3489+1238+209 turns 2507+594 empty_turn:200 irrelevant_type:1140",
		},
		{
			"BFCL strictly", "bfcl",
			convert.Options{Profile: convert.Strict},
			[]string{"bfcl"},
			"4441/3054 calls 6788 hops 3447+1233+209 turns 2460+594 empty_turn:200 irrelevant_type:1140 missing_required:6 non_english:36 unknown_argument:3 unknown_tool:2",
		},
		{
			"ACEBench as in Table 5", "acebench",
			convert.Options{},
			[]string{"acebench"},
			"250/250 calls 401 hops 150+100+0 turns 250+0",
		},
		{
			"ACEBench strictly", "acebench",
			convert.Options{Profile: convert.Strict},
			[]string{"acebench"},
			"250/200 calls 351 hops 100+100+0 turns 200+0 arguments_not_object:50",
		},
		{
			"a file of ACEBench that the paper leaves out", "acebench",
			convert.Options{},
			english("normal_similar_api"),
			"50/50 calls 50 hops 50+0+46 turns 17+33",
		},
		{
			"steps of one dialogue of ACEBench", "acebench",
			convert.Options{},
			english("normal_multi_turn_user_adjust"),
			"123/123 calls 123 hops 123+0+257 turns 0+123",
		},
		{
			"numbers behind names of tools in ACEBench", "acebench",
			convert.Options{Profile: convert.Strict},
			english("normal_atom_object_deep"),
			"50/50 calls 70 hops 38+12+42 turns 8+42",
		},
		{
			"two golds, and parameters under another key, in ACEBench", "acebench",
			convert.Options{Profile: convert.Strict},
			english("normal_atom_bool"),
			"50/50 calls 50 hops 50+0+20 turns 30+20",
		},
		{
			"a Chinese question in the English half of ACEBench", "acebench",
			convert.Options{},
			english("normal_atom_list"),
			"50/49 calls 49 hops 49+0+22 turns 27+22 non_english:1",
		},
		{
			"states as gold in ACEBench", "acebench",
			convert.Options{},
			english("agent_multi_step"),
			"20/0 calls 0 hops 0+0+0 turns 0+0 invalid_category:20",
		},
		{
			"simulated users in ACEBench", "acebench",
			convert.Options{},
			english("agent_multi_turn"),
			"30/0 calls 0 hops 0+0+0 turns 0+0 needs_user_turns:30",
		},
		{
			"no calls in ACEBench", "acebench",
			convert.Options{},
			english("special_irrelevant"),
			"50/0 calls 0 hops 0+0+0 turns 0+0 irrelevant_type:50",
		},
		{
			"the Chinese half of ACEBench", "acebench",
			convert.Options{},
			[]string{"acebench", "data_all", "data_zh", "data_normal_similar_api.json"},
			"50/0 calls 0 hops 0+0+0 turns 0+0 non_english:50",
		},
		{
			"the Chinese half of ACEBench on demand", "acebench",
			convert.Options{Language: "off"},
			[]string{"acebench", "data_all", "data_zh", "data_normal_similar_api.json"},
			"50/50 calls 50 hops 50+0+39 turns 14+36",
		},
		{
			"Seal-Tools as in Table 5", "seal-tools",
			convert.Options{},
			[]string{"seal-tools"},
			"1354/1354 calls 3732 hops 294+1060+0 turns 1354+0",
		},
		{
			"Seal-Tools strictly", "seal-tools",
			convert.Options{Profile: convert.Strict},
			[]string{"seal-tools"},
			"1354/1353 calls 3729 hops 294+1059+0 turns 1353+0 unresolved_placeholder:1",
		},
		{
			"Seal-Tools in the old form", "seal-tools",
			convert.Options{},
			[]string{"seal-tools", "Seal-Tools_Dataset", "dataset_in_old_format", "test_in_domain.jsonl"},
			"700/700 calls 1795 hops 200+500+0 turns 700+0",
		},
		{
			"slices of HammerBench", "hammerbench",
			convert.Options{},
			[]string{"hammerbench"},
			"600/300 calls 300 hops 300+0+0 turns 300+0 irrelevant_type:300",
		},
		{
			"API-Bank as in Table 5", "api-bank",
			convert.Options{},
			[]string{"api-bank"},
			"50/50 calls 131 hops 0+50+0 turns 50+0",
		},
		{
			"API-Bank strictly", "api-bank",
			convert.Options{Profile: convert.Strict},
			[]string{"api-bank"},
			"50/50 calls 131 hops 0+50+0 turns 50+0",
		},
		{
			"the dialogues of API-Bank as text", "api-bank",
			convert.Options{},
			[]string{"api-bank", "test-data", "level-3-batch-inf-response.json"},
			"50/50 calls 131 hops 0+50+0 turns 50+0",
		},
		{
			"the requests of API-Bank as text", "api-bank",
			convert.Options{},
			[]string{"api-bank", "test-data", "level-3-batch-inf.json"},
			"245/131 calls 131 hops 131+0+0 turns 131+0 irrelevant_type:114",
		},
		{
			"level 1 of API-Bank", "api-bank",
			convert.Options{},
			[]string{"api-bank", "test-data", "level-1-api.json"},
			"399/0 calls 0 hops 0+0+0 turns 0+0 needs_user_turns:399",
		},
		{
			"level 2 of API-Bank", "api-bank",
			convert.Options{},
			[]string{"api-bank", "test-data", "level-2-response.json"},
			"103/0 calls 0 hops 0+0+0 turns 0+0 needs_user_turns:103",
		},
		{
			"ToolAlpaca as in Table 5", "toolalpaca",
			convert.Options{},
			[]string{"toolalpaca"},
			"214/209 calls 290 hops 148+61+0 turns 209+0 bad_args_json:5",
		},
		{
			"ToolAlpaca strictly", "toolalpaca",
			convert.Options{Profile: convert.Strict},
			[]string{"toolalpaca"},
			"214/169 calls 218 hops 136+33+0 turns 169+0 bad_args_json:5 unknown_argument:1 unknown_tool:9 unresolved_placeholder:30",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && tt.source == "bfcl" && (tt.opt.Profile != "" || tt.opt.Language != "") {
				t.Skip("-short: the other rules convert BFCL again")
			}
			_, sum := run(t, tt.source, tt.opt, realdata(t, tt.path...))
			if got := balance(sum); got != tt.want {
				t.Errorf("\nhave %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRealCategories(t *testing.T) {
	_, sum := run(t, "bfcl", convert.Options{}, realdata(t, "bfcl"))
	want := map[string]int{
		"simple": 399, "java": 100, "javascript": 50, "multiple": 199, "parallel": 200, "parallel_multiple": 200,
		"live_simple": 249, "live_multiple": 1032, "live_parallel": 15, "live_parallel_multiple": 21,
		"multi_turn_base": 200, "multi_turn_miss_param": 200, "multi_turn_long_context": 200,
	}
	if diff := cmp.Diff(want, sum.RecordsByCategory); diff != "" {
		t.Errorf("bfcl (-want +got):\n%s", diff)
	}
	_, sum = run(t, "acebench", convert.Options{}, realdata(t, "acebench"))
	want = map[string]int{"normal_single_turn_single_function": 100, "normal_single_turn_parallel_function": 100, "special_incomplete": 50}
	if diff := cmp.Diff(want, sum.RecordsByCategory); diff != "" {
		t.Errorf("acebench (-want +got):\n%s", diff)
	}
}

// TestRealGoldenCalls compares with calls that the authors of the paper
// published for one record of each source.
func TestRealGoldenCalls(t *testing.T) {
	tests := []struct{ source, id, want string }{
		{"bfcl", "bfcl/live_simple_0-0-0", `get_user_info {"user_id":7890,"special":"black"}`},
		{
			"hammerbench", "hammerbench/single-turn_0008_ST-External",
			`Navigation.TrafficViolations.reportAccident {"location":"Changan Street","plate_number":"Beijing C98765"}`,
		},
		{
			"api-bank", "api-bank/test-data/level-3#5",
			`GetWeatherForCoordinates {"latitude":"40.7128","longitude":"74.0060"}; ClothingRecommendation {"temperature":"10","humidity":"0.5","weather_conditions":"Clear"}`,
		},
		{"seal-tools", "seal-tools/test_in_domain-easy-1", `calculateNetIncome {"revenue":0.2907590418481535,"expenses":"40.7"}`},
		{"toolalpaca", "toolalpaca/Nager.Date#0", `PublicHolidayIsTodayPublicHoliday {"countryCode":"CN"}`},
	}
	for _, tt := range tests {
		recs, _ := run(t, tt.source, convert.Options{}, realdata(t, tt.source))
		rec, ok := recs[tt.id]
		if !ok {
			t.Errorf("%s: no such record", tt.id)
			continue
		}
		if got := showCalls(rec); got != tt.want {
			t.Errorf("%s\nhave %s\nwant %s", tt.id, got, tt.want)
		}
	}
	recs, _ := run(t, "acebench", convert.Options{}, realdata(t, "acebench"))
	var names []string
	for _, call := range recs["acebench/normal_single_turn_parallel_function_5"].Turns[0].Calls() {
		names = append(names, call.Name)
	}
	want := []string{"game_console_remote_control_tool", "EntertainmentScheduler_manageEventSales"}
	if !slices.Equal(names, want) {
		t.Errorf("acebench: have calls of %v, want %v", names, want)
	}
}

func showCalls(rec qaoa.Record) string {
	var calls []string
	for _, turn := range rec.Turns {
		for _, call := range turn.Calls() {
			calls = append(calls, call.Name+" "+string(call.Arguments))
		}
	}
	return strings.Join(calls, "; ")
}

// TestRealAPIBankText holds the text that we make of JSON values against the
// publisher's own rendering of the same dialogues.
func TestRealAPIBankText(t *testing.T) {
	dir := realdata(t, "api-bank", "test-data")
	trees, _ := run(t, "api-bank", convert.Options{}, filepath.Join(dir, "level-3.json"))
	texts, _ := run(t, "api-bank", convert.Options{}, filepath.Join(dir, "level-3-batch-inf-response.json"))
	for i := range 50 {
		tree, text := trees[fmt.Sprintf("api-bank/level-3#%d", i)], texts[fmt.Sprintf("api-bank/dialogue-%d", i)]
		if a, b := showCalls(tree), showCalls(text); a != b {
			t.Errorf("dialogue %d\nlevel-3.json                     %s\nlevel-3-batch-inf-response.json  %s", i, a, b)
		}
		if tree.Turns[0].Query != text.Turns[0].Query || tree.Turns[0].Answer != text.Turns[0].Answer {
			t.Errorf("dialogue %d: query or answer differ", i)
		}
		if diff := cmp.Diff(tree.Tools, text.Tools); diff != "" {
			t.Errorf("dialogue %d: tools differ:\n%s", i, diff)
		}
	}
}

// TestRealOldSealTools holds the two forms of Seal-Tools against each other.
func TestRealOldSealTools(t *testing.T) {
	dir := realdata(t, "seal-tools", "Seal-Tools_Dataset")
	for _, name := range []string{"test_in_domain.jsonl", "test_out_domain.jsonl"} {
		now, _ := run(t, "seal-tools", convert.Options{}, filepath.Join(dir, name))
		old, _ := run(t, "seal-tools", convert.Options{}, filepath.Join(dir, "dataset_in_old_format", name))
		count := map[string]int{}
		for _, rec := range now {
			count[rec.Turns[0].Query+showCalls(rec)]++
		}
		for _, rec := range old {
			count[rec.Turns[0].Query+showCalls(rec)]--
		}
		for key, n := range count {
			if n != 0 {
				t.Errorf("%s: %+d of %s", name, n, key)
			}
		}
	}
}

func TestRealSteps(t *testing.T) {
	// A nested call of Seal-Tools begins a step; nothing else does.
	recs, _ := run(t, "seal-tools", convert.Options{}, realdata(t, "seal-tools"))
	nested, unresolved := 0, 0
	for _, rec := range recs {
		if len(rec.Turns[0].Steps) > 1 {
			nested++
		}
		if strings.Contains(string(rec.Meta), "unresolved") {
			unresolved++
		}
	}
	if nested != 56 || unresolved != 1 {
		t.Errorf("seal-tools: %d records with several steps and %d with unresolved placeholders, want 56 and 1", nested, unresolved)
	}
	// References of ToolAlpaca: 43 without quotes and two within.
	recs, _ = run(t, "toolalpaca", convert.Options{}, realdata(t, "toolalpaca"))
	refs, with := 0, 0
	for _, rec := range recs {
		meta, err := rec.Meta.Value()
		if err != nil {
			t.Fatal(err)
		}
		list, _ := meta.Get("unresolved")
		refs += len(list.Items)
		if len(list.Items) > 0 {
			with++
		}
	}
	if refs != 45 || with != 30 {
		t.Errorf("toolalpaca: %d references in %d records, want 45 in 30", refs, with)
	}
	// The one question of BFCL with more gold turns than turns.
	recs, _ = run(t, "bfcl", convert.Options{}, realdata(t, "bfcl"))
	for id, rec := range recs {
		if has := strings.Contains(string(rec.Meta), `"surplus_gold"`); has != (id == "bfcl/multi_turn_base_154") {
			t.Errorf("%s: surplus gold: %v", id, has)
		}
	}
}

func BenchmarkConvertBFCL(b *testing.B) {
	dir := realdata(b, "bfcl")
	src, err := Lookup("bfcl")
	if err != nil {
		b.Fatal(err)
	}
	inputs, _, err := convert.Find(src, []string{dir})
	if err != nil {
		b.Fatal(err)
	}
	var size int64
	for _, name := range inputs[0].Files {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		size += info.Size()
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range convert.Run(b.Context(), src, inputs, convert.RunOptions{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
