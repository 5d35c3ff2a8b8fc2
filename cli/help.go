package cli

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// schema is what the help reads of a schema of the API's document.
type schema struct {
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Ref         string            `json:"$ref"`
	AnyOf       []schema          `json:"anyOf"`
	OneOf       []schema          `json:"oneOf"`
}

// document is what the help reads of the API's document.
type document struct {
	Paths map[string]map[string]struct {
		Summary     string `json:"summary"`
		Description string `json:"description"`
		Parameters  []struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		} `json:"parameters"`
		RequestBody struct {
			Content map[string]struct {
				Schema schema `json:"schema"`
			} `json:"content"`
		} `json:"requestBody"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

// help says what the command does and what its flags mean, from the document.
func (c *command) help(cmd *cobra.Command) {
	var doc document
	if err := json.Unmarshal(c.cfg.Document(), &doc); err == nil {
		path, _, _ := strings.Cut(c.op.route.Path, "=**")
		if path != c.op.route.Path {
			path += "}"
		}
		op := doc.Paths[path][strings.ToLower(c.op.route.Method)]
		cmd.Long = strings.TrimSpace(op.Description)
		if cmd.Long == "" {
			cmd.Long = op.Summary
		}
		texts := map[string]string{}
		for _, p := range op.Parameters {
			texts[p.Name] = p.Description
		}
		for _, content := range op.RequestBody.Content {
			doc.describe(content.Schema, "", texts)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if v, ok := c.values[f.Name]; ok {
				f.Usage = strings.ReplaceAll(texts[pathOf(v.field)], "`", "'")
			}
		})
	}
	text := cmd.Long
	if text != "" {
		text += "\n\n"
	}
	_, _ = fmt.Fprint(cmd.OutOrStdout(), text, cmd.UsageString())
}

func pathOf(f field) string {
	names := make([]string, len(f.path))
	for i, n := range f.path {
		names[i] = string(n)
	}
	return strings.Join(names, ".")
}

// describe collects what fields mean, by their paths.
func (d *document) describe(s schema, at string, texts map[string]string) {
	s = d.resolve(s)
	for name, p := range s.Properties {
		texts[at+name] = p.Description
		inner := d.resolve(p)
		if texts[at+name] == "" {
			texts[at+name] = inner.Description
		}
		if at == "" {
			d.describe(inner, name+".", texts)
		}
	}
}

// resolve follows references, through what else a value may be, such as null.
func (d *document) resolve(s schema) schema {
	for range 4 { // the document has chains of one
		switch {
		case s.Ref != "":
			s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
		case len(s.AnyOf) > 0:
			s = s.AnyOf[0]
		case len(s.OneOf) > 0:
			s = s.OneOf[0]
		default:
			return s
		}
	}
	return s
}
