package driver

import "github.com/modelgateway/modelgateway/extproc/wire"

// Sound is what differs between providers that serve only speech and transcriptions, each in a
// language of its own, below the version v1 of their API.
type Sound struct {
	Vendor         string // names the provider in texts for callers
	Language       wire.Dialect
	Speech         string // the path below the version, with the slash before it
	Transcriptions string // the same
}

// path returns the path of an endpoint below the version; empty if the provider does not serve it.
func (s Sound) path(e Endpoint) string {
	switch e { //nolint:exhaustive // no other one is served
	case Speech:
		return s.Speech
	case Transcriptions:
		return s.Transcriptions
	}
	return ""
}

// Serves returns the provider's language for speech and transcriptions.
func (s Sound) Serves(e Endpoint) (wire.Dialect, bool) {
	if s.path(e) == "" {
		return "", false
	}
	return s.Language, true
}

// Address returns the endpoint under the base path, with the place of the rewritten request.
func (s Sound) Address(t Target, op Operation, credential ...Header) (Call, error) {
	path := s.path(op.Endpoint)
	if path == "" {
		return Call{}, NotServed(s.Vendor)
	}
	return s.Call(t, path+op.Place, credential...), nil
}

// Call returns a call of a path below the version.
func (s Sound) Call(t Target, path string, credential ...Header) Call {
	return Call{Path: UnderVersion(t.BasePath, "v1", s.Speech, s.Transcriptions) + path, Headers: WithHeaders(credential, t.Headers)}
}
