package train

import (
	"strings"

	"assay/qaoa"
)

// The roles of messages, which dataset_info.json names to the trainer.
const (
	fromHuman       = "human"
	fromCall        = "function_call"
	fromObservation = "observation"
	fromGPT         = "gpt"
)

// renderLlama returns r as a line of LLaMA-Factory's sharegpt.
func renderLlama(r row, plain bool) []byte {
	dst := []byte(`{"id":`)
	dst = qaoa.AppendQuote(dst, r.id)
	dst = append(dst, `,"conversations":[`...)
	for i, t := range r.turns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendMessage(dst, fromHuman, t.Query)
		for k, s := range t.Steps {
			dst = append(dst, ',')
			dst = appendMessage(dst, fromCall, callValue(s.Calls))
			if r.openEnd && i == len(r.turns)-1 && k == len(t.Steps)-1 {
				break
			}
			dst = append(dst, ',')
			dst = appendMessage(dst, fromObservation, observationValue(s))
		}
		if r.openEnd && i == len(r.turns)-1 {
			break
		}
		dst = append(dst, ',')
		dst = appendMessage(dst, fromGPT, answerText(t.Answer, plain))
	}
	dst = append(dst, `],"system":`...)
	dst = qaoa.AppendQuote(dst, r.system)
	dst = append(dst, `,"tools":`...)
	// A text and no array: a column of structs would get every parameter of
	// every tool, with null where a tool has none.
	dst = qaoa.AppendQuote(dst, string(qaoa.AppendTools(nil, r.tools)))
	return append(dst, '}')
}

func appendMessage(dst []byte, from, value string) []byte {
	dst = append(append(append(dst, `{"from":"`...), from...), `","value":`...)
	return append(qaoa.AppendQuote(dst, value), '}')
}

// callValue returns one call as an object, several as an array.
func callValue(calls []qaoa.Call) string {
	var dst []byte
	if len(calls) == 1 {
		dst = qaoa.AppendCall(dst, calls[0])
	} else {
		dst = append(dst, '[')
		for i, c := range calls {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = qaoa.AppendCall(dst, c)
		}
		dst = append(dst, ']')
	}
	return unmarked(string(dst))
}

// marks are what the trainer's templates search a function_call for: thoughts
// and tool calls. A mark begins with '<' or with ◁.
var marks = []string{"<think", "<tool_call", "<|", "<seed:", "◁"}

// unmarked returns JSON text in which no mark can be found. The characters
// only occur in strings, where an escape says the same.
func unmarked(text string) string {
	for _, m := range marks {
		if strings.Contains(text, m) {
			return strings.NewReplacer("<", `\u003c`, "◁", `\u25c1`).Replace(text)
		}
	}
	return text
}

// observationValue returns what a step returned: as it is for one call, a JSON
// array of strings for several, empty if nothing is known.
func observationValue(s qaoa.Step) string {
	if len(s.Calls) == 1 || known(s.Observations) == 0 {
		return s.Observation(0)
	}
	dst := []byte{'['}
	for i, o := range s.Observations {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = qaoa.AppendQuote(dst, o)
	}
	return string(append(dst, ']'))
}
