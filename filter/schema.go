package filter

import "assay/qaoa"

// A SchemaFilter says which tools count as having no parameters.
type SchemaFilter string

// The variants of the rule.
const (
	// Empty: there is no parameter at all. It gives the counts of the paper's
	// Table 5, and is what "" means.
	Empty SchemaFilter = "empty"
	// Metadata: there is none but such as look like parts of a schema or
	// stand-ins: additionalProperties, $schema, dummy, title, random_string,
	// weekly_id, id, type, description. It is what the released script does,
	// and loses tools whose only real parameter has one of these names.
	Metadata SchemaFilter = "metadata"
	// Off: no tool counts as such.
	Off SchemaFilter = "off"
)

// EmptySchema reports whether a tool has no parameters by that variant
// (UniToolCall, appendix A.3): its schema has no properties, is absent or is
// no object. What [Empty] finds, [Metadata] finds too.
func EmptySchema(tool qaoa.Tool, variant SchemaFilter) bool {
	return emptySchema(schemaOf(tool), variant)
}

func emptySchema(schema qaoa.Value, variant SchemaFilter) bool {
	if variant == Off {
		return false
	}
	props, _ := schema.Get("properties")
	for _, p := range props.Members {
		if variant != Metadata || !metadataName(p.Name) {
			return false
		}
	}
	return true
}

func metadataName(name string) bool {
	switch name {
	case "additionalProperties", "$schema", "dummy", "title", "random_string", "weekly_id", "id", "type", "description":
		return true
	}
	return false
}
