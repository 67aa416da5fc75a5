package lexical

import (
	"math"
	"testing"
)

func project(text string, dim int) []float32 {
	row := make([]float32, dim)
	row[0] = 42 // is cleared
	Project(text, row)
	return row
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestProject(t *testing.T) {
	a := project("get_user_email\nGets the e-mail address of a user", 1024)
	near := project("getUserEmails\nReturns the email addresses of users", 1024)
	far := project("plot_histogram\nDraws bars of how often values occur", 1024)
	if l := dot(a, a); math.Abs(l-1) > 1e-6 {
		t.Errorf("length² %v, want 1", l)
	}
	if dot(a, near) < 0.5 || dot(a, far) > 0.25 {
		t.Errorf("similar text %.2f, other text %.2f; want at least 0.5, at most 0.25", dot(a, near), dot(a, far))
	}
	if dot(project("", 8), project("", 8)) != 0 || dot(project("123 …", 8), a[:8]) != 0 {
		t.Error("a text without letters must be zeros")
	}
	Project("no row", nil) // no panic
}

// TestProjectEstimatesTheCosine compares with the sparse vectors themselves.
func TestProjectEstimatesTheCosine(t *testing.T) {
	texts := []string{
		"search hotels in a city by price", "find hotels by city and price range", "delete a calendar event",
		"translate text between languages", "texts translated into other languages", "generate an image from a prompt",
	}
	sparse := func(text string) map[uint64]float64 {
		m := map[uint64]float64{}
		var sum float64
		for _, f := range count(text) {
			m[f.hash] = float64(f.factor) * (1 + math.Log(float64(f.n)))
			sum += m[f.hash] * m[f.hash]
		}
		for h := range m {
			m[h] /= math.Sqrt(sum)
		}
		return m
	}
	for _, x := range texts {
		for _, y := range texts {
			var want float64
			b := sparse(y)
			for h, w := range sparse(x) {
				want += w * b[h]
			}
			if got := dot(project(x, 4096), project(y, 4096)); math.Abs(got-want) > 0.08 {
				t.Errorf("%q, %q: projected %.3f, exact %.3f", x, y, got, want)
			}
		}
	}
}
