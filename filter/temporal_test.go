package filter

import (
	"regexp"
	"strings"
	"testing"

	"assay/qaoa"

	"pgregory.net/rapid"
)

func TestTemporal(t *testing.T) {
	hits := []string{
		"travel_date", "start-time", "travelDate", "timeZone", "date_time", "ISODate", "runtimeError", "getTimeline",
		"getSecondary", "onWhenever", "birthDay", "MondayList", "candidateDate", "x_times_y", "Use when the list is empty",
		"The second argument", "real-time quotes", "time_zone", "when", "DATE", "Date.", "(start_time)", "a\tday\tb",
		"Start_timeX", "x_DATE", "5 years", "day\u00a0one", "„date“", "pickup_date", "TimeX", "XTime", "two-week", "date\n",
	}
	misses := []string{
		"update", "timezone", "birthday", "daytime", "a daily report", "scheduling of meetings", "weekend", "yearly",
		"createdAt", "lastUpdated", "TODAY", "Overtime", "sometimes", "scheduling", "", "d", "datum", "a_date.b",
		"my_start_time,", "candidate", "été_dateé", "date1", "1date", "édate", "datе" /* Cyrillic e */, "TIMEx", "tIMEX",
	}
	for _, s := range hits {
		if !Temporal(s) {
			t.Errorf("Temporal(%q) = false, want true", s)
		}
	}
	for _, s := range misses {
		if Temporal(s) {
			t.Errorf("Temporal(%q) = true, want false", s)
		}
	}
}

// The words of the test, spelt out.
const words = "date dates time times datetime timestamp start_time end_time start_date end_date pick_up_time drop_off_time " +
	"pickup_time dropoff_time pick_up_date drop_off_date pickup_date dropoff_date duration when schedule scheduled " +
	"day days hour hours minute minutes second seconds period periods year years month months week weeks"

// byRegexp is the test of the scripts, one regular expression a rule, for text
// in ASCII.
func byRegexp() func(string) bool {
	var folded, exact []*regexp.Regexp
	for k := range strings.FieldsSeq(words) {
		title := strings.ToUpper(k[:1]) + k[1:]
		folded = append(folded, regexp.MustCompile(`\b`+k+`\b|[_\-\s]`+k+`[_\-\s]|^`+k+`[_\-\s]|[_\-\s]`+k+`$|^`+k+`$`))
		exact = append(exact, regexp.MustCompile(k+`[A-Z]|[a-z]`+title+`|`+title+`[A-Z]|[A-Z]`+title))
	}
	return func(s string) bool {
		for i := range folded {
			if folded[i].MatchString(strings.ToLower(s)) || exact[i].MatchString(s) {
				return true
			}
		}
		return false
	}
}

func TestTemporalEqualsRegexp(t *testing.T) {
	want := byRegexp()
	if n := len(strings.Fields(words)); n != 38 {
		t.Fatalf("%d words, want 38", n)
	}
	parts := append(strings.Fields(words), "_", "-", " ", ".", "A", "Z", "a", "z", "7", "Date", "Time", "DAY", "Start_time", "s", "\n", "up", "TI", "me")
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 5).Draw(rt, "parts"), "")
		if got := Temporal(s); got != want(s) {
			rt.Errorf("Temporal(%q) = %v, the regular expressions say %v", s, got, !got)
		}
	})
}

func TestToolTemporal(t *testing.T) {
	tests := []struct {
		name, description, parameters string
		want                          bool
	}{
		{"nothing temporal", "Adds numbers", `{"properties":{"a":{"description":"one"}},"required":["a"]}`, false},
		{"the description", "Adds hours", ``, true},
		{"a parameter's name", "", `{"properties":{"start_time":{}}}`, true},
		{"a parameter's description", "", `{"properties":{"a":{"description":"when to go"}}}`, true},
		{"a required name without a parameter", "", `{"required":["date"]}`, true},
		{"nested parameters do not count", "", `{"properties":{"a":{"properties":{"date":{"description":"a date"}}}}}`, false},
		{"nor do enumerations and titles", "", `{"title":"date","properties":{"a":{"enum":["day"],"title":"day"}}}`, false},
		{"nor descriptions that are no text", "", `{"properties":{"a":{"description":{"date":1}},"b":"date"},"required":[{"date":1}]}`, false},
		{"nor does broken JSON", "", `{"properties":{"date"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := qaoa.Tool{Name: "get_date", Description: tt.description, Parameters: qaoa.JSON(tt.parameters)}
			if got := ToolTemporal(tool); got != tt.want {
				t.Errorf("ToolTemporal(%q, %s) = %v, want %v", tt.description, tt.parameters, got, tt.want)
			}
		})
	}
}

func TestEmptySchema(t *testing.T) {
	tests := []struct {
		name, parameters     string
		empty, metadata, off bool
	}{
		{"a parameter", `{"properties":{"a":{}}}`, false, false, false},
		{"no parameter", `{"type":"object","properties":{}}`, true, true, false},
		{"no properties", `{"type":"object"}`, true, true, false},
		{"properties that are null", `{"properties":null}`, true, true, false},
		{"no schema", ``, true, true, false},
		{"a schema that is no object", `true`, true, true, false},
		{"only what looks like a schema", `{"properties":{"id":{},"type":{},"title":{},"$schema":{},"dummy":{},"random_string":{},"weekly_id":{},"additionalProperties":{},"description":{}}}`, false, true, false},
		{"one parameter among them", `{"properties":{"id":{},"ids":{}}}`, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tool := qaoa.Tool{Parameters: qaoa.JSON(tt.parameters)}
			for variant, want := range map[SchemaFilter]bool{"": tt.empty, Empty: tt.empty, Metadata: tt.metadata, Off: tt.off} {
				if got := EmptySchema(tool, variant); got != want {
					t.Errorf("EmptySchema(%s, %q) = %v, want %v", tt.parameters, variant, got, want)
				}
			}
		})
	}
}

func FuzzTemporal(f *testing.F) {
	for _, s := range []string{"travelDate", "a_\xffdate", "DATE", "start_timeX"} {
		f.Add(s)
	}
	want := byRegexp()
	f.Fuzz(func(t *testing.T, s string) {
		got := Temporal(s)
		for _, c := range []byte(s) {
			if c >= 0x80 || c == '\v' || 0x1c <= c && c <= 0x1f {
				return // blanks and word characters of the regular expressions are fewer
			}
		}
		if got != want(s) {
			t.Errorf("Temporal(%q) = %v, the regular expressions say %v", s, got, !got)
		}
	})
}

func BenchmarkTemporal(b *testing.B) {
	text := strings.Repeat("Retrieves the latest updates of a timezone for the candidate's scheduling database. ", 10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if Temporal(text) {
			b.Fatal("it has a word")
		}
	}
}
