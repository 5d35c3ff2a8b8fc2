package extproc

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// readLabels finds what a request is counted for beside its key, the end user and the
// tags, and what its caller calls the session. What of it is the provider's as well goes
// there as it came.
func (x *Exchange) readLabels() error {
	if raw := x.Facts.Raw(splice.LitellmMetadata); raw != nil && raw[0] != '{' && raw[0] != 'n' {
		return fault.Field("litellm_metadata", "invalid_type", "litellm_metadata must be an object.")
	}
	user, err := firstName(endUserPlaces, x.endUserAt)
	if err != nil {
		return err
	}
	x.Options.customer, x.Options.EndUser = id.Customer(user), truncatedLabel(user)
	session, err := firstName(sessionPlaces, x.sessionAt)
	if err != nil {
		return err
	}
	x.Options.Session = truncatedLabel(session)
	return x.readTags()
}

// firstName is the first name that one of so many places has. The end user's is an
// account of the ledger, and one that could be taken for another is refused.
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

// endUserPlaces is in how many places a request may name its end user.
const endUserPlaces = 5

// naming is what a request has in place i: the header first, then LiteLLM's order.
func (x *Exchange) endUserAt(i int) (param, name string, err error) {
	switch i {
	case 0:
		return "x-gateway-customer-id", x.Inbound.Customer, nil
	case 1:
		name, err = x.Facts.Text(splice.User)
		return "user", name, err
	case 2:
		name, err = x.Facts.TextWithin(splice.LitellmMetadata, "user")
		return "litellm_metadata.user", name, err
	case 3:
		name, err = x.Facts.TextWithin(splice.Metadata, "user_id")
		return "metadata.user_id", name, err
	}
	name, err = x.Facts.Text(splice.SafetyIdentifier)
	return "safety_identifier", name, err
}

// sessionPlaces is in how many places a request may name its session.
const sessionPlaces = 4

// sessionAt is what a request has in place i.
func (x *Exchange) sessionAt(i int) (param, name string, err error) {
	switch i {
	case 0:
		return "x-gateway-session-id", x.Inbound.Session, nil
	case 1:
		name, err = x.Facts.Text(splice.LitellmSessionID)
		return "litellm_session_id", name, err
	case 2:
		name, err = x.Facts.TextWithin(splice.LitellmMetadata, "session_id")
		return "litellm_metadata.session_id", name, err
	}
	name, err = x.Facts.TextWithin(splice.Metadata, "session_id")
	return "metadata.session_id", name, err
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// readTags collects the tags of the header, of tags and of both kinds of metadata,
// each once. All that are named count for how many may be.
func (x *Exchange) readTags() error {
	named := 0
	if x.Inbound.Tags != "" {
		for tag := range strings.SplitSeq(x.Inbound.Tags, ",") {
			named++
			x.addTag(strings.TrimSpace(tag))
		}
		if named > maxTags {
			return fault.Field("x-gateway-tags", "invalid_value", "The header x-gateway-tags must name at most %d tags.", maxTags)
		}
	}
	for _, place := range [...]struct {
		param string
		raw   []byte
	}{
		{splice.Tags.String(), x.Facts.Raw(splice.Tags)},
		{"metadata.tags", x.listed()},
		{"litellm_metadata.tags", x.Facts.Within(splice.LitellmMetadata, "tags")},
	} {
		if place.raw == nil {
			continue
		}
		tags, err := stringList(place.raw)
		if named += len(tags); err != nil || named > maxTags {
			return fault.Field(place.param, "invalid_type", "%s must be a list of texts, and a request may name %d tags at most.", place.param, maxTags)
		}
		for _, tag := range tags {
			x.addTag(tag)
		}
	}
	return nil
}

// listed is metadata.tags if it is a list. A text of that name, as the provider's
// metadata have them, is the caller's own affair.
func (x *Exchange) listed() []byte {
	raw := x.Facts.Within(splice.Metadata, "tags")
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	return raw
}

// addTag adds a tag that is not there yet.
func (x *Exchange) addTag(tag string) {
	if tag = truncatedLabel(tag); !slices.Contains(x.Options.Tags, tag) {
		x.Options.Tags = append(x.Options.Tags, tag)
	}
}
