package taxonomy

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"assay/qaoa"
)

// A Category is what a tool does.
type Category string

// The categories, in the paper's order.
const (
	Analysis      Category = "analysis"
	Operations    Category = "operations"
	System        Category = "system"
	Visualization Category = "visualization"
	Search        Category = "search"
	Generate      Category = "generate"
)

// A Domain is what a tool is about.
type Domain string

// The domains, in the paper's order.
const (
	Finance       Domain = "finance"
	Technology    Domain = "technology"
	Education     Domain = "education"
	Healthcare    Domain = "healthcare"
	Entertainment Domain = "entertainment"
	Travel        Domain = "travel"
	Business      Domain = "business"
	Lifestyle     Domain = "lifestyle"
	Science       Domain = "science"
	Social        Domain = "social"
	Sports        Domain = "sports"
	Environment   Domain = "environment"
	Culture       Domain = "culture"
)

// Categories returns the categories in the paper's order.
func Categories() []Category {
	return []Category{Analysis, Operations, System, Visualization, Search, Generate}
}

// Domains returns the domains in the paper's order.
func Domains() []Domain {
	return []Domain{
		Finance, Technology, Education, Healthcare, Entertainment, Travel, Business,
		Lifestyle, Science, Social, Sports, Environment, Culture,
	}
}

// Definition returns one sentence on what belongs to c, "" if c is no category.
func (c Category) Definition() string { return classes()["category"][string(c)].definition }

// Definition returns one sentence on what belongs to d, "" if d is no domain.
func (d Domain) Definition() string { return classes()["domain"][string(d)].definition }

// ParseCategory returns the category that text names, whatever its case and the
// blanks around it. "visualisation" is one, and so is "operation": what models
// write when they mean it.
func ParseCategory(text string) (Category, error) {
	name := strings.ToLower(strings.TrimSpace(text))
	switch name {
	case "visualisation":
		return Visualization, nil
	case "operation":
		return Operations, nil
	case "generation":
		return Generate, nil
	}
	return parse(name, Categories(), "category")
}

// ParseDomain returns the domain that text names, whatever its case and the
// blanks around it. "sport" is one: the published prompt writes both.
func ParseDomain(text string) (Domain, error) {
	name := strings.ToLower(strings.TrimSpace(text))
	if name == "sport" {
		return Sports, nil
	}
	return parse(name, Domains(), "domain")
}

func parse[T ~string](name string, all []T, kind string) (T, error) {
	names := make([]string, len(all))
	for i, x := range all {
		if name == string(x) {
			return x, nil
		}
		names[i] = string(x)
	}
	return "", fmt.Errorf("%s: want one of %s, have %.40q", kind, strings.Join(names, ", "), name)
}

// A Label is what a classifier says of one tool.
type Label struct {
	Category Category // "" if the classifier gave none
	Domain   Domain   // "" if the classifier gave none
	// By is who made the label: "lexical/1", "ollama/qwen3:8b".
	By string
	// CategoryScore and DomainScore are the classifier's confidence in [0,1],
	// CategoryMargin and DomainMargin how far the second best is behind. All
	// are 0 if the classifier has no such numbers.
	CategoryScore, CategoryMargin float64
	DomainScore, DomainMargin     float64
	// Reason says why there is no label, "" if there is one.
	Reason string
}

// Complete reports whether there is a category and a domain.
func (l Label) Complete() bool { return l.Category != "" && l.Domain != "" }

// Apply returns t with the label, where it has one.
func (l Label) Apply(t qaoa.Tool) qaoa.Tool {
	if l.Category != "" {
		t.Category = string(l.Category)
	}
	if l.Domain != "" {
		t.Domain = string(l.Domain)
	}
	return t
}

//go:embed classes.tsv
var classesTSV string

//go:embed examples.tsv
var examplesTSV string

// A class is a line of classes.tsv.
type class struct{ definition, cues string }

// classes returns the classes by kind and name.
var classes = sync.OnceValue(func() map[string]map[string]class {
	out := map[string]map[string]class{"category": {}, "domain": {}}
	for f := range rows(classesTSV) {
		out[f[0]][f[1]] = class{f[2], f[3]}
	}
	return out
})

// rows yields the fields of the lines of a table of four columns.
func rows(table string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(table) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if strings.HasPrefix(line, "#") || len(fields) != 4 {
				continue
			}
			if !yield(fields) {
				return
			}
		}
	}
}

// An Example is a tool of the package's own with its labels.
type Example struct {
	Category Category
	Domain   Domain
	Tool     qaoa.Tool
}

// Examples returns the labelled tools that [Lexical] learns from: 5 for each
// pair of a category and a domain. They were written for this package.
func Examples() []Example {
	var out []Example
	for f := range rows(examplesTSV) {
		out = append(out, Example{Category(f[0]), Domain(f[1]), qaoa.Tool{Name: f[2], Description: f[3]}})
	}
	return out
}
