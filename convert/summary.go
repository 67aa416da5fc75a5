package convert

import (
	"fmt"

	"assay/qaoa"
)

// A Summary is the balance of a conversion or a filter. The zero value is an
// empty one.
type Summary struct {
	Source string `json:"source"`
	// Read counts instances: elements, or what they hold if that is more.
	Read      int `json:"read"`
	Converted int `json:"converted"` // records
	Rejected  int `json:"rejected"`
	// RecordsByCategory counts the records of each category that was given.
	RecordsByCategory map[string]int `json:"records_by_category,omitempty"`
	Codes             map[Code]int   `json:"codes"` // rejects by their code
	Calls             int            `json:"calls"`
	Turns             TurnCounts     `json:"turns"`
	Conversations     SizeCounts     `json:"conversations"`
}

// TurnCounts counts turns by their number of calls: one, more, or none.
type TurnCounts struct {
	SingleHop int `json:"single_hop"`
	MultiHop  int `json:"multi_hop"`
	NoCall    int `json:"no_call"`
}

// SizeCounts counts conversations by their number of turns: one, or more.
type SizeCounts struct {
	SingleTurn int `json:"single_turn"`
	MultiTurn  int `json:"multi_turn"`
}

// Add counts an outcome: what was read, its records (without a category) and
// its rejects. Callers that write records count them as they are written, by
// AddRead, AddRecord and AddReject, so that Check sees what gets lost.
func (s *Summary) Add(o Outcome) {
	s.AddRead(o.Read)
	for _, rec := range o.Records {
		s.AddRecord(rec, "")
	}
	for _, rej := range o.Rejects {
		s.AddReject(rej)
	}
}

// AddRead counts n instances that were read.
func (s *Summary) AddRead(n int) { s.Read += n }

// AddRecord counts a record, and its category unless that is "".
func (s *Summary) AddRecord(rec qaoa.Record, category string) {
	s.Converted++
	if category != "" {
		if s.RecordsByCategory == nil {
			s.RecordsByCategory = map[string]int{}
		}
		s.RecordsByCategory[category]++
	}
	for _, turn := range rec.Turns {
		n := 0
		for _, step := range turn.Steps {
			n += len(step.Calls)
		}
		s.Calls += n
		switch n {
		case 0:
			s.Turns.NoCall++
		case 1:
			s.Turns.SingleHop++
		default:
			s.Turns.MultiHop++
		}
	}
	if len(rec.Turns) > 1 {
		s.Conversations.MultiTurn++
	} else {
		s.Conversations.SingleTurn++
	}
}

// AddReject counts a reject.
func (s *Summary) AddReject(rej *Reject) {
	s.Rejected++
	if s.Codes == nil {
		s.Codes = map[Code]int{}
	}
	s.Codes[rej.Code]++
}

// Check returns an error unless converted + rejected = read, the codes add up
// to the rejects, and every record is counted as a conversation.
func (s *Summary) Check() error {
	codes := 0
	for _, n := range s.Codes {
		codes += n
	}
	switch {
	case s.Converted+s.Rejected != s.Read:
		return fmt.Errorf("%s: %d converted and %d rejected are not the %d read; this is a fault of the program", s.Source, s.Converted, s.Rejected, s.Read)
	case codes != s.Rejected:
		return fmt.Errorf("%s: %d codes are not the %d rejects; this is a fault of the program", s.Source, codes, s.Rejected)
	case s.Conversations.SingleTurn+s.Conversations.MultiTurn != s.Converted:
		return fmt.Errorf("%s: %d single-turn and %d multi-turn conversations are not the %d converted; this is a fault of the program",
			s.Source, s.Conversations.SingleTurn, s.Conversations.MultiTurn, s.Converted)
	}
	return nil
}

// MarshalJSON writes the members in a fixed order, with an object of codes
// even if there are none.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary // without this method
	if s.Codes == nil {
		s.Codes = map[Code]int{}
	}
	return marshal(plain(s))
}
