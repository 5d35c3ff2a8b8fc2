package inbound

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// readLabels reads the end user and the tags, for which a request counts in addition to its
// key, and the caller's session. Fields that the provider knows too go there unchanged.
func (r *reader) readLabels() error {
	if raw := r.facts.Raw(splice.LitellmMetadata); raw != nil && raw[0] != '{' && raw[0] != 'n' {
		return fault.Field("litellm_metadata", "invalid_type", "litellm_metadata must be an object.")
	}
	user, err := firstName(endUserPlaces, r.endUserAt)
	if err != nil {
		return err
	}
	r.to.Customer, r.to.EndUser = id.Customer(user), TruncatedLabel(user)
	session, err := firstName(sessionPlaces, r.sessionAt)
	if err != nil {
		return err
	}
	r.to.Session = TruncatedLabel(session)
	return r.readTags()
}

// firstName returns the first name in the given number of places. An end user's name is an
// account of the ledger, so a name that could be mistaken for another is rejected.
func firstName(places int, at func(i int) (param, name string, err error)) (string, error) {
	for i := range places {
		param, name, err := at(i)
		if err != nil {
			return "", err
		}
		if !utf8.ValidString(name) || strings.ContainsFunc(name, isControl) {
			return "", fault.Field(param, "invalid_value", "%s must be a name in UTF-8 without control characters.", param)
		}
		if name != "" {
			return name, nil
		}
	}
	return "", nil
}

// endUserPlaces is the number of places where a request may name its end user.
const endUserPlaces = 5

// endUserAt returns the end user in place i: the header first, then LiteLLM's order.
func (r *reader) endUserAt(i int) (param, name string, err error) {
	switch i {
	case 0:
		return "x-gateway-customer-id", r.Customer, nil
	case 1:
		name, err = r.facts.Text(splice.User)
		return "user", name, err
	case 2:
		name, err = r.facts.TextWithin(splice.LitellmMetadata, "user")
		return "litellm_metadata.user", name, err
	case 3:
		name, err = r.facts.TextWithin(splice.Metadata, "user_id")
		return "metadata.user_id", name, err
	}
	name, err = r.facts.Text(splice.SafetyIdentifier)
	return "safety_identifier", name, err
}

// sessionPlaces is the number of places where a request may name its session.
const sessionPlaces = 5

// sessionAt returns the session in place i.
func (r *reader) sessionAt(i int) (param, name string, err error) {
	switch i {
	case 0:
		return "x-gateway-session-id", r.Session, nil
	case 1:
		name, err = r.facts.Text(splice.LitellmSessionID)
		return "litellm_session_id", name, err
	case 2:
		name, err = r.facts.TextWithin(splice.LitellmMetadata, "session_id")
		return "litellm_metadata.session_id", name, err
	case 3:
		name, err = r.facts.TextWithin(splice.Metadata, "session_id")
		return "metadata.session_id", name, err
	}
	return "x-claude-code-session-id", r.Agent, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// readTags collects the tags of the header, of tags and of both kinds of metadata, each once.
// Repeated tags count toward maxTags.
func (r *reader) readTags() error {
	named := 0
	if r.Tags != "" {
		for tag := range strings.SplitSeq(r.Tags, ",") {
			named++
			r.addTag(strings.TrimSpace(tag))
		}
		if named > maxTags {
			return fault.Field("x-gateway-tags", "invalid_value", "The header x-gateway-tags must name at most %d tags.", maxTags)
		}
	}
	for _, place := range [...]struct {
		param string
		raw   []byte
	}{
		{splice.Tags.String(), r.facts.Raw(splice.Tags)},
		{"metadata.tags", r.listed()},
		{"litellm_metadata.tags", r.facts.Within(splice.LitellmMetadata, "tags")},
	} {
		if place.raw == nil {
			continue
		}
		tags, err := stringList(place.raw)
		if named += len(tags); err != nil || named > maxTags {
			return fault.Field(place.param, "invalid_type", "%s must be a list of strings, and a request may name at most %d tags.", place.param, maxTags)
		}
		for _, tag := range tags {
			r.addTag(tag)
		}
	}
	return nil
}

// listed returns metadata.tags if it is a list. A string there is metadata for the provider.
func (r *reader) listed() []byte {
	raw := r.facts.Within(splice.Metadata, "tags")
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	return raw
}

// addTag adds a tag unless the request has it already.
func (r *reader) addTag(tag string) {
	if tag = TruncatedLabel(tag); !slices.Contains(r.to.Tags, tag) {
		r.to.Tags = append(r.to.Tags, tag)
	}
}

// MergedTags adds the tags of a key to those of a request. They always count, and once if the
// request names them too.
func MergedTags(tags, more []string) []string {
	for _, tag := range more {
		if tag = TruncatedLabel(tag); !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags
}
