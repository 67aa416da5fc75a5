package match

import (
	"strings"

	"assay/qaoa"

	"pgregory.net/rapid"
)

// fragments are what strings for property tests are made of: each is special
// to some rule.
var fragments = []string{
	"a", "the", "an", "cat", "Cat", "town", "1", "1.0", "-5", "+", "-", ".", ",", " ", "  ", "true", "False", "2023-04-01",
	"April 1, 2023", "4/1/2023", "T10:00", "Z", "[", "]", "{", "}", "'", `"`, ":", "/", "%", "ß", "SS", "é", "e\u0301", "\u200b",
	"\ufe0f", "☀", "北京", "ｶ", "null", "None", "1e5", "1,000", "\u2212", "\u0130", "\xff", "\\", "\u0345", "_", "#",
}

func hostileString() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 6), func(parts []string) string { return strings.Join(parts, "") })
}

// hostileValue draws any JSON value of a few levels.
func hostileValue(depth int) *rapid.Generator[qaoa.Value] {
	return rapid.Custom(func(t *rapid.T) qaoa.Value {
		most := 5
		if depth == 0 {
			most = 3
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return qaoa.NullValue()
		case 1:
			return qaoa.BoolValue(rapid.Bool().Draw(t, "bool"))
		case 2:
			return qaoa.NumberValue(rapid.SampledFrom([]string{"0", "-0", "1", "1.0", "1e0", "10", "1e500", "9007199254740993"}).Draw(t, "number"))
		case 3:
			return qaoa.StringValue(strings.ToValidUTF8(hostileString().Draw(t, "string"), "\uFFFD"))
		case 4:
			return qaoa.ArrayValue(rapid.SliceOfN(hostileValue(depth-1), 0, 3).Draw(t, "items")...)
		}
		return hostileObject(depth-1).Draw(t, "object")
	})
}

// hostileObject draws an object whose keys collide and repeat now and then.
func hostileObject(depth int) *rapid.Generator[qaoa.Value] {
	return rapid.Custom(func(t *rapid.T) qaoa.Value {
		keys := rapid.SampledFrom([]string{"a", "A", "b", "a_b", "ab", "city", "", "-", "the city"})
		var members []qaoa.Member
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, qaoa.Member{Name: keys.Draw(t, "key"), Value: hostileValue(depth).Draw(t, "value")})
		}
		return qaoa.ObjectValue(members...)
	})
}

// hostileCall draws a call, now and then one that did not parse or whose
// arguments are no object.
func hostileCall() *rapid.Generator[qaoa.Call] {
	return rapid.Custom(func(t *rapid.T) qaoa.Call {
		name := rapid.SampledFrom([]string{"f", "F", "f_1", "f.2", "g", "g", "42"}).Draw(t, "name")
		switch rapid.IntRange(0, 9).Draw(t, "form") {
		case 0:
			return qaoa.Call{Raw: "f("}
		case 1:
			return qaoa.Call{Name: name}
		case 2:
			return qaoa.Call{Name: name, Arguments: hostileValue(1).Draw(t, "arguments").JSON()}
		case 3:
			return qaoa.Call{Name: name, Arguments: qaoa.Quote(string(hostileObject(1).Draw(t, "arguments").JSON()))}
		}
		return qaoa.Call{Name: name, Arguments: hostileObject(1).Draw(t, "arguments").JSON()}
	})
}

// parsedCall draws a call that parsed.
func parsedCall() *rapid.Generator[qaoa.Call] {
	return hostileCall().Filter(func(c qaoa.Call) bool { return c.Raw == "" })
}

func hostileCalls() *rapid.Generator[[]qaoa.Call] { return rapid.SliceOfN(hostileCall(), 0, 5) }

// someTools have defaults for the keys that hostile calls use.
var someTools = []qaoa.Tool{
	{Name: "f", Parameters: `{"type":"object","properties":{"a":{"default":1},"b":{"default":"the town"},"a_b":{"default":null},"city":{"default":[]}}}`},
	{Name: "g.1", Parameters: `{"type":"object","properties":{"ab":{"default":true},"a":{}}}`},
}

func anyPreset() *rapid.Generator[Options] {
	arg := paper()
	arg.Flexible = FlexArgMin
	half := paper()
	half.RougeNum, half.RougeDen = 1, 2
	return rapid.SampledFrom(append(presets(), arg, half))
}
