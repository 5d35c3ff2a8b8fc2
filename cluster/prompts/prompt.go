package prompts

import (
	"encoding/binary"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Prompt is the head of a prompt. One that a Set holds is shared: nobody changes it.
type Prompt struct {
	ID           string // a UUID, for good
	Name         string
	Organization id.Organization // empty: it is everybody's
	Latest       uint32          // versions are dense from 1 to it
	record.Meta
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

// Render returns the messages with values in place of the variables; what is not
// given is empty. The error is a *fault.Error where it comes to too much.
func (v *Version) Render(values map[string]any) ([]Message, error) {
	templates, err := v.compile()
	if err != nil {
		return nil, err
	}
	out := make([]Message, len(v.Messages))
	for i, m := range v.Messages {
		text, err := templates[i].Render(values)
		if err != nil {
			return nil, err
		}
		out[i] = Message{Role: m.Role, Content: text}
	}
	return out, nil
}

// compiled returns what reads the templates of messages when they are first used.
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

// indexes of the tables of prompts and their versions.
const (
	promptByName         = 0 // organization, 0, name
	promptByAge          = 1
	promptByOrganization = 2
	promptByNameAlone    = 3

	versionByPrompt = 0
)

func newHeads() *table.Table[Prompt] {
	return table.New(&table.Spec[Prompt]{
		Space:    store.SpacePrompt,
		Key:      func(p *Prompt) []byte { return []byte(p.ID) },
		Revision: func(p *Prompt) uint64 { return p.Revision },
		Encode: func(p *Prompt) proto.Message {
			return &clusterv1.Prompt{Id: p.ID, Name: p.Name, OrganizationId: string(p.Organization), Latest: p.Latest}
		},
		Decode: func(_, value []byte) (*Prompt, error) {
			r := &clusterv1.Prompt{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			return &Prompt{
				ID: r.GetId(), Name: r.GetName(), Organization: id.Organization(r.GetOrganizationId()),
				Latest: r.GetLatest(), Meta: record.MetaOf(r.GetStamp()),
			}, nil
		},
		Indexes: []func(*Prompt) [][]byte{
			promptByName:         func(p *Prompt) [][]byte { return [][]byte{nameKey(p.Organization, p.Name)} },
			promptByAge:          func(p *Prompt) [][]byte { return [][]byte{record.Newest(p.CreatedAt)} },
			promptByOrganization: func(p *Prompt) [][]byte { return [][]byte{[]byte(p.Organization)} },
			promptByNameAlone:    func(p *Prompt) [][]byte { return [][]byte{[]byte(p.Name)} },
		},
	})
}

// nameKey is what a name is unique by.
func nameKey(org id.Organization, name string) []byte { return record.Join(string(org), name) }

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
