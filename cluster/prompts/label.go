package prompts

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Label names the version that requests with the label get. With several shares, each request
// gets one of their versions.
type Label struct {
	Name   string
	Shares []Share // by version; at least one, with a weight above 0
}

// Share is the part of a label's requests that get one version.
type Share struct {
	Version uint32
	Weight  uint32 // relative to the sum of all
}

// Bounds of labels.
const (
	maxLabels    = 50
	maxShares    = 10
	maxWeight    = 1_000_000
	maxLabelName = 64
)

// Pick returns the version of a label for one user. It depends on nothing but the prompt's id,
// the label and who, so a user gets the same version for every request and on every node, and
// another label or prompt splits the users independently. If the weights change, only users of
// versions whose shares shrink get another version.
func (l *Label) Pick(prompt, who string) uint32 {
	if len(l.Shares) == 1 {
		return l.Shares[0].Version
	}
	var total uint64
	for _, s := range l.Shares {
		total += uint64(s.Weight)
	}
	text := make([]byte, 0, len(prompt)+len(l.Name)+len(who)+2)
	text = append(append(append(text, prompt...), 0), l.Name...)
	text = append(append(text, 0), who...)
	sum := sha256.Sum256(text)
	at, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:]), total) // from 0 to total, evenly
	for _, s := range l.Shares {
		if at < uint64(s.Weight) {
			return s.Version
		}
		at -= uint64(s.Weight)
	}
	return l.Shares[len(l.Shares)-1].Version
}

// Label returns the label with a name.
func (p *Prompt) Label(name string) (*Label, bool) {
	i, ok := p.search(name)
	if !ok {
		return nil, false
	}
	return &p.Labels[i], true
}

// search returns the place of a label among the labels, and whether it is there.
func (p *Prompt) search(name string) (int, bool) {
	return slices.BinarySearchFunc(p.Labels, name, func(l Label, name string) int { return strings.Compare(l.Name, name) })
}

// LabelsOf returns the names of the labels that name a version, the one that the gateway keeps
// included.
func (p *Prompt) LabelsOf(version uint32) []string {
	var out []string
	if version == p.Latest {
		out = append(out, LabelLatest)
	}
	for _, l := range p.Labels {
		if slices.ContainsFunc(l.Shares, func(s Share) bool { return s.Version == version }) {
			out = append(out, l.Name)
		}
	}
	return out
}

// checkLabelName checks the name of a label. The error is a *fault.Error of param.
func checkLabelName(param, name string) error {
	valid := name != "" && len(name) <= maxLabelName && name[0] != '-' && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	})
	switch {
	case !valid:
		return fault.Field(param, "invalid_value", "A label has 1 to %d of the characters a-z, 0-9, _, - and ., and begins with a letter, a digit or _.", maxLabelName)
	case strings.Trim(name, "0123456789") == "":
		return fault.Field(param, "invalid_value", "A label of digits only would look like a version. Add a letter.")
	}
	return nil
}

// checkShares checks the shares of a label of p, and sorts them.
func (p *Prompt) checkShares(shares []Share) error {
	if len(shares) == 0 || len(shares) > maxShares {
		return fault.Field("split", "invalid_value", "split has %d entries. Send 1 to %d.", len(shares), maxShares)
	}
	slices.SortFunc(shares, func(a, b Share) int { return int(a.Version) - int(b.Version) })
	total := uint32(0)
	for i, s := range shares {
		switch {
		case s.Version == 0 || s.Version > p.Latest:
			return fault.Field("version", "prompt_version_not_found", "The prompt has no version %d; its versions are 1 to %d.", s.Version, p.Latest)
		case i > 0 && shares[i-1].Version == s.Version:
			return fault.Field("split", "invalid_value", "split has the version %d twice. Add their weights.", s.Version)
		case s.Weight > maxWeight:
			return fault.Field("split", "invalid_value", "A weight is a whole number from 0 to %d.", maxWeight)
		}
		total += s.Weight
	}
	if total == 0 {
		return fault.Field("split", "invalid_value", "All weights of split are 0. Give at least one version a weight.")
	}
	return nil
}
