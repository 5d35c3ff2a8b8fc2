package mgmt

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pmezard/go-difflib/difflib"

	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// DiffPrompt shows what differs between two versions of a prompt.
func (s promptService) DiffPrompt(ctx context.Context, in *gatewayv1.DiffPromptRequest) (*gatewayv1.PromptDiff, error) {
	set, p, err := s.find(ctx, in.GetPromptId())
	if err != nil {
		return nil, err
	}
	to, err := set.Version(p, uint32(in.GetTo()))
	if err != nil {
		return nil, field.Named("to", err)
	}
	from, err := set.Version(p, uint32(orElse(in.From, int32(max(to.Number, 2)-1))))
	if err != nil {
		return nil, field.Named("from", err)
	}
	out := &gatewayv1.PromptDiff{PromptId: p.ID, PromptName: p.Name, From: from.Number, To: to.Number}
	if out.Changes, err = changesOf(from, to); err != nil {
		return nil, err
	}
	name := func(v *prompts.Version) string { return fmt.Sprintf("%s@%d", p.Name, v.Number) }
	const context = 3 // lines around a difference
	out.Text, err = difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(versionText(from)), B: difflib.SplitLines(versionText(to)), FromFile: name(from), ToFile: name(to), Context: context,
	})
	return out, err
}

// changesOf returns the fields that differ between two versions.
func changesOf(from, to *prompts.Version) ([]*gatewayv1.PromptChange, error) {
	var out []*gatewayv1.PromptChange
	add := func(name string, before, after jsontext.Value) {
		if string(before) != string(after) {
			out = append(out, &gatewayv1.PromptChange{Field: name, From: showOrdered(before), To: showOrdered(after)})
		}
	}
	for i := range max(len(from.Messages), len(to.Messages)) {
		before, err := messageJSON(from.Messages, i)
		if err != nil {
			return nil, err
		}
		after, err := messageJSON(to.Messages, i)
		if err != nil {
			return nil, err
		}
		add(fmt.Sprintf("messages[%d]", i), before, after)
	}
	before, err := json.Marshal(from.Variables)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(to.Variables)
	if err != nil {
		return nil, err
	}
	add("variables", before, after)
	for _, name := range prompts.ConfigMembers() {
		one, _ := from.Config.Get(name)
		other, _ := to.Config.Get(name)
		add("config."+name, one.Value, other.Value)
	}
	add("config.enforce", enforceJSON(from.Config), enforceJSON(to.Config))
	add("variable_schema", from.Schema, to.Schema)
	return out, nil
}

// messageJSON returns a message of a version; nil if there is none.
func messageJSON(all []prompts.Message, i int) (jsontext.Value, error) {
	if i >= len(all) {
		return nil, nil
	}
	m := struct {
		Role    string         `json:"role"`
		Name    string         `json:"name,omitempty"`
		Content jsontext.Value `json:"content,omitempty"`
	}{Role: all[i].Role, Name: all[i].Name}
	if content := showMessage(all[i]).GetContent(); content != nil {
		m.Content = jsontext.Value(content.GetText())
	}
	return json.Marshal(m)
}

// enforceJSON returns the names of the enforced members; nil for none.
func enforceJSON(c prompts.Config) jsontext.Value {
	var names []string
	for _, s := range c {
		if s.Enforced {
			names = append(names, `"`+s.Name+`"`)
		}
	}
	if names == nil {
		return nil
	}
	return jsontext.Value("[" + strings.Join(names, ",") + "]")
}

// versionText returns the content of a version as lines for people.
func versionText(v *prompts.Version) string {
	var b strings.Builder
	for _, s := range v.Config {
		enforced := ""
		if s.Enforced {
			enforced = " (enforced)"
		}
		fmt.Fprintf(&b, "%s: %s%s\n", s.Name, s.Value, enforced)
	}
	if len(v.Variables) > 0 {
		fmt.Fprintf(&b, "variables: %s\n", strings.Join(v.Variables, ", "))
	}
	if v.Schema != nil {
		fmt.Fprintf(&b, "variable_schema: %s\n", v.Schema)
	}
	for _, m := range v.Messages {
		fmt.Fprintf(&b, "[%s]\n", strings.TrimSpace(m.Role+" "+m.Name))
		if m.Role != prompts.RolePlaceholder {
			b.WriteString(m.Content + string(m.Parts) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n") // the library ends the last line
}
