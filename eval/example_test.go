package eval_test

import (
	"context"
	"fmt"
	"log"

	"assay/eval"
	"assay/model"
	"assay/qaoa"
)

func ExampleScore() {
	gold := qaoa.Record{
		ID: "trips/1",
		Turns: []qaoa.Turn{{Query: "Weather and time in Oslo?", Steps: []qaoa.Step{{Calls: []qaoa.Call{
			{Name: "get_weather", Arguments: `{"city":"Oslo"}`},
			{Name: "get_time", Arguments: `{"city":"Oslo"}`},
		}}}}},
	}
	pred := qaoa.Prediction{ID: "trips/1", Turns: []qaoa.Turn{{Steps: []qaoa.Step{{Calls: []qaoa.Call{
		{Name: "get_weather", Arguments: `{"city":"oslo"}`},
	}}}}}}
	scores, err := eval.Score(context.Background(), each(gold), each(pred), eval.ScoreOptions{})
	if err != nil {
		log.Fatal(err)
	}
	mh := scores[0].Cells.MH
	fmt.Printf("SP %.1f FP %.1f SPA %.1f over %d turn\n", *mh.SP, *mh.FP, *mh.SPA, mh.N)
	// Output: SP 0.0 FP 0.5 SPA 0.5 over 1 turn
}

func ExampleRun() {
	// A model that always asks for the weather, and then says so.
	m := chatter(func(_ context.Context, req model.Request) (model.Reply, error) {
		if req.Round() == 0 {
			return model.Reply{Text: `<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>`}, nil
		}
		return model.Reply{Text: "<answer>It rains.</answer>"}, nil
	})
	rec := qaoa.Record{ID: "trips/2", Turns: []qaoa.Turn{{Query: "Is it wet in Oslo?"}}}
	for res, err := range eval.Run(context.Background(), m, each(rec), eval.Options{}) {
		if err != nil {
			log.Fatal(err)
		}
		turn := res.Turns[0]
		fmt.Println(res.ID, turn.Steps[0].Calls[0].Arguments, turn.Answer)
	}
	// Output: trips/2 {"city":"Oslo"} It rains.
}

func ExampleDiagnose() {
	weather := qaoa.Tool{Name: "get_weather", Description: "Returns the weather of a city.", Parameters: `{"type":"object","required":["city"],"properties":{"city":{"type":"string"}}}`}
	gold := qaoa.Record{ID: "a/1", Source: qaoa.Source{Name: "a"}, Tools: []qaoa.Tool{weather}, Turns: []qaoa.Turn{{
		Query: "Weather in Oslo?", Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "get_weather", Arguments: `{"city":"Oslo"}`}}}},
	}}}
	pred := qaoa.Prediction{ID: "a/1", Turns: []qaoa.Turn{{
		Steps: []qaoa.Step{{Calls: []qaoa.Call{{Name: "get_weather", Arguments: `{"town":"Oslo"}`}, {Name: "get_time"}}}},
	}}}
	d, err := eval.Diagnose(context.Background(), each(gold), each(pred), eval.DiagnoseOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range d.All.SH.Classes {
		fmt.Printf("%s: %d of %d lines\n", c.Class, c.N, d.All.SH.Lines)
	}
	// Output:
	// hallucinated_tool: 1 of 2 lines
	// missing_required: 1 of 2 lines
}
