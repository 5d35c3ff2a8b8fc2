package contents

import (
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Scan reads the body of a request, which must have contents. Its model and whether it streams are those of the
// path: PathModel and Streams. Otherwise it is like splice.Scan.
func Scan(body []byte, r *splice.Request) error {
	if err := begin(body, r); err != nil {
		return err
	}
	if err := request(body, whole(body), "", r); err != nil {
		return err
	}
	if r.MessageCount == 0 {
		return noContents()
	}
	return nil
}

// ScanCount is Scan for a request for the number of tokens: it has contents, or the whole request for content.
func ScanCount(body []byte, r *splice.Request) error {
	if err := begin(body, r); err != nil {
		return err
	}
	if err := request(body, whole(body), "", r); err != nil {
		return err
	}
	var seen spellings
	for name, at := range splice.Members(body, whole(body)) {
		known, err := seen.add(name, []string{fieldWhole}, "")
		if err != nil {
			return err
		}
		if known == "" || body[at.Off] == 'n' {
			continue
		}
		if r.MessageCount > 0 {
			return fault.Field(fieldWhole, "invalid_value", "Send either %s or %s, not both.", fieldContents, fieldWhole)
		}
		if err := request(body, at, fieldWhole+".", r); err != nil {
			return err
		}
	}
	if r.MessageCount == 0 {
		return noContents()
	}
	return nil
}

func noContents() error {
	return fault.Field(fieldContents, "missing_required_parameter", "The field %q is missing. Send an array with at least one content.", fieldContents)
}

// The fields that the gateway reads.
const (
	fieldContents   = "contents"
	fieldTools      = "tools"
	fieldGeneration = "generationConfig"
	fieldCached     = "cachedContent"
	fieldLimit      = "maxOutputTokens"
	fieldChoices    = "candidateCount"
	fieldSystem     = "systemInstruction"
	fieldWhole      = "generateContentRequest"
)

func requestFields() []string {
	return []string{fieldContents, fieldTools, fieldGeneration, fieldCached, fieldSystem, "toolConfig", "safetySettings"}
}

// begin reads what the gateway reads of all bodies.
func begin(body []byte, r *splice.Request) error {
	if err := splice.ScanModel(body, r); err != nil {
		return err
	}
	r.OwnModel, r.Stream, r.IncludeUsage, r.MessageCount = true, r.Streams, true, 0
	return nil
}

// request reads a request for content, whose fields are named with a prefix in errors.
func request(body []byte, at splice.Span, prefix string, r *splice.Request) error {
	var seen spellings
	for name, value := range splice.Members(body, at) {
		known, err := seen.add(name, requestFields(), prefix)
		if err != nil {
			return err
		}
		switch param, raw := prefix+known, value.Of(body); known {
		case fieldContents:
			err = turns(body, value, param, r)
		case fieldSystem:
			err = storedFiles(body, value, param)
		case fieldTools:
			err = storedByTools(body, value, param)
		case fieldGeneration:
			err = generation(body, value, param, r)
		case fieldCached:
			if raw[0] != 'n' && string(raw) != `""` {
				err = fault.Field(param, "unsupported_parameter", "The field %q names what is stored in the provider's account, which all callers of the gateway share. Leave it out.", param)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// turns counts the contents.
func turns(body []byte, list splice.Span, param string, r *splice.Request) error {
	if body[list.Off] != '[' {
		return fault.Field(param, "invalid_type", "The field %q must be an array of objects.", param)
	}
	r.MessageCount = 0
	for one := range items(body, list) {
		if err := storedFiles(body, one, param+"["+number(r.MessageCount)+"]"); err != nil {
			return err
		}
		r.MessageCount++
	}
	return nil
}

func number(i int) string { return strconv.Itoa(i) }

// mostChoices is the most candidates of a request.
const mostChoices = 128

// generation reads generationConfig.
func generation(body []byte, at splice.Span, field string, r *splice.Request) error {
	switch body[at.Off] {
	case '{':
	case 'n':
		return nil
	default:
		return fault.Field(field, "invalid_type", "The field %q must be an object.", field)
	}
	var seen spellings
	for name, value := range splice.Members(body, at) {
		known, err := seen.add(name, []string{fieldLimit, fieldChoices}, field+".")
		if err != nil {
			return err
		}
		raw := value.Of(body)
		if known == "" || raw[0] == 'n' {
			continue
		}
		n, ok := splice.Whole(raw, splice.MaxTokensLimit)
		param := field + "." + known
		switch {
		case !ok:
			return fault.Field(param, "invalid_type", "The field %q must be an integer.", param)
		case n < 1:
			return fault.Field(param, "invalid_value", "The field %q must be an integer of at least 1.", param)
		case known == fieldLimit:
			r.MaxTokens = n
		case n > mostChoices:
			return fault.Field(param, "invalid_value", "The field %q must be an integer from 1 to %d.", param, mostChoices)
		default:
			r.N = n
		}
	}
	return nil
}
