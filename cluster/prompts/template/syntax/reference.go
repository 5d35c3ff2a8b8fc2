package syntax

import (
	"strconv"
	"strings"
)

// Reference names another prompt whose text a template includes:
// {% include "prompt:NAME" %}, "prompt:NAME@3" or "prompt:NAME@LABEL".
type Reference struct {
	Name    string
	Version uint32 // 0 if the template names no version
	Label   string // empty if the template names no label
}

// referencePrefix begins the only names that a template can include.
const referencePrefix = "prompt:"

// String returns the reference as templates write it.
func (r Reference) String() string {
	switch {
	case r.Version != 0:
		return referencePrefix + r.Name + "@" + strconv.FormatUint(uint64(r.Version), 10)
	case r.Label != "":
		return referencePrefix + r.Name + "@" + r.Label
	}
	return referencePrefix + r.Name
}

// parseReference reads the text of an include. The problem is empty if it is a reference.
func parseReference(text string) (r Reference, problem string) {
	rest, ok := strings.CutPrefix(text, referencePrefix)
	if !ok {
		return r, `only prompts can be included: write "prompt:NAME"`
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		r.Name = rest
	} else {
		r.Name = rest[:at]
		switch tag := rest[at+1:]; {
		case tag == "":
			return r, `write a version or a label after the "@"`
		case strings.Trim(tag, "0123456789") != "":
			r.Label = tag
		default:
			version, err := strconv.ParseUint(tag, 10, 32)
			if err != nil || version == 0 {
				return r, "versions are numbers from 1"
			}
			r.Version = uint32(version)
		}
	}
	if strings.TrimSpace(r.Name) == "" {
		return r, `write the prompt's name: "prompt:NAME"`
	}
	return r, ""
}
