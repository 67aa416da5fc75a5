package taxonomy

import (
	"bufio"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-json"

	"assay/qaoa"
)

// realdata returns the path of real files, which stand beside the project.
func realdata(t testing.TB, path ...string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(append([]string{root, "..", "shared", "data"}, path...)...)
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no ../shared/data: %v", err)
		}
		t.Skip("no ../shared/data: put the publishers' files beside the project, under ../shared/data")
	}
	return dir
}

// A labelledTool is a tool of the released tool set and records, with the labels
// that a model of the publishers gave it.
type labelledTool struct {
	Name, Description, Category, Domain string
	InputSchema                         json.RawMessage
}

func (l labelledTool) tool() qaoa.Tool {
	return qaoa.Tool{Name: l.Name, Description: l.Description, Parameters: qaoa.JSON(l.InputSchema)}
}

// released returns the labelled tools of the published excerpts, each once.
func released(t testing.TB) []labelledTool {
	t.Helper()
	dir := realdata(t, "unitoolcall")
	var pool map[string]labelledTool
	decode(t, filepath.Join(dir, "toolset.first15.json"), &pool)
	all := map[string]labelledTool{}
	for _, tool := range pool {
		all[tool.Name+"\n"+tool.Description] = tool
	}
	files, err := filepath.Glob(filepath.Join(dir, "*first1.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var records []struct {
			Tools string `json:"tools"`
		}
		decode(t, file, &records)
		for _, r := range records {
			var list []labelledTool
			if err := json.Unmarshal([]byte(r.Tools), &list); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, tool := range list {
				all[tool.Name+"\n"+tool.Description] = tool
			}
		}
	}
	var out []labelledTool
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[key])
	}
	return out
}

func decode(t testing.TB, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestRealTools compares with the labels of the released tools. These were made
// by a small model and are no truth: it calls "Returns all fixtures of a team"
// and "calculateWallPaint" operations. So the floor is low, and it only says
// that the classifier is far from chance.
func TestRealTools(t *testing.T) {
	a := NewAgreement(LexicalName, "released")
	l := NewLexical()
	for _, tool := range released(t) {
		a.Add(l.Classify(tool.tool()),
			Label{Category: Category(tool.Category), Domain: Domain(tool.Domain)})
	}
	var b strings.Builder
	if err := a.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	t.Log(b.String())
	if a.Category.N != 43 || a.Category.Missing != 0 || a.Domain.N != 43 {
		t.Errorf("%d and %d tools, %d without labels; want 43", a.Category.N, a.Domain.N, a.Category.Missing)
	}
	if a.Category.Share < 0.5 || *a.Category.Kappa < 0.3 || a.Domain.Share < 0.5 || *a.Domain.Kappa < 0.4 {
		t.Errorf("agreement fell: %s; %s", a.Category.summary(), a.Domain.summary())
	}
}

// fieldsOf says which of the first parts of Seal-Tools' fields are one of the
// domains without doubt. The classifier was made without a look at them, but for
// the weight of parameters.
var fieldsOf = map[Domain][]string{
	Healthcare:    {"Healthcare", "Public Health", "Dentistry", "Nursing", "Pharmacy", "Medicine", "Psychiatry", "Pharmaceutical"},
	Technology:    {"Technology", "Cloud Computing", "Information Technology", "Software", "Software Development", "Mobile Development", "Web Development", "Cybersecurity", "Computer Science", "Machine Learning", "Artificial Intelligence", "Hardware", "Internet of Things"},
	Sports:        {"Sports", "Sports Science", "Fitness", "Physical Education"},
	Finance:       {"Finance", "Insurance", "Accounting"},
	Education:     {"Education", "Education Technology"},
	Business:      {"Business", "Business Administration", "Marketing", "Digital Marketing", "Advertising", "Human Resources", "Management", "Customer Service", "Consulting", "Public Relations"},
	Science:       {"Science", "Chemistry", "Biology", "Physics", "Mathematics", "Statistics", "Astronomy", "Genetics", "Biochemistry", "Microbiology", "Geology", "Space Exploration"},
	Entertainment: {"Entertainment", "Gaming", "Music", "Film", "Film Studies", "Media"},
	Environment:   {"Environmental", "Environment", "Environmental Science", "Forestry", "Oceanography"},
	Culture:       {"Art", "Literature", "History", "Religious Studies", "Cultural Studies", "Philosophy", "Anthropology", "Linguistics"},
	Travel:        {"Travel", "Travel and Tourism", "Tourism", "Transportation", "Aviation"},
	Lifestyle:     {"Fashion", "Food and Beverage", "Culinary Arts"},
	Social:        {"Social Media", "Communication", "Communications"},
}

// TestSealToolsFields is the test on tools of the world: 4,076 tools whose
// authors named a field. (The categories do not matter here.)
func TestSealToolsFields(t *testing.T) {
	f, err := os.Open(realdata(t, "raw", "seal-tools", "Seal-Tools_Dataset", "tool.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	domains := map[string]Domain{}
	for d, fields := range fieldsOf {
		for _, field := range fields {
			domains[field] = d
		}
	}
	a := NewAgreement(LexicalName, "fields")
	read, firm, firmRight := 0, 0, 0
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var tool struct {
			Name        string `json:"api_name"`
			Description string `json:"api_description"`
			Field       string `json:"field"`

			Parameters json.RawMessage `json:"parameters"` // by name, not a schema
		}
		if err := json.Unmarshal(sc.Bytes(), &tool); err != nil {
			t.Fatal(err)
		}
		read++
		field, _, _ := strings.Cut(tool.Field, "/")
		d, ok := domains[field]
		if !ok {
			continue
		}
		l := NewLexical().Classify(qaoa.Tool{
			Name: tool.Name, Description: tool.Description,
			Parameters: qaoa.JSON(`{"type":"object","properties":` + string(tool.Parameters) + `}`),
		})
		a.Add(l, Label{Domain: d})
		if l.DomainMargin >= 0.5 {
			firm++
			if l.Domain == d {
				firmRight++
			}
		}
	}
	if err := sc.Err(); err != nil || read != 4076 {
		t.Fatalf("%d tools read, %v; want 4,076", read, err)
	}
	var b strings.Builder
	if err := a.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	t.Logf("margin of at least 0.5: %d of %d right\n%s", firmRight, firm, b.String())
	if a.Domain.Share < 0.6 || *a.Domain.Kappa < 0.55 {
		t.Errorf("agreement fell: %s", a.Domain.summary())
	}
	if float64(firmRight)/float64(firm) < a.Domain.Share {
		t.Errorf("a high margin promises nothing: %d of %d", firmRight, firm)
	}
}
