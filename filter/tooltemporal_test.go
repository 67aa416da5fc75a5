package filter

import (
	"testing"

	"assay/qaoa"

	"pgregory.net/rapid"
)

func TestRepairedTemporal(t *testing.T) {
	test := TemporalTest{Rule: RepairedWords}
	names := map[string]bool{
		"travel_date": true, "start-time": true, "travelDate": true, "timeZone": true, "date_time": true, "ISODate": true,
		"birthDay": true, "candidateDate": true, "x_times_y": true, "when": true, "second": true, "start_second": true,
		"second_2": true, "startSecond": true, "seconds": true, "TimeX": true, "DATE": true,
		"runtimeError": false, "getTimeline": false, "getSecondary": false, "onWhenever": false, "MondayList": false,
		"second_operand": false, "secondName": false, "update": false, "timezone": false, "createdAt": false, "date1": false,
	}
	for s, want := range names {
		if w, got := test.Name(s); got != want {
			t.Errorf("Name(%q) = %q, %v, want %v", s, w, got, want)
		}
	}
	texts := map[string]bool{
		"real-time quotes": true, "Frames per second": true, "a 30-second clip": true, "waits 5\u00a0second": true,
		"one second": true, "second(s) to wait": true, "timeout in seconds": true, "Second: the hour": true,
		"Use when the list is empty": false, "The second argument": false, "When in doubt": false, "every second row": false,
		"a second one": false, "a daily report": false, "scheduling of meetings": false, "yearly": false,
		"the second, per se": false, "TODAY": false, "Overtime": false, "lastUpdated": false,
	}
	for s, want := range texts {
		if w, got := test.Text(s); got != want {
			t.Errorf("Text(%q) = %q, %v, want %v", s, w, got, want)
		}
	}
}

// What the repaired rule finds, the paper's finds too.
func TestRepairedFindsNoMore(t *testing.T) {
	parts := []string{"when", "second", "date", "Date", "time", "Time", "s", "X", "x", "_", "-", " ", "per ", "3 ", "ISO", "days", "Day", "é", "1"}
	rapid.Check(t, func(rt *rapid.T) {
		s := ""
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(parts), 0, 6).Draw(rt, "parts") {
			s += p
		}
		test := TemporalTest{Rule: RepairedWords}
		for _, find := range []func(string) (string, bool){test.Name, test.Text} {
			if w, ok := find(s); ok && !Temporal(s) {
				rt.Errorf("the repaired rule finds %q in %q, the paper's nothing", w, s)
			}
		}
	})
}

func TestFind(t *testing.T) {
	const nested = `{"properties":{"a":{"properties":{"b":{"items":{"properties":{"date":{}}}}}}}}`
	tests := []struct {
		name        string
		test        TemporalTest
		parameters  string
		where, word string
	}{
		{"nested parameters do not count", TemporalTest{}, nested, "", ""},
		{"unless they are asked for", TemporalTest{Nested: true}, nested, "the name of a parameter of a.b", "date"},
		{"alternatives", TemporalTest{Nested: true}, `{"anyOf":[{"properties":{"x":{"description":"a day"}}}]}`, "the description of the parameter x", "day"},
		{"items with a description", TemporalTest{Nested: true}, `{"properties":{"l":{"items":{"description":"a week"}}}}`, "a description of l", "week"},
		{"definitions", TemporalTest{Nested: true}, `{"$defs":{"D":{"required":["year"]}}}`, "the list of required parameters", "year"},
		{"a word for a name only", TemporalTest{Rule: RepairedWords}, `{"properties":{"x":{"description":"when needed"},"when":{}}}`, "the name of a parameter", "when"},
		{"the paper takes it anywhere", TemporalTest{Rule: PaperWords}, `{"properties":{"x":{"description":"when needed"}}}`, "the description of the parameter x", "when"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			where, word := tt.test.Find(qaoa.Tool{Parameters: qaoa.JSON(tt.parameters)})
			if where != tt.where || word != tt.word {
				t.Errorf("Find = %q, %q, want %q, %q", where, word, tt.where, tt.word)
			}
		})
	}
	if err := (TemporalTest{Rule: "odd"}).Validate(); err == nil {
		t.Error("a rule that does not exist is taken")
	}
}
