package inbound

import "github.com/modelgateway/modelgateway/extproc/message"

// credentialHeaders are the headers in which providers take a credential or the
// version of their API. An attempt removes those that it does not set: they may be left
// from the attempt before it.
func credentialHeaders() [12]string {
	return [12]string{
		"authorization", "x-api-key", "api-key", "x-goog-api-key", "xi-api-key", "anthropic-version", "anthropic-beta", "openai-organization", "openai-project",
		"x-amz-date", "x-amz-security-token", "x-amz-content-sha256",
	}
}

// ToRemove returns the caller's headers that providers do not get, and the headers
// of an earlier attempt that this one does not set.
func (in *Headers) ToRemove(set []message.Header) []string {
	credentials := credentialHeaders()
	out := make([]string, 0, len(in.Private)+len(credentials)+len(in.Vendor))
	for _, name := range credentials[:] {
		if !message.Has(set, name) {
			out = append(out, name)
		}
	}
	for _, name := range in.Private {
		if !message.Has(set, name) {
			out = append(out, name)
		}
	}
	return out
}
