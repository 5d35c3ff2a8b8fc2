package prompts

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Prompt is a prompt without its versions. Nobody changes one that is in a Set, because it is
// shared.
type Prompt struct {
	resource.Head
	Latest       uint32   // the versions are 1 to Latest
	Labels       []Label  // sorted by name
	DefaultLabel string   // of requests that name neither a label nor a version; empty for none
	Protected    []string // labels that only admins of the organization move, sorted
}

// Content is what a version has, apart from its number and its author.
type Content struct {
	Messages  []Message
	Variables []string       // names
	Config    Config         // nil for none
	Schema    jsontext.Value // JSON Schema of the variables; nil for none
}

// Version is one version of a prompt. It never changes.
type Version struct {
	Prompt string
	Number uint32
	Content
	record.Meta

	compiled atomic.Pointer[program] // nil before the first use
	packed   *packed                 // what it was read from; nil for one that is new
	open     *openVersions
}

// Message is one message of a template.
type Message struct {
	Role    string         // RolePlaceholder for one that stands for other messages
	Content string         // a template; empty if there are Parts
	Parts   jsontext.Value // a JSON list of parts, whose texts are templates; nil for a text
	Name    string         // of a placeholder: a variable with messages, or CallerMessages
}

// Names with a meaning of their own.
const (
	RolePlaceholder = "placeholder"
	CallerMessages  = "messages" // the placeholder for the messages of the request
	LabelLatest     = "latest"   // the label that always names the latest version
)

func newHeads() *heads {
	return resource.New(&resource.Kind[Prompt]{
		Noun: "prompt", Records: store.SpacePrompt, Names: store.SpacePromptName,
		Taken:    "Choose another name, or make its next version with PUT /prompts/{name}.",
		Enforced: true,
		Head:     func(p *Prompt) *resource.Head { return &p.Head },
		Encode:   func(p *Prompt) proto.Message { return p.record() },
		Decode:   decodePrompt,
	})
}

func (p *Prompt) record() *clusterv1.Prompt {
	out := &clusterv1.Prompt{
		Id: p.ID, Name: p.Name, OrganizationId: string(p.Organization), Latest: p.Latest,
		DefaultLabel: p.DefaultLabel, ProtectedLabels: p.Protected,
	}
	for _, l := range p.Labels {
		one := &clusterv1.PromptLabel{Name: l.Name}
		for _, s := range l.Shares {
			one.Shares = append(one.GetShares(), &clusterv1.PromptShare{Version: s.Version, Weight: s.Weight})
		}
		out.Labels = append(out.GetLabels(), one)
	}
	return out
}

func decodePrompt(value []byte) (*Prompt, error) {
	r := &clusterv1.Prompt{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	p := &Prompt{
		Head:   resource.Head{ID: r.GetId(), Name: r.GetName(), Organization: id.Organization(r.GetOrganizationId()), Meta: record.MetaOf(r.GetStamp())},
		Latest: r.GetLatest(), DefaultLabel: r.GetDefaultLabel(), Protected: r.GetProtectedLabels(),
	}
	for _, l := range r.GetLabels() {
		one := Label{Name: l.GetName()}
		for _, s := range l.GetShares() {
			one.Shares = append(one.Shares, Share{Version: s.GetVersion(), Weight: s.GetWeight()})
		}
		p.Labels = append(p.Labels, one)
	}
	return p, nil
}

func versionKey(prompt string, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(prompt), 0), number)
}

func versionRecord(prompt string, number uint32) record.At {
	return record.At{Space: store.SpacePromptVersion, Key: versionKey(prompt, number)}
}

func (v *Version) record() *clusterv1.PromptVersion {
	r := &clusterv1.PromptVersion{
		PromptId: v.Prompt, Version: v.Number, Variables: v.Variables, VariableSchemaJson: string(v.Schema),
		ConfigJson: string(v.Config.Object()), Enforced: v.Config.enforced(),
	}
	for _, m := range v.Messages {
		r.Messages = append(r.GetMessages(), &clusterv1.PromptMessage{Role: m.Role, Content: m.Content, PartsJson: string(m.Parts), Name: m.Name})
	}
	return r
}

// decodeVersion reads the record of a version, perhaps without its key.
func decodeVersion(value []byte) (*Version, error) {
	r := &clusterv1.PromptVersion{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	v := &Version{Prompt: r.GetPromptId(), Number: r.GetVersion(), Meta: record.MetaOf(r.GetStamp())}
	v.Variables, v.Schema = r.GetVariables(), jsonOrNil(r.GetVariableSchemaJson())
	v.Messages = make([]Message, len(r.GetMessages()))
	for i, m := range r.GetMessages() {
		v.Messages[i] = Message{Role: m.GetRole(), Content: m.GetContent(), Parts: jsonOrNil(m.GetPartsJson()), Name: m.GetName()}
	}
	if r.GetConfigJson() == "" {
		return v, nil
	}
	var err error
	v.Config, err = ParseConfig("config", jsontext.Value(r.GetConfigJson()), r.GetEnforced())
	return v, err
}

// jsonOrNil returns a stored JSON text; nil if there is none.
func jsonOrNil(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	return jsontext.Value(text)
}
