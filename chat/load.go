package chat

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-json"
)

// maxTemplateFile is how large a file with a template may be.
const maxTemplateFile = 32 << 20

// A config is what tokenizer_config.json holds, as far as templates need it.
type config struct {
	ChatTemplate json.RawMessage `json:"chat_template"`
}

// Load reads a template from path: a tokenizer_config.json, whose chat_template
// is a text or a list of named ones, a file that is the template itself
// (chat_template.jinja), or a folder that holds either; the template file goes
// first, as in transformers, and the special tokens come from
// tokenizer_config.json. Of several templates, name says which; "" is
// tool_use if it exists, else default.
func Load(path, name string) (*Template, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return loadFile(path, name)
	}
	vars := Vars{}
	configPath := filepath.Join(path, "tokenizer_config.json")
	data, err := readBounded(configPath)
	switch {
	case err == nil:
		if vars, err = specialTokens(data); err != nil {
			return nil, fmt.Errorf("%s: %w", configPath, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	source, err := readBounded(filepath.Join(path, "chat_template.jinja"))
	if errors.Is(err, fs.ErrNotExist) {
		return loadFile(configPath, name)
	}
	if err != nil {
		return nil, err
	}
	return ParseJinja(filepath.Base(path), string(source), vars)
}

func loadFile(path, name string) (*Template, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	label := filepath.Base(path)
	if text := bytes.TrimSpace(data); !strings.HasSuffix(path, ".json") && (len(text) == 0 || text[0] != '{' || !json.Valid(text)) {
		return ParseJinja(label, string(data), Vars{})
	}
	var c config
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("%s: want a JSON object: %w", path, err)
	}
	source, err := choose(c.ChatTemplate, name)
	if err != nil {
		return nil, fmt.Errorf("%s: /chat_template: %w", path, err)
	}
	vars, err := specialTokens(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ParseJinja(label, source, vars)
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxTemplateFile {
		return nil, fmt.Errorf("%s: want a file of at most %d bytes, have %d", path, maxTemplateFile, info.Size())
	}
	return os.ReadFile(path)
}

// choose returns the source of the template of that name.
func choose(raw json.RawMessage, name string) (string, error) {
	text := bytes.TrimSpace(raw)
	if len(text) == 0 || string(text) == "null" {
		return "", errNoTemplate
	}
	if text[0] == '"' {
		var source string
		err := json.Unmarshal(text, &source)
		return source, err
	}
	var list []struct{ Name, Template string }
	if err := json.Unmarshal(text, &list); err != nil {
		return "", fmt.Errorf("want a text, or a list of {\"name\", \"template\"}: %w", err)
	}
	wanted := []string{name}
	if name == "" {
		wanted = []string{"tool_use", "default"}
	}
	var names []string
	for _, w := range wanted {
		for _, t := range list {
			if t.Name == w {
				return t.Template, nil
			}
		}
	}
	for _, t := range list {
		names = append(names, t.Name)
	}
	return "", fmt.Errorf("want a template named %s, have %s", strings.Join(wanted, " or "), strings.Join(names, ", "))
}

// specialTokens returns the members of tokenizer_config.json that end in _token:
// texts, or objects with a content.
func specialTokens(data []byte) (Vars, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return nil, fmt.Errorf("want a JSON object: %w", err)
	}
	vars := Vars{}
	for name, raw := range members {
		if !strings.HasSuffix(name, "_token") {
			continue
		}
		var text string
		var token struct{ Content *string }
		if json.Unmarshal(raw, &text) == nil {
			if string(bytes.TrimSpace(raw)) != "null" {
				vars[name] = text
			}
		} else if json.Unmarshal(raw, &token) == nil && token.Content != nil {
			vars[name] = *token.Content
		}
	}
	return vars, nil
}
