package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/benchdata/paper"
)

func csvTable(t testing.TB, name, text string) Table {
	t.Helper()
	table, err := ReadCSV(strings.NewReader(text), name)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// short writes a finding as "severity rule row column".
func short(f Finding) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s", f.Severity, f.Rule, f.Table, f.Row, f.Column)), " ")
}

func findings(t testing.TB, tables []Table, rules string) []string {
	t.Helper()
	parsed, err := ParseRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Check(tables, parsed)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range rep.Findings {
		if f.Message == "" || f.Found == "" || f.Wanted == "" {
			t.Errorf("a finding that does not say what was found and wanted: %+v", f)
		}
		out = append(out, short(f))
	}
	return out
}

func TestRules(t *testing.T) {
	for _, row := range []struct {
		name, table, rules string
		want               []string
	}{
		{"a sound table", "model,SP_SH,FP_SH\na,10,20\nb,30,40\n", DefaultRules, nil},
		{"percent above 100", "m,SP\na,101\nb,-1\nc,5", "range 0 100", []string{"contradiction range t a SP", "contradiction range t b SP"}},
		{"of some columns only", "m,SP,count\na,50,101\n", "range 0 100 sp", nil},
		{"SP above FP in one cell", "m,SP SH,FP SH,SP MH,FP MH\na,5.0,5.0,7.0,6.9\n", "order SP <= FP", []string{"contradiction order t a SP MH"}},
		{"a chain of orders", "m,SPA,FPA,FP\na,3,2,1\n", "order SPA <= FPA <= FP", []string{"contradiction order t a SPA", "contradiction order t a FPA"}},
		{"gains are no scores", "kind,m,SP_SH,FP_SH\nx,a,5,6\ngain,d,9,2\n", "order SP <= FP", nil},
		{"rounding is no contradiction", "m,SP_A,FP_A\na,5.04,5.0\n", "order SP <= FP", nil},
		{"8.3 is 3 of 36", "m,SP\na,8.3\nb,0.0", "possible 36 SP", []string{"note possible t SP"}},
		{"8.4 is not", "m,SP\na,8.4\nb,0.0", "possible 36 SP", []string{"contradiction possible t a SP"}},
		{"half is rounded up or down", "m,SP\na,12.5\nb,6.2\nc,6.3", "possible 16 SP", []string{"note possible t SP"}},
		{"of some rows only", "m,SP\na,33.3\nb,50.0", "possible 3 SP rows a", []string{"note possible t SP"}},
		{"a gain that is right", "m,SP\na,5.1\nb,3.0\ng,2.1", "gain g = a - b", nil},
		{"a gain that is wrong", "m,SP\na,5.1\nb,3.0\ng,2.4", "gain g = a - b", []string{"contradiction gain t g SP"}},
		{"a gain of exact scores", "m,SP\na,5.1\nb,3.0\ng,2.2", "gain g = a - b", nil},
		{"a total that is right", "part,m,n\nx,a,5\nx,b,6\ny,c,1\nall,t,11", "sum t = x", nil},
		{"a total that is wrong", "part,m,n\nx,a,5\nx,b,6\ny,c,1\nall,t,12", "sum t = x", []string{"contradiction sum t t n"}},
		{"a claimed maximum", "m,SP\na,5\nb,7", "max 6 SP", []string{"contradiction max t b SP"}},
		{"two metrics alike in one row", "m,X_A,Y_A,X_B,Y_B\na,1,1,2,2\nb,1,3,2,4\nc,2,5,3,6", "twins", []string{"contradiction twins t a X and Y"}},
		{"alike in two rows is a coincidence of kind", "m,X_A,Y_A,X_B,Y_B\na,1,1,2,2\nb,3,3,4,4\nc,2,5,3,6", "twins", nil},
		{"mean and SD twice", "m,X,Y\na,39.1 ± 2.4,39.1±2.4\nb,1.0 ± 0.1,2.0 ± 0.1", "twins", []string{"contradiction twins t a X and Y"}},
		{"a column twice", "m,X,Y\na,1,1\nb,2,2", "identical", []string{"oddity identical t X and Y"}},
		{"constant columns are not copies", "m,X,Y\na,0,0\nb,0,0", "identical", nil},
		{"a floor", "m,X\na,0\nb,0\nc,8.3", "extremes", []string{"note extremes t X"}},
		{"no floor of two", "m,X\na,0\nb,1", "extremes", nil},
		{"an SD over nothing", "m,X\na,5.0 ± 1.0\n", "untrained a", []string{"oddity untrained t a"}},
		{"comments and blank lines", "m,X\na,500", "# range 0 100\n\n", nil},
		{"a quoted name", "m,SP\n\"a b\",5.1\nb,3.0\ng,9.9", `gain g = "a b" - b`, []string{"contradiction gain t g SP"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := findings(t, []Table{csvTable(t, "t", row.table)}, row.rules)
			if !slices.Equal(got, append([]string{}, row.want...)) {
				t.Errorf("findings %q, want %q", got, row.want)
			}
		})
	}
}

func TestRulesOverSeveralTables(t *testing.T) {
	one := csvTable(t, "one", "m,SP SH,FP SH\na,10.0,20.0\nb,50.0,60.0")
	three := csvTable(t, "three", "m,SP SH,FP SH\na,10.5 ± 1.0,10.2 ± 0.5\nB,49.0 ± 1.0,50.3 ± 0.5")
	got := findings(t, []Table{one, three}, "alias b = B; repeats three of one 3")
	if !slices.Equal(got, []string{"contradiction repeats three FP SH"}) {
		t.Errorf("findings %q", got)
	}
	x, y := csvTable(t, "x", "m,S\na,10.00\nb,20.00"), csvTable(t, "y", "m,S\na,20.00\nb,50.00")
	for _, row := range []struct {
		all, rules string
		want       []string
	}{
		{"m,S\na,15.00\nb,35.00", "mean all = x + y", []string{}},
		{"m,S\na,15.01\nb,35.02", "mean all = x + y", []string{"contradiction mean all b S"}},
		{"m,S\na,17.50\nb,42.50", "mean all = x*1 + y*3", []string{}},
		{"m,S\na,17.50\nb,42.50", "mean all = x*3 + y*1 in S", []string{"contradiction mean all a S", "contradiction mean all b S"}},
		{"m,S\na,17.50\nb,42.50", "mean all = x*1 + y*3; mean y = y + y", []string{"oddity mean all"}},
		{"m,S\na,1\nb,2", "spearman 1.0 x.S all.S 2", []string{}},
		{"m,S\na,2\nb,1", "spearman 1.0 x.S all.S 3", []string{"contradiction spearman x x.S and all.S", "oddity spearman x x.S and all.S"}},
	} {
		if got := findings(t, []Table{csvTable(t, "all", row.all), x, y}, row.rules); !slices.Equal(got, row.want) {
			t.Errorf("%s: findings %q, want %q", row.rules, got, row.want)
		}
	}
}

func TestBadRulesAndTablesAreTold(t *testing.T) {
	for rules, want := range map[string]string{
		"rnage 0 100":            `no rule is named "rnage"`,
		"range 0":                "2 words",
		"range 0 NaN":            `want a number, have "NaN"`,
		"order SP < FP":          `want "<=" after "SP"`,
		"possible 3.5 SP":        "want a whole number",
		"possible 3 SP at x":     `want in or rows after "SP"`,
		`untrained "a`:           "closing quote",
		"range 0 100\nmax two X": `rule 2: "max two X"`,
	} {
		if _, err := ParseRules(rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", rules, err, want)
		}
	}
	table := csvTable(t, "t", "m,SP\na,1\na,2\nb,3")
	for rules, want := range map[string]string{
		"possible 36 FP":          `no table has a column "FP"`,
		"range 0 100 FP":          "no column has the words",
		"gain g = a - b":          `no table has one row "g"`,
		"gain b = a - b":          `several rows "a"`,
		"repeats t of u 3":        `no table is named "u": want one of t`,
		"repeats t of t 1":        "no SD",
		"repeats t of t 3":        "no row and column in common",
		"mean t = t * t":          "want",
		"mean t = t*0 + t*1":      "want a number above 0",
		"alike SP FP":             `no table has columns "SP" and "FP"`,
		"untrained z":             `no table has a row "z"`,
		"sum b = q":               `no row with the label "q"`,
		"spearman 0.5 t.SP t.X 3": `no column "X"`,
	} {
		parsed, err := ParseRules(rules)
		if err == nil {
			_, err = Check([]Table{table}, parsed)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", rules, err, want)
		}
	}
	for text, want := range map[string]string{
		"":             "0 lines",
		"a,b\n":        "1 lines",
		"a,b\nx,y\n":   "no column holds numbers only",
		"a,b\nx\n":     "want CSV",
		"m,X\na,1e5\n": "no column holds numbers only",
	} {
		if _, err := ReadCSV(strings.NewReader(text), "t"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestValuesAsPeoplePrintThem(t *testing.T) {
	table := csvTable(t, "t", "m,a,b,c,d,e,f\nx,92.9,92.90%,+1.0,−2.5,67.7 ± 1.3,n/a\n")
	var got []string
	for _, v := range table.Rows[0].Values {
		got = append(got, v.String())
	}
	// A column with nothing but n/a holds no numbers.
	if want := []string{"92.9", "92.90", "1.0", "-2.5", "67.7 ± 1.3"}; !slices.Equal(got, want) || len(table.Columns) != 5 {
		t.Errorf("values %q of columns %q, want %q", got, table.Columns, want)
	}
}

// What is wrong in the paper's own tables is found, and nothing else.
func TestThePapersOwnTables(t *testing.T) {
	held, rules := paper.Audited()
	var tables []Table
	for _, name := range []string{"table1", "table5", "table6", "table7"} {
		tables = append(tables, csvTable(t, name, held[name]))
	}
	got := findings(t, tables, rules)
	want := []string{
		// 39.1 stands under FPA, and 22.9, an SP, under FP.
		"contradiction order table6 Qwen3-8B (Vanilla) MH FPA",
		"contradiction twins table1 Qwen3-8B (Vanilla) SPA and FPA",
		"contradiction twins table6 Qwen3-8B (Vanilla) SH SPA and MH FPA",
		"contradiction repeats table6 MH FP",
		"contradiction repeats table6 SH SPA",
		"contradiction sum table5 Total (Test) filtered",
		"oddity identical table1 SP_SH and FP_SH",
		"oddity untrained table6 Qwen3-8B (Vanilla)",
		"oddity untrained table7 Qwen3-8B (Vanilla)",
		"note extremes table1 SP_MT",
		"note possible table1 SP_MT",
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What may be one thing under two names is asked about, and nothing else.
func TestNamesThatMayBeOne(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want bool
	}{
		{"Gemini-3.1-Flash", "Gemini-3.1-Flash-Lite", true},
		{"Gemini-3.1-Flash", "Gemini-3-Flash", true},
		{"Gemini-3.1-Flash-Lite", "Gemini-3-Flash", false}, // two things differ
		{"Mistral-v0.3-7b-instruct", "Mistral-7B", true},
		{"Llama-3.2-3b-instruct", "Llama-3.2-3B", true},
		{"GPT 5.4", "gpt-5.4", true},
		{"Qwen3-8B", "Qwen-3-8b", true},
		{"Qwen3", "Qwen3-8B", true},
		{"Qwen3-8B", "Qwen3-32B", false},
		{"Llama-3.1-8B", "Llama-3.2-3B", false},
		{"Llama-3.1-8B", "Llama-3.2-8B", false},
		{"Llama-3-8B", "Llama-30-8B", false},
		{"GPT-5.4", "Claude-5.4", false},
		{"Claude-Sonnet-4.5", "Claude-Opus-4.5", false},
		{"7B", "8B", false},
		{"v2", "v3", false},
		{"...", "...", false},
	} {
		for _, names := range [][2]string{{row.a, row.b}, {row.b, row.a}} {
			if got := likeModels(parseModel(names[0]), parseModel(names[1])); (got != "") != row.want {
				t.Errorf("%q and %q: %q, want alike = %v", names[0], names[1], got, row.want)
			}
		}
	}
	for _, row := range []struct {
		a, b string
		want bool
	}{
		{"Hit Ratio", "Hit Ratio @All", true},
		{"Parameter Accuracy", "PA", true},
		{"Parameter Accuracy", "P_acc", true},
		{"P_acc", "PA", true},
		{"parameter_accuracy", "parameter_appropriateness", true},
		{"Tool F1", "ToolF1", true},
		{"SP_SH", "SH SP", false}, // one heading
		{"SP_SH", "SP_ST", false},
		{"SP_SH", "SPA_SH", false},
		{"SP", "SPA", false},
		{"hit_ratio", "efficiency", false},
		{"L2_calls", "L3_calls", false},
		{"Recall @10", "Recall @20", false},
		{"", "SP", false},
	} {
		for _, names := range [][2]string{{row.a, row.b}, {row.b, row.a}} {
			if got := likeHeadings(names[0], names[1]); (got != "") != row.want {
				t.Errorf("%q and %q: %q, want alike = %v", names[0], names[1], got, row.want)
			}
		}
	}
}

func TestAliasesAcrossTables(t *testing.T) {
	one := csvTable(t, "one", "m,PA\nA-1.0,10\nB-Flash,20")
	two := csvTable(t, "two", "m,P_acc\nA-1.0,11\nB-Flash-Lite,21")
	for _, row := range []struct {
		name, rules string
		tables      []Table
		want        []string
	}{
		{"two names each", "aliases", []Table{one, two}, []string{"oddity aliases one B-Flash and B-Flash-Lite", "oddity aliases one PA and P_acc"}},
		{"an alias that is told", `alias B-Flash = B-Flash-Lite; aliases`, []Table{one, two}, []string{"oddity aliases one PA and P_acc"}},
		{"a table that holds both has two", "aliases", []Table{one, csvTable(t, "two", "m,PA\nA-1.0,11\nB-Flash-Lite,21\nB-Flash,5")}, []string{}},
		{"tables about other things", "aliases", []Table{one, csvTable(t, "two", "m,P_acc\nC,11\nB-Flash-Lite,21")}, []string{}},
		{"one table", "aliases", []Table{two}, []string{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := findings(t, row.tables, row.rules); !slices.Equal(got, row.want) {
				t.Errorf("findings %q, want %q", got, row.want)
			}
		})
	}
}

// Names of many tables stay a list that can be read, and one that is read in
// its time: relations of tables are only looked at where names are alike.
func TestManyNamesAreNotAllListed(t *testing.T) {
	var tables []Table
	for i := range 200 {
		name := fmt.Sprintf("t%03d", i)
		tables = append(tables, csvTable(t, name, fmt.Sprintf("m,SP\ncommon,1.0\nfamily%s,2.0", strings.Repeat("-it", i+1))))
	}
	got := findings(t, tables, "aliases")
	if want := "note aliases t000"; len(got) != mostPairs+1 || got[mostPairs] != want {
		t.Errorf("%d findings, the last is %q, want %d pairs and %q", len(got), got[len(got)-1], mostPairs, want)
	}
	var rows strings.Builder
	for i := range mostNames {
		fmt.Fprintf(&rows, "row-%d-x%d,1.0\n", i, i)
	}
	big := csvTable(t, "big", "m,SP\ncommon,1.0\n"+rows.String())
	if got := findings(t, append(tables[:2:2], big), "aliases"); !slices.Equal(got, []string{"note aliases t000"}) {
		t.Errorf("too many names: %q, want one note", got)
	}
}

func TestMetricsAlikeInOneTableOnly(t *testing.T) {
	one := csvTable(t, "one", "m,R,S\na,85.7,85.7\nb,92.9,92.9\nc,50.0,40.0\nd,100,100")
	for _, row := range []struct {
		name, other string
		want        []string
	}{
		{"equal here and apart there", "m,R,S\na,100,94.5\nb,98.6,96.6\nc,50.0,40.0", []string{"oddity alike one R and S"}},
		{"equal in both", "m,R,S\na,70.1,70.1\nb,60.2,60.2\nc,50.0,40.0", []string{}},
		{"one row may be chance", "m,R,S\na,100,94.5\nb,60.2,60.2", []string{}},
		{"a ceiling is no coincidence", "m,R,S\nd,50.0,60.0\ne,1,2", []string{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := findings(t, []Table{one, csvTable(t, "two", row.other)}, "alike R S"); !slices.Equal(got, row.want) {
				t.Errorf("findings %q, want %q", got, row.want)
			}
		})
	}
}

// The tables of another paper, whose numbers are not held here.
func recToolBench(t *testing.T) []Table {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", "rec", "paper_tables", "rectoolbench_tables.json")
	f, err := os.Open(path)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("%v: want the printed tables of the RecToolBench paper there, as {table: {model: {column: number}}}", err)
	}
	defer f.Close()
	tables, err := ReadJSON(f, "rectoolbench")
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func TestNamesOfRecToolBench(t *testing.T) {
	got := findings(t, recToolBench(t), "aliases")
	want := []string{
		"oddity aliases table11_L1_amazon Gemma-3-4b-instruct and Gemma-3-4B",
		"oddity aliases table11_L1_amazon Llama-3.1-8b-instruct and Llama-3.1-8B",
		"oddity aliases table11_L1_amazon Llama-3.2-3b-instruct and Llama-3.2-3B",
		"oddity aliases table11_L1_amazon Mistral-v0.3-7b-instruct and Mistral-7B",
		"oddity aliases table11_L1_amazon Qwen-2.5-3b-instruct and Qwen-2.5-3B",
		"oddity aliases table11_L1_amazon Qwen-2.5-7b-instruct and Qwen-2.5-7B",
		"oddity aliases table14_L1_all Gemini-3.1-Flash and Gemini-3.1-Flash-Lite",
		"oddity aliases table14_L1_all Gemini-3.1-Flash and Gemini-3-Flash",
		"oddity aliases table11_L1_amazon parameter_accuracy and parameter_appropriateness",
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTablesOfRecToolBench(t *testing.T) {
	tables := recToolBench(t)
	rules, err := os.ReadFile("testdata/rectoolbench.rules")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range findings(t, tables, string(rules)) {
		if !strings.HasPrefix(line, "note") {
			got = append(got, line)
		}
	}
	want := []string{
		"contradiction mean table14_L1_all Mistral-v0.3-7b-instruct execution_success",
		"contradiction mean table14_L1_all Gemma-3-4b-instruct schema_compliance",
		"contradiction mean table14_L1_all Gemma-3-4b-instruct tool_selection_accuracy",
		"contradiction possible table3_L2_all Claude-Sonnet-4.5 hit_ratio",
		"contradiction possible table3_L2_all GPT-5.4 hit_ratio",
		"contradiction possible table3_L2_all Gemini-3.1-Flash hit_ratio",
		"contradiction possible table4_L3 Claude-Sonnet-4.5 hit_ratio",
		"contradiction possible table4_L3 GPT-5.4 hit_ratio",
		"contradiction possible table4_L3 Gemini-3.1-Flash-Lite hit_ratio",
		"contradiction possible table14_L1_all Claude-Sonnet-4.5 schema_compliance",
		"contradiction possible table14_L1_all GPT-5.4 schema_compliance",
		"contradiction spearman table15_L2_amazon table15_L2_amazon.parameter_accuracy and table3_L2_all.parameter_appropriateness",
		"oddity spearman table15_L2_amazon table15_L2_amazon.parameter_accuracy and table3_L2_all.parameter_appropriateness",
		"oddity alike table14_L1_all schema_compliance and execution_success",
		"oddity mean table3_L2_all",
	}
	if !slices.Equal(got, want) {
		t.Errorf("findings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func FuzzAudit(f *testing.F) {
	f.Add("m,SP_SH,FP_SH\na,1,2 ± 1\nb,n/a,3", "order SP <= FP; twins; identical; extremes; aliases; alike SP_SH FP_SH; possible 3 SP_SH; repeats t of t 3; spearman 0.5 t.SP_SH t.FP_SH 2")
	f.Add("m,X\na,1", `mean t = t*2 + t*3 in X; sum a = a; gain a = a - a; untrained a; alias "a" = b; max 3 X`)
	f.Fuzz(func(t *testing.T, table, rules string) {
		parsed, err := ParseRules(rules)
		if err != nil {
			return
		}
		read, err := ReadCSV(strings.NewReader(table), "t")
		if err != nil {
			return
		}
		if len(read.Columns)*len(read.Rows) > 200 || len(parsed) > 20 {
			return
		}
		other := read
		other.Name, other.Rows = "u", read.Rows[1:]
		rep, err := Check([]Table{read, other}, parsed)
		for _, finding := range rep.Findings {
			if err == nil && finding.Message == "" {
				t.Errorf("a finding without a message: %+v", finding)
			}
		}
	})
}
