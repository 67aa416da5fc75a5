package toolset_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"assay/qaoa"
	"assay/toolset"
)

// world is a random pool with records over it.
type world struct {
	pool []qaoa.Tool
	recs []qaoa.Record
	opt  toolset.Options
}

func genWorld(t *rapid.T) world {
	words := strings.Fields("get set find weather flight mail user price city book list")
	var w world
	for i := range rapid.IntRange(1, 60).Draw(t, "tools") {
		name := rapid.SampledFrom(words).Draw(t, "verb") + "_" + rapid.SampledFrom(words).Draw(t, "noun")
		if rapid.Bool().Draw(t, "numbered") {
			name += fmt.Sprint(i)
		}
		desc := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(t, "description"), " ")
		w.pool = append(w.pool, tool(name, desc))
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "records") {
		own := rapid.SliceOfN(rapid.SampledFrom(w.pool), 1, 6).Draw(t, "own")
		rec := record(fmt.Sprintf("src/%d", i), rapid.SampledFrom(words).Draw(t, "query"), own)
		for range rapid.IntRange(0, 4).Draw(t, "calls") {
			rec.Turns[0].Steps = append(rec.Turns[0].Steps, call(rapid.SampledFrom(own).Draw(t, "called").Name))
		}
		w.recs = append(w.recs, rec)
	}
	w.opt = options(rapid.IntRange(1, 12).Draw(t, "k"), 0)
	w.opt.Easy = rapid.IntRange(0, w.opt.K).Draw(t, "easy")
	w.opt.SameName = rapid.Bool().Draw(t, "same name")
	w.opt.Negatives = rapid.SampledFrom([]toolset.Negatives{toolset.ToTool, toolset.ToQuery}).Draw(t, "negatives")
	w.opt.Compat = rapid.SampledFrom([]toolset.Compat{toolset.Shuffled, toolset.Reference}).Draw(t, "compat")
	w.opt.Seed = rapid.Uint64().Draw(t, "seed")
	return w
}

func lists(t *rapid.T, pool *toolset.Pool, opt toolset.Options, recs ...qaoa.Record) map[string]toolset.Listed {
	out := map[string]toolset.Listed{}
	for l, err := range toolset.Build(context.Background(), seqOf(recs...), pool, opt) {
		if err != nil {
			t.Fatal(err)
		}
		out[l.Record.ID] = l
	}
	return out
}

// What the doc comment of Build promises, on random pools and records.
func TestBuildProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		pool, _, err := toolset.NewPool(seqOf(w.pool...), letters)
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range w.recs {
			l := lists(t, pool, w.opt, rec)[rec.ID]
			list := l.Record.Tools
			var gold []qaoa.Tool
			for _, i := range l.Info.Gold {
				gold = append(gold, list[i])
			}
			for _, c := range rec.Calls() {
				if !slices.ContainsFunc(gold, func(g qaoa.Tool) bool { return g.Name == c.Name }) {
					t.Fatalf("no gold tool %s on %s", c.Name, names(list))
				}
			}
			if len(l.Info.Gold)+len(l.Info.Hard)+len(l.Info.Easy) != len(list) {
				t.Fatalf("roles %+v do not make up %d tools", l.Info, len(list))
			}
			if len(list) > max(w.opt.K, len(gold)) || len(list) < w.opt.K && !l.Info.Short {
				t.Fatalf("%d tools of %d, info %+v", len(list), w.opt.K, l.Info)
			}
			if l.Info.NoGold {
				continue
			}
			for _, i := range slices.Concat(l.Info.Hard, l.Info.Easy) {
				for j, other := range list {
					if i != j && (toolset.Key(list[i]) == toolset.Key(other) || !w.opt.SameName && letters(list[i].Name) == letters(other.Name)) {
						t.Fatalf("distractor %d clashes with tool %d of %s", i, j, names(list))
					}
				}
			}
			if l.Info.Short && !w.opt.SameName {
				for p := range pool.Tools() {
					if !slices.ContainsFunc(list, func(o qaoa.Tool) bool { return letters(o.Name) == letters(p.Name) }) {
						t.Fatalf("list is short, but %s was left", p.Name)
					}
				}
			}
		}
	})
}

func TestSameListsInAnyOrderAndWithAnyWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		pool, _, err := toolset.NewPool(seqOf(w.pool...), letters)
		if err != nil {
			t.Fatal(err)
		}
		w.opt.Workers = 1
		want := lists(t, pool, w.opt, w.recs...)
		w.opt.Workers = rapid.IntRange(2, 5).Draw(t, "workers")
		shuffled := rapid.Permutation(w.recs).Draw(t, "order")
		if d := cmp.Diff(want, lists(t, pool, w.opt, shuffled...)); d != "" {
			t.Fatalf("lists depend on order or workers: %s", d)
		}
		for _, rec := range w.recs {
			if d := cmp.Diff(want[rec.ID], lists(t, pool, w.opt, rec)[rec.ID]); d != "" {
				t.Fatalf("the list of %s depends on other records: %s", rec.ID, d)
			}
		}
	})
}
