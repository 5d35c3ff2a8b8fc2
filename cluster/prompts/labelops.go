package prompts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// SetLabel makes a label name a version of a prompt, or several, and creates the label if the
// prompt does not have it. Find returned the prompt in the same transaction. It is Malformed for
// an invalid name or shares, and Conflict if ifRevision is neither 0 nor the prompt's revision.
func (s *Set) SetLabel(tx *record.Txn, p *Prompt, l Label, ifRevision uint64) (*Prompt, error) {
	if err := checkOwnLabel(l.Name); err != nil {
		return nil, err
	}
	l.Shares = slices.Clone(l.Shares)
	if err := p.checkShares(l.Shares); err != nil {
		return nil, err
	}
	if err := s.checkNamed(tx, p, l.Shares); err != nil {
		return nil, err
	}
	next := *p
	next.Labels = slices.Clone(p.Labels)
	at, found := p.search(l.Name)
	switch {
	case found:
		next.Labels[at] = l
	case len(next.Labels) >= maxLabels:
		return nil, fault.New(fault.Conflict, "too_many_labels", "The prompt has %d labels, the most that one may have. Delete one of them.", maxLabels)
	default:
		next.Labels = slices.Insert(next.Labels, at, l)
	}
	return s.relabel(tx, p, next, l.Name, ifRevision)
}

// DeleteLabel removes a label of a prompt that Find returned in the same transaction. It is
// NotFound if the prompt does not have it, and Conflict if it is the prompt's default label or
// if ifRevision is neither 0 nor the prompt's revision.
func (s *Set) DeleteLabel(tx *record.Txn, p *Prompt, name string, ifRevision uint64) (*Prompt, error) {
	if err := checkOwnLabel(name); err != nil {
		return nil, err
	}
	at, found := p.search(name)
	switch {
	case !found:
		return nil, noLabel("label")
	case p.DefaultLabel == name:
		return nil, fault.New(fault.Conflict, "label_in_use", "The label is the prompt's default_label. Change default_label first.")
	}
	next := *p
	next.Labels = slices.Delete(slices.Clone(p.Labels), at, at+1)
	return s.relabel(tx, p, next, name, ifRevision)
}

// relabel writes a prompt whose label changed.
func (s *Set) relabel(tx *record.Txn, p *Prompt, next Prompt, label string, ifRevision uint64) (*Prompt, error) {
	made, err := s.heads.Update(tx, p, next, ifRevision)
	if err != nil {
		return nil, err
	}
	tx.Record(event.PromptLabelMoved(p.ID, p.Organization, label, p.shown(label), next.shown(label)))
	return made, nil
}

// shown returns what a label names, as the audit log has it: "5", or "5:90 6:10"; empty if there
// is no such label.
func (p *Prompt) shown(label string) string {
	l, ok := p.Label(label)
	switch {
	case !ok:
		return ""
	case len(l.Shares) == 1:
		return strconv.FormatUint(uint64(l.Shares[0].Version), 10)
	}
	var all []string
	for _, one := range l.Shares {
		all = append(all, strconv.FormatUint(uint64(one.Version), 10)+":"+strconv.FormatUint(uint64(one.Weight), 10))
	}
	return strings.Join(all, " ")
}

// checkOwnLabel checks the name of a label that callers change.
func checkOwnLabel(name string) error {
	if name == LabelLatest {
		return fault.Field("label", "invalid_value", "The gateway keeps the label %s: it always names the latest version. Choose another label.", LabelLatest)
	}
	return checkLabelName("label", name)
}

// checkSettings checks a prompt's default label and protected labels, and sorts the latter.
func (p *Prompt) checkSettings() error {
	if p.DefaultLabel != "" && p.DefaultLabel != LabelLatest {
		if _, ok := p.Label(p.DefaultLabel); !ok {
			return fault.Field("default_label", "prompt_label_not_found", "The prompt has no label %s. Make it with PUT /prompts/{name}/labels/{label} first.", fault.Quote(p.DefaultLabel))
		}
	}
	p.Protected = slices.Clone(p.Protected)
	slices.Sort(p.Protected)
	p.Protected = slices.Compact(p.Protected)
	if len(p.Protected) > maxLabels {
		return fault.Field("protected_labels", "too_long", "protected_labels has more than %d labels.", maxLabels)
	}
	for _, name := range p.Protected {
		if err := checkLabelName("protected_labels", name); err != nil {
			return err
		}
	}
	return nil
}

// IsProtected reports whether only admins of the organization move a label.
func (p *Prompt) IsProtected(label string) bool { return slices.Contains(p.Protected, label) }
