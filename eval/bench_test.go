package eval_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"assay/eval"
	"assay/match"
	"assay/qaoa"
)

// paperRecords is the size of the paper's test set.
const paperRecords = 6163

// benchRun generates gold records with about 21 tools on offer, and a
// prediction for each in which a third of the calls is written differently, a
// third is close, and a third is wrong in a number.
func benchRun() (gold []qaoa.Record, preds []qaoa.Prediction) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("cheap hotels near the old town with a view of the harbour and breakfast for two people")
	text := func() string { k := rng.IntN(8); return strings.Join(words[k:k+1+rng.IntN(8)], " ") }
	for i := range paperRecords {
		rec := qaoa.Record{ID: fmt.Sprint("set/", i), Source: qaoa.Source{Name: fmt.Sprint("set", i%7), File: "f.jsonl", Index: i, Split: "test"}}
		for k := range 20 {
			rec.Tools = append(rec.Tools, qaoa.Tool{
				Name: fmt.Sprintf("%s_tool%c", words[(i+k)%len(words)], 'a'+k), Description: "Looks for " + text() + ".",
				Parameters: `{"type":"object","required":["q"],"properties":{"q":{"type":"string","description":"what to look for"},"day":{"type":"string"},"n":{"type":"integer","default":3}}}`,
			})
		}
		turn, guess := qaoa.Turn{Query: text()}, qaoa.Turn{}
		for range 1 + rng.IntN(3) {
			name, q, count := rec.Tools[rng.IntN(20)].Name, text(), 3
			args := func(q, day string, n int) qaoa.JSON {
				return qaoa.JSON(fmt.Sprintf(`{"q":%q,"day":%q,"n":%d}`, q, day, n))
			}
			turn.Steps = append(turn.Steps, qaoa.Step{Calls: []qaoa.Call{{Name: name, Arguments: args(q, "April 1, 2023", 3)}}})
			switch rng.IntN(3) {
			case 1:
				q += " " + words[rng.IntN(len(words))]
			case 2:
				count = rng.IntN(9)
			}
			guess.Steps = append(guess.Steps, qaoa.Step{Calls: []qaoa.Call{{Name: name, Arguments: args(q, "2023-04-01", count)}}})
		}
		rec.Turns = []qaoa.Turn{turn}
		gold, preds = append(gold, rec), append(preds, qaoa.Prediction{ID: rec.ID, Turns: []qaoa.Turn{guess}})
	}
	return gold, preds
}

// BenchmarkScore measures scoring without decoding.
func BenchmarkScore(b *testing.B) {
	gold, preds := benchRun()
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := eval.Score(b.Context(), each(gold...), each(preds...), eval.ScoreOptions{Workers: workers}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(paperRecords*float64(b.N)/b.Elapsed().Seconds(), "predictions/s")
		})
	}
}

// BenchmarkScoreBesideDecode decodes and scores in turns on one core, and
// reports how much longer scoring takes than decoding its inputs.
func BenchmarkScoreBesideDecode(b *testing.B) {
	gold, preds := benchRun()
	var goldLines, predLines [][]byte
	size := 0
	for i := range gold {
		goldLines = append(goldLines, qaoa.AppendRecord(nil, gold[i]))
		predLines = append(predLines, qaoa.AppendPrediction(nil, preds[i]))
		size += len(goldLines[i]) + len(predLines[i])
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var decode, score time.Duration
	for b.Loop() {
		start := time.Now()
		for i := range goldLines {
			var err error
			if gold[i], err = qaoa.DecodeRecord(goldLines[i]); err != nil {
				b.Fatal(err)
			}
			if preds[i], err = qaoa.DecodePrediction(predLines[i]); err != nil {
				b.Fatal(err)
			}
		}
		middle := time.Now()
		if _, err := eval.Score(b.Context(), each(gold...), each(preds...), eval.ScoreOptions{Workers: 1}); err != nil {
			b.Fatal(err)
		}
		decode += middle.Sub(start)
		score += time.Since(middle)
	}
	b.ReportMetric(score.Seconds()/decode.Seconds(), "score/decode")
}

// repeated yields n predictions, repeat after repeat.
func repeated(preds []qaoa.Prediction, n int) iter.Seq2[qaoa.Prediction, error] {
	return func(yield func(qaoa.Prediction, error) bool) {
		for i := range n {
			p := preds[i%len(preds)]
			p.Repeat = i / len(preds)
			if !yield(p, nil) {
				return
			}
		}
	}
}

// BenchmarkScoreMillion scores 1,000,000 predictions against 6,163 records, of
// which each has about 162.
func BenchmarkScoreMillion(b *testing.B) {
	const n = 1_000_000
	gold, preds := benchRun()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eval.Score(b.Context(), each(gold...), repeated(preds, n), eval.ScoreOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "predictions/s")
}

// BenchmarkDiagnose measures what telling errors apart costs beside scoring.
func BenchmarkDiagnose(b *testing.B) {
	gold, preds := benchRun()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eval.Diagnose(b.Context(), each(gold...), each(preds...), eval.DiagnoseOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(paperRecords*float64(b.N)/b.Elapsed().Seconds(), "predictions/s")
}

// BenchmarkCross measures all presets at once.
func BenchmarkCross(b *testing.B) {
	gold, preds := benchRun()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := eval.Cross(b.Context(), each(gold...), each(preds...), eval.CrossOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(paperRecords*float64(len(match.Presets()))*float64(b.N)/b.Elapsed().Seconds(), "predictions/s")
}
