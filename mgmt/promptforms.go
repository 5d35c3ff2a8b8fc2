package mgmt

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// ordered returns the value of a field of ordered JSON; nil if it is not given.
func ordered(in *gatewayv1.Json) (jsontext.Value, error) {
	if in == nil {
		return nil, nil
	}
	v := jsontext.Value(in.GetText())
	if v.Kind() == 'n' {
		return nil, nil
	}
	return v, v.Compact()
}

// showOrdered is the reverse of ordered.
func showOrdered(v jsontext.Value) *gatewayv1.Json {
	if v == nil {
		return nil
	}
	return &gatewayv1.Json{Text: string(v)}
}

func messagesOf(in []*gatewayv1.PromptMessage) ([]prompts.Message, error) {
	out := make([]prompts.Message, len(in))
	for i, m := range in {
		out[i] = prompts.Message{Role: m.GetRole(), Name: m.GetName()}
		content, err := ordered(m.GetContent())
		switch {
		case err != nil:
			return nil, err
		case content.Kind() != '"':
			out[i].Parts = content
		default:
			if err := json.Unmarshal(content, &out[i].Content); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func showMessage(m prompts.Message) *gatewayv1.PromptMessage {
	out := &gatewayv1.PromptMessage{Role: m.Role, Name: given(m.Name), Content: showOrdered(m.Parts)}
	if m.Parts == nil && m.Role != prompts.RolePlaceholder {
		quoted, _ := jsontext.AppendQuote(nil, m.Content) // a stored text is UTF-8
		out.Content = showOrdered(quoted)
	}
	return out
}

// configOf reads the parameters of a prompt.
func configOf(in *gatewayv1.PromptConfig) (prompts.Config, error) {
	if in == nil {
		return nil, nil
	}
	m, object := in.ProtoReflect(), []byte{'{'}
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if f.Name() == "enforce" || !m.Has(f) {
			continue
		}
		v, err := configValue(f, m.Get(f))
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(append(strconv.AppendQuote(object, string(f.Name())), ':'), v...)
	}
	return prompts.ParseConfig("config", append(object, '}'), in.GetEnforce())
}

// configValue returns the JSON of one parameter.
func configValue(f protoreflect.FieldDescriptor, v protoreflect.Value) (jsontext.Value, error) {
	if f.IsMap() {
		texts := map[string]string{}
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			texts[k.String()] = v.String()
			return true
		})
		return json.Marshal(texts, json.Deterministic(true))
	}
	if f.Message() != nil {
		one, _ := v.Message().Interface().(*gatewayv1.Json)
		return ordered(one)
	}
	return json.Marshal(v.Interface())
}

// showConfig is the reverse of configOf.
func showConfig(c prompts.Config) (*gatewayv1.PromptConfig, error) {
	if len(c) == 0 {
		return nil, nil
	}
	out := &gatewayv1.PromptConfig{}
	m := out.ProtoReflect()
	for _, s := range c {
		f := m.Descriptor().Fields().ByName(protoreflect.Name(s.Name))
		if f == nil {
			return nil, fault.New(fault.Internal, "", "The API has no field for %s of a config.", s.Name)
		}
		if s.Enforced {
			out.Enforce = append(out.GetEnforce(), s.Name)
		}
		if f.IsMap() {
			if err := json.Unmarshal(s.Value, &out.Metadata); err != nil {
				return nil, err
			}
			continue
		}
		v, err := shownConfigValue(f, s.Value)
		if err != nil {
			return nil, err
		}
		m.Set(f, v)
	}
	return out, nil
}

func shownConfigValue(f protoreflect.FieldDescriptor, v jsontext.Value) (out protoreflect.Value, err error) {
	switch f.Kind() { //nolint:exhaustive // the message has no others
	case protoreflect.MessageKind:
		return protoreflect.ValueOfMessage(showOrdered(v).ProtoReflect()), nil
	case protoreflect.DoubleKind:
		n, err := strconv.ParseFloat(string(v), 64)
		return protoreflect.ValueOfFloat64(n), err
	case protoreflect.Int32Kind:
		n, err := strconv.ParseInt(string(v), 10, 32)
		return protoreflect.ValueOfInt32(int32(n)), err
	}
	var text string
	err = json.Unmarshal(v, &text)
	return protoreflect.ValueOfString(text), err
}

// showPrompt returns a version of a prompt in the form of the API.
func showPrompt(p *prompts.Prompt, v *prompts.Version) (*gatewayv1.PromptRecord, error) {
	out := &gatewayv1.PromptRecord{
		PromptId: p.ID, PromptName: p.Name, Variables: v.Variables, VariableSchema: showOrdered(v.Schema),
		Version: v.Number, IsLatest: v.Number == p.Latest, Org: textOrNull(string(p.Organization)), VersionsCount: p.Latest,
		Labels: p.LabelsOf(v.Number), DefaultLabel: textOrNull(p.DefaultLabel), ProtectedLabels: p.Protected,
		CreatedAt: moment(v.CreatedAt), CreatedBy: v.CreatedBy, Revision: float64(p.Revision),
	}
	for _, m := range v.Messages {
		out.Messages = append(out.GetMessages(), showMessage(m))
	}
	var err error
	out.Config, err = showConfig(v.Config)
	return out, err
}

// promptRecord shows a version of a prompt unless there was an error.
func promptRecord(p *prompts.Prompt, v *prompts.Version, err error) (*gatewayv1.PromptRecord, error) {
	if err != nil {
		return nil, err
	}
	return showPrompt(p, v)
}
