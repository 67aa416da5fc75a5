//go:build e2e

package e2e

import (
	"fmt"
	"strings"
)

// The tools on offer. get_weather is the one that the model calls.
const (
	weatherTool = `{"name":"get_weather","description":"Returns the current weather of a city","parameters":{"type":"object","properties":{"city":{"type":"string","description":"The name of the city"}},"required":["city"]}}`
	timeTool    = `{"name":"get_time","description":"Returns the local time of a place","parameters":{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}}`
)

// The gold steps in use, each as JSON.
const (
	paris   = `{"calls":[{"name":"get_weather","arguments":{"city":"Paris"}}],"observations":["sunny, 21 degrees"]}`
	rome    = `{"calls":[{"name":"get_weather","arguments":{"city":"Rome"}}]}`
	clock   = `{"calls":[{"name":"get_time","arguments":{"place":"Lima"}}]}`
	bothNow = `{"calls":[{"name":"get_weather","arguments":{"city":"Paris"}},{"name":"get_time","arguments":{"place":"Paris"}}]}`
)

// record returns a gold line. Each turn is a query and its steps, JSON joined
// by commas.
func record(id string, turns ...[2]string) string {
	var t []string
	for _, q := range turns {
		t = append(t, fmt.Sprintf(`{"query":%q,"steps":[%s],"answer":"done"}`, q[0], q[1]))
	}
	return fmt.Sprintf(`{"schema":"qaoa/1","id":"e2e/%s","source":{"name":"e2e","file":"gold.jsonl","index":0,"split":"test"},"tools":[%s,%s],"turns":[%s]}`+"\n",
		id, weatherTool, timeTool, strings.Join(t, ","))
}

// gold are records around the one thing that the model says. It calls
// get_weather(city=Paris) once in every turn, and then answers.
var gold = record("right", [2]string{"What is the weather in Paris?", paris}) +
	record("wrong-city", [2]string{"What is the weather in Rome?", rome}) +
	record("wrong-tool", [2]string{"What time is it in Lima?", clock}) +
	record("two-calls", [2]string{"Weather and time in Paris, please.", bothNow}) +
	record("no-tool", [2]string{"Tell me a joke.", ""}) +
	record("two-turns", [2]string{"What is the weather in Paris?", paris}, [2]string{"And in Rome?", rome}) +
	record("both-right", [2]string{"What is the weather in Paris?", paris}, [2]string{"Is it still so?", paris})

// scripted is what the model calls in the records of gold.
var scripted = map[string]string{
	"e2e/right":      "get_weather(city=Paris)",
	"e2e/wrong-city": "get_weather(city=Paris)",
	"e2e/wrong-tool": "get_weather(city=Paris)",
	"e2e/two-calls":  "get_weather(city=Paris)",
	"e2e/no-tool":    "get_weather(city=Paris)",
	"e2e/two-turns":  "get_weather(city=Paris); get_weather(city=Paris)",
	"e2e/both-right": "get_weather(city=Paris); get_weather(city=Paris)",
}

// numbered returns n records whose queries carry their number as a marker.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(record(fmt.Sprintf("n%03d", i), [2]string{fmt.Sprintf("What is the weather in Paris? marker %03d", i), paris}))
	}
	return b.String()
}

// long returns one record whose query has about n bytes of words.
func long(n int) string {
	const words = "the weather of the city and the name of the place "
	return record("long", [2]string{strings.Repeat(words, n/len(words)) + "What is the weather in Paris?", paris})
}

// dense returns one record whose query is n digits, each of which is a token:
// more tokens than any estimate by bytes expects.
func dense(n int) string {
	return record("dense", [2]string{"What is the weather in Paris? " + strings.Repeat("7", n), paris})
}
