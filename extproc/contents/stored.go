package contents

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// What a provider's account has stored is shared by all callers of the gateway, so requests must not name it: cached
// content, files, and what tools search in.

// filesHost is where Google keeps the files of an account.
const filesHost = "generativelanguage.googleapis.com"

// IsStored reports whether an address is that of a file in an account at Google.
func IsStored(address string) bool {
	if address == "" {
		return false
	}
	u, err := url.Parse(address)
	if err != nil {
		return true // others may read it otherwise
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return strings.EqualFold(u.Scheme, "gs") || host == filesHost || strings.HasSuffix(host, "."+filesHost) || u.Host == "" && !strings.EqualFold(u.Scheme, "data")
}

// storedFiles rejects a content whose parts name a stored file.
func storedFiles(body []byte, content splice.Span, param string) error {
	for name, parts := range splice.Members(body, content) {
		if string(name) != "parts" {
			continue
		}
		j := 0
		for part := range items(body, parts) {
			if err := storedFile(body, part, param+".parts["+number(j)+"]"); err != nil {
				return err
			}
			j++
		}
	}
	return nil
}

// storedFile rejects a part that names a stored file, by itself or in the result of a function.
func storedFile(body []byte, part splice.Span, param string) error {
	for name, value := range splice.Members(body, part) {
		switch {
		case alike(name, "functionResponse"), alike(name, "toolResponse"):
			if err := storedFiles(body, value, param+".functionResponse"); err != nil {
				return err
			}
		case alike(name, "fileData"):
			for member, uri := range splice.Members(body, value) {
				raw := uri.Of(body)
				if !alike(member, "fileUri") || raw[0] != '"' || !IsStored(string(splice.Plain(raw[1:len(raw)-1]))) {
					continue
				}
				param += ".fileData.fileUri"
				return fault.Field(param, "unsupported_parameter",
					"%s names a file in the provider's account, which all callers of the gateway share. Send its data, or an address that everybody can read.", param)
			}
		}
	}
	return nil
}

// storedByTools rejects tools that search in what an account has stored.
func storedByTools(body []byte, tools splice.Span, param string) error {
	i := 0
	for tool := range items(body, tools) {
		for name, value := range splice.Members(body, tool) {
			for _, of := range [...]string{"fileSearch", "retrieval"} {
				if !alike(name, of) || body[value.Off] == 'n' {
					continue
				}
				param += "[" + number(i) + "]." + of
				return fault.Field(param, "unsupported_parameter",
					"%s searches in what the provider's account has stored, which all callers of the gateway share. Leave it out.", param)
			}
		}
		i++
	}
	return nil
}
