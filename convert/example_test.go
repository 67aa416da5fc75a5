package convert_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"assay/convert"
	"assay/qaoa"
)

func ExampleRun() {
	src := convert.Source{
		Name:  "faq",
		Kind:  convert.Train,
		Files: []convert.File{{Glob: "faq.jsonl", Role: convert.Records, Note: "questions"}},
		Open: func(context.Context, convert.Input) (convert.Func, error) {
			return func(el convert.Element) ([]qaoa.Record, []*convert.Reject) {
				v, rej := convert.ParseObject(el)
				if rej != nil {
					return nil, []*convert.Reject{rej}
				}
				q, rej := convert.Field(v, "", "q", qaoa.String)
				if rej != nil {
					return nil, []*convert.Reject{rej}
				}
				return []qaoa.Record{{Turns: []qaoa.Turn{{Query: q.Text}}}}, nil
			}, nil
		},
	}
	files := fstest.MapFS{"faq.jsonl": {Data: []byte(`{"q":"Is it open?"}` + "\n" + `{"question":"Is it?"}` + "\n" + `{"q":"Is`)}}
	inputs := []convert.Input{{FS: files, Files: []string{"faq.jsonl"}}}

	var sum convert.Summary
	for o, err := range convert.Run(context.Background(), src, inputs, convert.RunOptions{}) {
		if err != nil {
			fmt.Println("error:", err)
			break
		}
		sum.Add(o)
		for _, rec := range o.Records {
			fmt.Println(rec.ID)
		}
		for _, rej := range o.Rejects {
			fmt.Println(rej)
		}
	}
	fmt.Println(sum.Read, sum.Converted, sum.Rejected, sum.Check())
	// Output:
	// faq/faq#0
	// faq.jsonl:2: /q: parse_error: want a string, have none
	// error: faq.jsonl: byte 50: after 2 elements: the file ends inside this element; the file was cut off or is incomplete
	// 2 1 1 <nil>
}
