package ollama

import (
	"slices"
	"strconv"
	"strings"

	"assay/model"
	"assay/qaoa"
)

// What the server's type for the parameters of a tool holds, and what its type
// for one property holds (v0.24). The values of $defs and items are kept as
// they are; every other keyword is dropped before the template sees it.
var (
	parameterKeywords = []string{"type", "$defs", "items", "required", "properties"}
	propertyKeywords  = []string{"anyOf", "type", "items", "description", "enum", "properties", "required"}
)

// SchemaLoss implements [model.SchemaHolder] by the types of Ollama v0.24;
// older ones lose more.
func (c *Client) SchemaLoss(tool qaoa.Tool) []model.Loss {
	if tool.Parameters == "" {
		return nil
	}
	v, err := tool.Parameters.Value()
	if err != nil || v.Kind != qaoa.Object {
		return []model.Loss{{Keyword: "", Refused: true}}
	}
	var l losses
	for _, m := range v.Members {
		path := "/" + escape(m.Name)
		if !slices.Contains(parameterKeywords, m.Name) {
			l.drop(path, m.Name)
			continue
		}
		if m.Name == "type" && m.Value.Kind != qaoa.String && m.Value.Kind != qaoa.Null {
			l.refuse(path, m.Name)
		}
		l.structure(path, m)
	}
	return l
}

type losses []model.Loss

func (l *losses) drop(path, keyword string) {
	*l = append(*l, model.Loss{Path: path, Keyword: keyword})
}

func (l *losses) refuse(path, keyword string) {
	*l = append(*l, model.Loss{Path: path, Keyword: keyword, Refused: true})
}

// structure looks at a keyword that is kept, and at the schemas below it.
func (l *losses) structure(path string, m qaoa.Member) {
	kind := m.Value.Kind
	if kind == qaoa.Null {
		return
	}
	switch m.Name {
	case "required":
		if kind != qaoa.Array || slices.ContainsFunc(m.Value.Items, func(v qaoa.Value) bool { return v.Kind != qaoa.String }) {
			l.refuse(path, m.Name)
		}
	case "enum":
		if kind != qaoa.Array {
			l.refuse(path, m.Name)
		}
	case "description":
		if kind != qaoa.String {
			l.refuse(path, m.Name)
		}
	case "properties":
		if kind != qaoa.Object {
			l.refuse(path, m.Name)
		}
		for _, p := range m.Value.Members {
			l.property(path+"/"+escape(p.Name), p.Value)
		}
	case "anyOf":
		if kind != qaoa.Array {
			l.refuse(path, m.Name)
		}
		for i, p := range m.Value.Items {
			l.property(path+"/"+strconv.Itoa(i), p)
		}
	}
}

// property looks at the schema of one property.
func (l *losses) property(path string, v qaoa.Value) {
	if v.Kind != qaoa.Object {
		l.refuse(path, path[strings.LastIndexByte(path, '/')+1:])
		return
	}
	for _, m := range v.Members {
		at := path + "/" + escape(m.Name)
		if !slices.Contains(propertyKeywords, m.Name) {
			l.drop(at, m.Name)
			continue
		}
		if m.Name == "type" && m.Value.Kind != qaoa.String && m.Value.Kind != qaoa.Array {
			l.refuse(at, m.Name)
		}
		l.structure(at, m)
	}
}

// escape writes a name as a part of a JSON Pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
