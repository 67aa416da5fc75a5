package toolset_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-json"
	"github.com/google/go-cmp/cmp"

	"assay/toolset"
)

func TestFlow(t *testing.T) {
	opt := toolset.AssembleDefaults()
	opt.Protect = []string{"train"}
	_, _, flow := assembled(t, opt,
		plain("ext", "get_weather", "Tells the weather"), plain("ext", "get_weather", "Tells the weather"),
		plain("ext", "now", "Tells the time"), `ext: {"name":"ping"}`, `ext: {"name":"bad","parameters":[1]}`, `ext: {"id":7}`,
		plain("train", "get_weather", "Tells the weather"), plain("train", "send_mail", "Sends a mail"),
	)
	want := toolset.Flow{
		Stages:   []toolset.Stage{"normalise", "exact", "temporal", "empty", "semantic"},
		Elements: 8, Unreadable: 1,
		Origins: []toolset.OriginFlow{
			{Origin: "train", Protected: true, Read: 2, After: []int{2, 2, 2, 2, 2}},
			{Origin: "ext", Read: 5, After: []int{4, 2, 1, 0, 0}},
		},
		Total: toolset.OriginFlow{Origin: "total", Read: 7, After: []int{6, 4, 3, 2, 2}},
		Codes: flow.Codes,
	}
	if d := cmp.Diff(want, flow); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	var b strings.Builder
	if err := flow.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	const table = `
             origin  read  normalise  exact  temporal  empty  semantic     kept
  train (protected)     2          2      2         2      2         2  100.0 %
                ext     5          4      2         1      0         0    0.0 %
              total     7          6      4         3      2         2   28.6 %
1 of 8 elements hold no tool
`
	if d := cmp.Diff(strings.TrimPrefix(table, "\n"), b.String()); d != "" {
		t.Errorf("table: -want +got\n%s", d)
	}
	if data, err := json.Marshal(flow.Codes); err != nil || string(data) != `{"bad_tool":1,"duplicate_tool":2,"empty_schema":1,"temporal_tool":1}` {
		t.Errorf("codes = %s, %v", data, err)
	}
	var svg strings.Builder
	if err := flow.Figure("Pool").WriteSVG(&svg); err != nil || !strings.Contains(svg.String(), "2 of 7 tools are left") || !strings.Contains(svg.String(), "train (protected)") {
		t.Errorf("figure: %v\n%.300s", err, svg.String())
	}
}

func TestFlowOfNothing(t *testing.T) {
	_, _, flow := assembled(t, toolset.AssembleDefaults())
	var b strings.Builder
	if err := flow.Figure("Pool").WriteSVG(&b); err != nil {
		t.Error(err)
	}
	if data, err := json.Marshal(flow); err != nil || !strings.Contains(string(data), `"origins":[]`) {
		t.Errorf("JSON = %s, %v", data, err)
	}
	if flow.Total.Kept() != 0 || (toolset.OriginFlow{Read: 3}).Kept() != 3 {
		t.Error("without a stage all that was read is kept")
	}
}

// The paper's own pool, as its Figure 7 counts it.
func ExampleFlow_WriteText() {
	flow := toolset.Flow{
		Stages: []toolset.Stage{toolset.StageExact, toolset.StageTemporal, toolset.StageEmpty, toolset.StageSemantic},
		Origins: []toolset.OriginFlow{
			{Origin: "train", Protected: true, Read: 30_199, After: []int{30_199, 23_372, 15_078, 15_078}},
			{Origin: "test", Protected: true, Read: 5_113, After: []int{5_113, 3_610, 2_257, 2_257}},
			{Origin: "ToolRet", Read: 31_123, After: []int{25_014, 19_516, 16_603, 4_944}},
			{Origin: "FC-RewardBench", Read: 1_983, After: []int{1_980, 974, 949, 127}},
			{Origin: "MCP-Universe", Read: 119, After: []int{90, 68, 64, 50}},
			{Origin: "mcp.so", Read: 275, After: []int{247, 205, 197, 150}},
		},
		Total: toolset.OriginFlow{Origin: "total", After: make([]int, 4)},
	}
	for _, o := range flow.Origins {
		flow.Total.Read += o.Read
		for s, n := range o.After {
			flow.Total.After[s] += n
		}
	}
	if err := flow.WriteText(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	//             origin   read  exact  temporal  empty  semantic    kept
	//   train (protected)  30199  30199     23372  15078     15078  49.9 %
	//    test (protected)   5113   5113      3610   2257      2257  44.1 %
	//             ToolRet  31123  25014     19516  16603      4944  15.9 %
	//      FC-RewardBench   1983   1980       974    949       127   6.4 %
	//        MCP-Universe    119     90        68     64        50  42.0 %
	//              mcp.so    275    247       205    197       150  54.5 %
	//               total  68812  62643     47745  35148     22606  32.9 %
}
