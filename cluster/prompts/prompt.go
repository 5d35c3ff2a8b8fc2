package prompts

import (
	"encoding/binary"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Prompt is a prompt without its versions. Nobody changes one that is in a Set, because it is
// shared.
type Prompt struct {
	resource.Head
	Latest uint32 // the versions are 1 to Latest
}

// Version is one version of a prompt. It never changes.
type Version struct {
	Prompt    string
	Number    uint32
	Messages  []Message
	Variables []string
	record.Meta

	compile func() ([]*template.Template, error) // once
}

// Message is one message of a template.
type Message struct {
	Role    string
	Content string
}

// Render returns the messages with values in place of the variables. Variables without a value
// are empty. Prompts that the templates include come from resolve. The error is a *fault.Error
// if the result is too large.
func (v *Version) Render(values template.Values, resolve template.Resolver) ([]Message, error) {
	templates, err := v.compile()
	if err != nil {
		return nil, err
	}
	out := make([]Message, len(v.Messages))
	for i, m := range v.Messages {
		text, err := templates[i].Render(values, resolve)
		if err != nil {
			return nil, err
		}
		out[i] = Message{Role: m.Role, Content: text}
	}
	return out, nil
}

// compiled returns a function that parses the templates of messages on its first call.
func compiled(messages []Message) func() ([]*template.Template, error) {
	return sync.OnceValues(func() ([]*template.Template, error) {
		out := make([]*template.Template, len(messages))
		for i, m := range messages {
			var err error
			if out[i], err = template.Parse(m.Content); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// versionByPrompt is the index of the table of versions.
const versionByPrompt = 0

func newHeads() *heads {
	return resource.New(&resource.Kind[Prompt]{
		Noun: "prompt", Records: store.SpacePrompt, Names: store.SpacePromptName,
		Taken: "Choose another name, or make its next version with PUT /prompts/{name}.",
		Head:  func(p *Prompt) *resource.Head { return &p.Head },
		Encode: func(p *Prompt) proto.Message {
			return &clusterv1.Prompt{Id: p.ID, Name: p.Name, OrganizationId: string(p.Organization), Latest: p.Latest}
		},
		Decode: func(value []byte) (*Prompt, error) {
			r := &clusterv1.Prompt{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			return &Prompt{resource.Head{
				ID: r.GetId(), Name: r.GetName(), Organization: id.Organization(r.GetOrganizationId()), Meta: record.MetaOf(r.GetStamp()),
			}, r.GetLatest()}, nil
		},
	})
}

func versionKey(prompt string, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(prompt), 0), number)
}

func newVersions() *table.Table[Version] {
	return table.New(&table.Spec[Version]{
		Space:    store.SpacePromptVersion,
		Key:      func(v *Version) []byte { return versionKey(v.Prompt, v.Number) },
		Revision: func(v *Version) uint64 { return v.Revision },
		Encode: func(v *Version) proto.Message {
			r := &clusterv1.PromptVersion{PromptId: v.Prompt, Version: v.Number, Variables: v.Variables}
			for _, m := range v.Messages {
				r.Messages = append(r.GetMessages(), &clusterv1.PromptMessage{Role: m.Role, Content: m.Content})
			}
			return r
		},
		Decode: func(_, value []byte) (*Version, error) {
			r := &clusterv1.PromptVersion{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			v := &Version{Prompt: r.GetPromptId(), Number: r.GetVersion(), Variables: r.GetVariables(), Meta: record.MetaOf(r.GetStamp())}
			for _, m := range r.GetMessages() {
				v.Messages = append(v.Messages, Message{Role: m.GetRole(), Content: m.GetContent()})
			}
			v.compile = compiled(v.Messages)
			return v, nil
		},
		Indexes: []func(*Version) [][]byte{
			versionByPrompt: func(v *Version) [][]byte { return [][]byte{[]byte(v.Prompt)} },
		},
	})
}
