package prompts

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// Fields of requests to models that name a prompt. Errors of Resolve and Compose name them.
const (
	FieldID        = "prompt_id"
	FieldVersion   = "prompt_version"
	FieldLabel     = "prompt_label"
	FieldVariables = "prompt_variables"
)

// Choice is the version that a request gets.
type Choice struct {
	Prompt  *Prompt
	Version *Version
	Label   string // that named the version; empty if none did

	user string // that decides among the versions of split labels
}

// Resolve returns the prompt that a request names by id or name, and the version that it gets:
// the one with a number, or that of a label, or without both (0 and empty) that of the default
// label or else the latest. user decides among the versions of a label that is split: requests
// with the same one get the same version.
//
// The error is a *fault.Error with the code prompt_not_found (the same text for prompts that
// reader may not see), prompt_version_not_found or prompt_label_not_found, or Malformed for a
// version and a label.
func (s *Set) Resolve(reader resource.Who, ref string, version uint32, label, user string) (Choice, error) {
	if version != 0 && label != "" {
		return Choice{}, fault.Field(FieldLabel, "invalid_value", "%s and %s are both given. Send one of them.", FieldVersion, FieldLabel)
	}
	p, err := s.Find(nil, FieldID, ref, reader)
	if err != nil {
		return Choice{}, err
	}
	if version == 0 {
		if label == "" {
			label = p.DefaultLabel
		}
		if version, err = p.labelled(label, user); err != nil {
			return Choice{}, err
		}
	}
	v, err := s.version(FieldVersion, p, version)
	return Choice{p, v, label, user}, err
}

// labelled returns the version that a label names for a user; no label means the latest.
func (p *Prompt) labelled(label, user string) (uint32, error) {
	if label == "" || label == LabelLatest {
		return p.Latest, nil
	}
	l, ok := p.Label(label)
	if !ok {
		return 0, noLabel(FieldLabel)
	}
	return l.Pick(p.ID, user), nil
}

func noLabel(param string) error {
	return &fault.Error{Kind: fault.NotFound, Code: "prompt_label_not_found", Param: param, Detail: "The prompt has no such label; GET /prompts/{prompt_id}/labels lists those that it has."}
}
