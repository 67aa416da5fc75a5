package model_test

import (
	"context"
	"testing"

	"assay/model"
)

type plain struct{}

func (plain) Chat(context.Context, model.Request) (model.Reply, error) { return model.Reply{}, nil }
func (plain) Notes() []string                                          { return []string{"hi"} }

type wrapper struct{ model.Chatter }

func (w wrapper) Unwrap() model.Chatter { return w.Chatter }

func TestAs(t *testing.T) {
	type noter interface{ Notes() []string }
	tests := []struct {
		name string
		c    model.Chatter
		want bool
	}{
		{"the model itself", plain{}, true},
		{"below two wrappers", wrapper{wrapper{plain{}}}, true},
		{"a wrapper of nothing", wrapper{}, false},
		{"nothing", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, ok := model.As[noter](tt.c)
			if ok != tt.want || ok && n.Notes()[0] != "hi" {
				t.Errorf("As = %v, %t; want %t", n, ok, tt.want)
			}
		})
	}
	if _, ok := model.As[model.Prober](wrapper{plain{}}); ok {
		t.Error("found a Prober where there is none")
	}
}
