package dedup_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"assay/dedup"
	"assay/qaoa"
)

func TestNormalize(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"case and punctuation", "  What's the Weather, in OSLO?! ", "whats the weather in oslo"},
		{"a typographic apostrophe", "don’t", "dont"},
		{"digits are words", "flight BA-117 at 10:30", "flight ba 117 at 10 30"},
		{"underscores separate", "get_user", "get user"},
		{"compatibility forms", "ＡＢＣ ﬁne", "abc fine"},
		{"a composed and a split letter", "e\u0301t\u00e9", "été"},
		{"a word a character in Han", "天气ok吗", "天 气 ok 吗"},
		{"kana", "こんに", "こ ん に"},
		{"soft hyphens vanish", "co\u00adop", "coop"},
		{"an apostrophe before an accent", "a'\u0300", "à"},
		{"a letter that is composed only when small", "H\u0331", "\u1e96"},
		{"nothing but marks", "?! …", ""},
		{"bytes that are no text", "a\xffb", "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := dedup.Normalize(tt.in); got != tt.want {
				t.Errorf("Normalize(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func genText() *rapid.Generator[string] {
	word := rapid.OneOf(rapid.SampledFrom([]string{"Weather", "in", "OSLO", "it's", "’", "天气", "Straße", "İ", "ﬃ", "\xff", "½", "—", "Å", "x-1"}), rapid.String())
	return rapid.Map(rapid.SliceOfN(word, 0, 12), func(w []string) string { return strings.Join(w, " ") })
}

// Letters, each capital with every common mark, also behind an apostrophe: a
// second time nothing changes.
func TestNormalizeOfEveryCharacter(t *testing.T) {
	marks := []string{"", "'\u0300", "’\u0323\u0301"}
	for m := rune(0x300); m < 0x370; m++ {
		marks = append(marks, string(m))
	}
	for r := rune(0x80); r < 0x20000; r++ {
		if unicode.In(r, unicode.Han, unicode.Hangul) || !unicode.IsLetter(r) && !unicode.IsMark(r) {
			continue
		}
		with := marks
		if r > 0x250 && unicode.ToLower(r) == r {
			with = marks[:3]
		}
		for _, m := range with {
			n := dedup.Normalize(string(r) + m)
			if again := dedup.Normalize(n); again != n {
				t.Fatalf("Normalize(%+q) = %+q, and of that %+q", string(r)+m, n, again)
			}
		}
	}
}

// The hashes of words say the same as the normalised text: two ways to one end.
func TestWordsAndNormalizeAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := genText().Draw(t, "text")
		n := dedup.Normalize(text)
		if again := dedup.Normalize(n); again != n {
			t.Fatalf("Normalize(%q) = %q, and of that %q", text, n, again)
		}
		words := dedup.AppendWords(nil, text)
		fields := strings.Fields(n)
		if len(words) != len(fields) {
			t.Fatalf("%q has %d hashes, its words are %q", text, len(words), fields)
		}
		for i, f := range fields {
			if one := dedup.AppendWords(nil, f); len(one) != 1 || one[0] != words[i] {
				t.Fatalf("word %d of %q: %q hashes to %x, in the text to %x", i, text, f, one, words[i])
			}
		}
	})
}

func FuzzNormalize(f *testing.F) {
	f.Add("What's up, Ｄoc? 天气\u0301 İ")
	f.Fuzz(func(t *testing.T, text string) {
		n := dedup.Normalize(text)
		if again := dedup.Normalize(n); again != n {
			t.Fatalf("Normalize(%q) = %q, and of that %q", text, n, again)
		}
		if words := dedup.AppendWords(nil, text); len(words) != len(strings.Fields(n)) {
			t.Fatalf("%d hashes of %q", len(words), n)
		}
	})
}

// Rolling is only a way to hash each window by itself.
func TestGrams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.Uint64Range(0, 5), 0, 30).Draw(t, "words")
		n := rapid.IntRange(1, 14).Draw(t, "n")
		grams := dedup.AppendGrams(nil, words, n)
		if want := max(0, len(words)-n+1); len(grams) != want {
			t.Fatalf("%d grams of %d words out of %d, want %d", len(grams), n, len(words), want)
		}
		for i, g := range grams {
			if one := dedup.AppendGrams(nil, words[i:i+n], n); one[0] != g {
				t.Fatalf("gram %d is %x, alone %x", i, g, one[0])
			}
		}
	})
	defer func() {
		if recover() == nil {
			t.Error("AppendGrams of no words did not panic")
		}
	}()
	dedup.AppendGrams(nil, nil, 0)
}

func record(query, name, args string) qaoa.Record {
	return qaoa.Record{Turns: []qaoa.Turn{{Query: query, Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: name, Arguments: qaoa.JSON(args)}}}}}}}
}

func TestRecordKey(t *testing.T) {
	base := record("Weather in Oslo?", "weather", `{"city":"Oslo","days":1}`)
	two := base
	two.Turns = []qaoa.Turn{{Query: base.Turns[0].Query, Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "a"}, {Name: "b"}}}}}}
	owt := base
	owt.Turns = []qaoa.Turn{{Query: base.Turns[0].Query, Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "b"}, {Name: "a"}}}}}}
	serial := base
	serial.Turns = []qaoa.Turn{{Query: base.Turns[0].Query, Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "a"}}}, {Calls: []qaoa.Call{{Name: "b"}}}}}}
	tests := []struct {
		name string
		a, b qaoa.Record
		same bool
	}{
		{"case and punctuation of the query", base, record("weather, in OSLO", "weather", `{"city":"Oslo","days":1}`), true},
		{"order of arguments", base, record("Weather in Oslo?", "weather", `{"days":1,"city":"Oslo"}`), true},
		{"writing of numbers", base, record("Weather in Oslo?", "weather", `{"city":"Oslo","days":1.0}`), true},
		{"another number", base, record("Weather in Oslo?", "weather", `{"city":"Oslo","days":10}`), false},
		{"a number as a text", base, record("Weather in Oslo?", "weather", `{"city":"Oslo","days":"1"}`), false},
		{"case of an argument", base, record("Weather in Oslo?", "weather", `{"city":"oslo","days":1}`), false},
		{"another name", base, record("Weather in Oslo?", "get_weather", `{"city":"Oslo","days":1}`), false},
		{"another query", base, record("Weather at Oslo?", "weather", `{"city":"Oslo","days":1}`), false},
		{"order of parallel calls", two, owt, true},
		{"parallel and serial", two, serial, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if same := dedup.RecordKey(tt.a) == dedup.RecordKey(tt.b); same != tt.same {
				t.Errorf("the keys are equal: %v, want %v", same, tt.same)
			}
		})
	}
	a, b := base, base
	b.Tools, b.System, b.ID = []qaoa.Tool{{Name: "x"}}, "s", "other"
	if dedup.RecordKey(a) != dedup.RecordKey(b) {
		t.Error("tools, system text or ID change the key")
	}
	b.Turns = append([]qaoa.Turn{{Query: ""}}, b.Turns...)
	if dedup.RecordKey(a) == dedup.RecordKey(b) || dedup.QueryKey(a) == dedup.QueryKey(b) {
		t.Error("a turn without words does not count")
	}
}

func TestToolAndCallsKeys(t *testing.T) {
	tool := qaoa.Tool{Name: "f", Description: "Finds a flight.", Parameters: `{"type":"object","properties":{"from":{"type":"string","default":null},"to":{"type":"string"}},"required":["from","to"]}`}
	want, said := dedup.ToolKey(tool)
	if !said {
		t.Error("the tool says nothing")
	}
	edits := map[string]struct {
		edit func(*qaoa.Tool)
		same bool
	}{
		"case of the description": {func(t *qaoa.Tool) { t.Description = "finds a FLIGHT" }, true},
		"order of members": {func(t *qaoa.Tool) {
			t.Parameters = `{"required":["to","from"],"properties":{"to":{"type":"string"},"from":{"default":null,"type":"string"}},"type":"object"}`
		}, true},
		"category": {func(t *qaoa.Tool) { t.Category = "x" }, true},
		"name":     {func(t *qaoa.Tool) { t.Name = "F" }, false},
		"a default": {func(t *qaoa.Tool) {
			t.Parameters = `{"type":"object","properties":{"from":{"type":"string","default":0},"to":{"type":"string"}},"required":["from","to"]}`
		}, false},
	}
	for name, e := range edits {
		other := tool
		e.edit(&other)
		if got, _ := dedup.ToolKey(other); (got == want) != e.same {
			t.Errorf("another %s: the keys are equal: %v, want %v", name, got == want, e.same)
		}
	}
	if _, said := dedup.ToolKey(qaoa.Tool{Name: "f", Parameters: `{"type":"object","properties":{}}`}); said {
		t.Error("a bare name says something")
	}
	if _, said := dedup.CallsKey(record("q", "f", "{}")); said {
		t.Error("a call without arguments says something")
	}
	a, _ := dedup.CallsKey(record("q", "Find", `{"to":"New York","n":1}`))
	b, _ := dedup.CallsKey(record("other", "find", `{"n":1.0,"to":"new  york!"}`))
	if a != b {
		t.Error("light edits change the key of calls")
	}
	if c, _ := dedup.CallsKey(record("q", "find", `{"n":2,"to":"New York"}`)); a == c {
		t.Error("another argument keeps the key of calls")
	}
}

func TestCanonicalNumbers(t *testing.T) {
	tests := []struct{ in, want string }{
		{"1", "1e0"},
		{"1.0", "1e0"},
		{"10e-1", "1e0"},
		{"0.10E+1", "1e0"},
		{"100", "1e2"},
		{"-0.05", "-5e-2"},
		{"0", "0"},
		{"-0.0", "0"},
		{"0e5", "0"},
		{"123456789012345678901234567890", "12345678901234567890123456789e1"},
		{"1e9999999999", "1e9999999999"},
		{"1e00000000000001", "1e1"},
	}
	for _, tt := range tests {
		if got := string(dedup.AppendCanonical(nil, qaoa.NumberValue(tt.in), false)); got != tt.want {
			t.Errorf("canonical %s = %s, want %s", tt.in, got, tt.want)
		}
	}
}

// jaccard is the definition, on sets of texts.
func jaccard(a, b string) float64 {
	shingles := func(text string) map[string]bool {
		w := strings.Fields(dedup.Normalize(text))
		n := min(dedup.Shingle, len(w))
		set := map[string]bool{}
		for i := 0; n > 0 && i+n <= len(w); i++ {
			set[strings.Join(w[i:i+n], " ")] = true
		}
		return set
	}
	x, y := shingles(a), shingles(b)
	both := 0
	for s := range x {
		if y[s] {
			both++
		}
	}
	if len(x)+len(y) == both {
		return 0
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

func words(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("w", r.IntN(5000))
	}
	return out
}

// edit changes every n-th word of w.
func edit(r *rand.Rand, w []string, n int) []string {
	out := append([]string(nil), w...)
	for i := r.IntN(n); i < len(out); i += n {
		out[i] = fmt.Sprint("x", r.IntN(5000))
	}
	return out
}

func TestJaccard(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var k dedup.Sketcher
	var squares float64
	rounds := 0
	for range 400 {
		size := []int{1, 3, 6, 30, 44, 45, 60, 300, 3000}[r.IntN(9)]
		a := words(r, size)
		b := edit(r, a, 10+r.IntN(40))
		x, y := strings.Join(a, " "), strings.Join(b, ", ")
		got, want := k.Sketch(x).Jaccard(k.Sketch(y)), jaccard(x, y)
		switch {
		case size <= dedup.Kept+dedup.Shingle-1 && got != want:
			t.Fatalf("%d words: J = %v, want exactly %v", size, got, want)
		case math.Abs(got-want) > 0.18: // 4 standard errors at J = 0.5
			t.Fatalf("%d words: J = %v, want %v", size, got, want)
		case size > dedup.Kept+dedup.Shingle:
			rounds++
			squares += (got - want) * (got - want)
		}
	}
	if rmse := math.Sqrt(squares / float64(rounds)); rmse > 0.05 {
		t.Errorf("root mean square error %.3f of %d estimates, want at most the 0.044 of 128 bins", rmse, rounds)
	}
	if j := k.Sketch("").Jaccard(k.Sketch("")); j != 0 {
		t.Errorf("nothing resembles nothing by %v", j)
	}
	small, large := strings.Join(words(r, 50), " "), ""
	large = small + " and so on then"
	if got, want := k.Sketch(small).Jaccard(k.Sketch(large)), jaccard(small, large); math.Abs(got-want) > 0.1 {
		t.Errorf("a whole set against bins: J = %v, want %v", got, want)
	}
}

// key returns a key that nothing else has.
func key(id any) dedup.Key { return dedup.TextKey(fmt.Sprint("key of ", id)) }

// Planted near duplicates are found, and nothing that is below the threshold.
func TestIndexFindsPlanted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var k dedup.Sketcher
	x := dedup.NewIndex(0.8)
	var texts []string
	for i := range 2000 {
		text := strings.Join(words(r, 20+r.IntN(40)), " ")
		texts = append(texts, text)
		if _, found := x.Add(key(i), k.Sketch(text), fmt.Sprint(i)); found {
			t.Fatalf("%d is taken for a duplicate", i)
		}
	}
	above, missed, wrong := 0, 0, 0
	for i, text := range texts {
		w := strings.Fields(text)
		w[len(w)-1-r.IntN(2)] = "edited"
		variant := strings.Join(w, " ")
		j := jaccard(text, variant)
		first, found := x.Add(key(text), k.Sketch(variant), "variant")
		switch {
		case j >= 0.8:
			above++
			if !found {
				missed++
			} else if first.ID != fmt.Sprint(i) || first.Equal || first.Jaccard < 0.8 {
				wrong++
			}
		case found && j < 0.7:
			t.Errorf("J = %.2f is taken for a near duplicate", j)
		}
	}
	t.Logf("%d planted at J >= 0.8, %d missed, %d misnamed", above, missed, wrong)
	if above < 1500 || wrong > 0 || float64(missed) > 0.01*float64(above) {
		t.Errorf("%d of %d missed, %d misnamed; want under 1 %% and none", missed, above, wrong)
	}
}

func TestFirstWins(t *testing.T) {
	var k dedup.Sketcher
	x := dedup.NewIndex(0.5)
	s := k.Sketch("one two three four five six seven eight nine ten eleven")
	near := k.Sketch("one two three four five six seven eight nine ten twelve")
	steps := []struct {
		name  string
		key   dedup.Key
		s     dedup.Sketch
		want  dedup.Match
		found bool
	}{
		{"the first", key(1), s, dedup.Match{}, false},
		{"an equal key", key(1), dedup.Sketch{}, dedup.Match{ID: "the first", Equal: true, Jaccard: 1}, true},
		{"an equal sketch", key(2), s, dedup.Match{ID: "the first", Jaccard: 1}, true},
		{"a similar one", key(3), near, dedup.Match{ID: "the first", Jaccard: 6.0 / 8}, true},
		{"a text without words", key(4), dedup.Sketch{}, dedup.Match{}, false},
		{"another without words", key(5), dedup.Sketch{}, dedup.Match{}, false},
		{"its key again", key(5), s, dedup.Match{ID: "another without words", Equal: true, Jaccard: 1}, true},
	}
	for _, st := range steps {
		if got, found := x.Add(st.key, st.s, st.name); got != st.want || found != st.found {
			t.Errorf("%s: found %+v, %v; want %+v, %v", st.name, got, found, st.want, st.found)
		}
	}
	if x.Len() != 3 {
		t.Errorf("%d taken in, want 3", x.Len())
	}
}

// A phrase that everybody uses costs no quadratic time, and is counted.
func TestCrowdedKeysAreBounded(t *testing.T) {
	var k dedup.Sketcher
	x := dedup.NewIndex(0.99)
	r := rand.New(rand.NewPCG(5, 6))
	common := words(r, 30)
	for i := range 1000 {
		w := append(append([]string(nil), common...), words(r, 3)...)
		x.Add(key(i), k.Sketch(strings.Join(w, " ")), fmt.Sprint(i))
	}
	if x.Crowded() == 0 || x.Len() != 1000 {
		t.Errorf("%d crowded of %d", x.Crowded(), x.Len())
	}
}

// The memory of an index is what the package promises, at whatever size.
func TestBytesPerConversation(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n = 60_000
	before := heap()
	x := dedup.NewIndex(0.8)
	var k dedup.Sketcher
	r := rand.New(rand.NewPCG(7, 8))
	worst := 0.0
	for i := range n {
		text := strings.Join(words(r, dedup.Kept+dedup.Shingle-1), " ") // the most that are kept whole
		x.Add(key(i), k.Sketch(text), fmt.Sprintf("corpus/folder/a-file-of-it#%d", i))
		if i > n/3 && i%2000 == 0 {
			worst = max(worst, float64(heap()-before)/float64(i))
		}
	}
	t.Logf("at most %.0f bytes a conversation, %d taken in", worst, x.Len())
	if worst > 512 || x.Len() < n-10 {
		t.Errorf("%.0f bytes a conversation, want at most 512; %d of %d taken in", worst, x.Len(), n)
	}
}

func longText(n int) string {
	return strings.Join(words(rand.New(rand.NewPCG(9, 9)), n), " ")
}

func BenchmarkSketch(b *testing.B) {
	for _, n := range []int{25, 3000} {
		text := longText(n)
		b.Run(fmt.Sprint(n, "words"), func(b *testing.B) {
			var k dedup.Sketcher
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				k.Sketch(text)
			}
		})
	}
}

func BenchmarkIndexAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var k dedup.Sketcher
	sketches, keys := make([]dedup.Sketch, 20000), make([]dedup.Key, 20000)
	for i := range sketches {
		keys[i] = key(i)
		sketches[i] = k.Sketch(strings.Join(words(r, 25), " "))
	}
	b.ReportAllocs()
	for b.Loop() {
		x := dedup.NewIndex(0.8)
		for i, s := range sketches {
			x.Add(keys[i], s, "corpus/file#123456")
		}
	}
	b.ReportMetric(float64(len(sketches)), "records/op")
}

func ExampleNormalize() {
	fmt.Println(dedup.Normalize("What’s the WEATHER in São Paulo?"))
	// Output: whats the weather in são paulo
}

func ExampleIndex() {
	var k dedup.Sketcher
	x := dedup.NewIndex(0.8)
	x.Add(dedup.TextKey("a"), k.Sketch("Please find me a cheap flight from Oslo to Rome on the first of May for two adults and one child"), "a")
	first, found := x.Add(dedup.TextKey("b"), k.Sketch("please find me a cheap flight from Oslo to Rome, on the first of May, for two adults and one dog"), "b")
	fmt.Printf("%s %.2f %v\n", first.ID, first.Jaccard, found)
	// Output: a 0.89 true
}
