package elevenlabs

import (
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "ElevenLabs"

// Driver is the driver of ElevenLabs's API.
type Driver struct{}

// pathOf returns the path of an endpoint under the version; empty if ElevenLabs does not serve it.
func pathOf(e driver.Endpoint) string {
	switch e { //nolint:exhaustive // no other one is served
	case driver.Speech:
		return "/text-to-speech"
	case driver.Transcriptions:
		return "/speech-to-text"
	}
	return ""
}

// Serves returns ElevenLabs's language for speech and transcriptions.
func (Driver) Serves(_ driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	if pathOf(e) == "" {
		return "", false
	}
	return wire.ElevenLabs, true
}

// Codec returns nil: ElevenLabs has no chats.
func (Driver) Codec(wire.Dialect) driver.Codec { return nil }

// Address returns the endpoint under the base path, with the place of the rewritten request.
func (Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	path := pathOf(op.Endpoint)
	if path == "" {
		return driver.Call{}, driver.NotServed(vendor)
	}
	return driver.Call{Path: root(t) + path + op.Place, Headers: driver.WithHeaders(credential(t), t.Headers)}, nil
}

// root returns the path of the version.
func root(t driver.Target) string {
	return driver.UnderVersion(t.BasePath, "v1", pathOf(driver.Speech), pathOf(driver.Transcriptions))
}

// credential returns the header with the key; none without one.
func credential(t driver.Target) []driver.Header {
	if t.APIKey.IsEmpty() {
		return nil
	}
	return []driver.Header{{Name: "xi-api-key", Value: t.APIKey}}
}

// Rewrite writes a request in ElevenLabs's form.
func (Driver) Rewrite(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	if r.Endpoint == driver.Speech {
		return speech(r.Members(), t)
	}
	return listen(r, t)
}

// Restore writes a transcription in the form that the caller requested.
func (Driver) Restore(r *driver.Original, body []byte, _ string) (driver.Restored, error) {
	return heard(r, body)
}
