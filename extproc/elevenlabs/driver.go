package elevenlabs

import (
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "ElevenLabs"

// Driver is the driver of ElevenLabs's API.
type Driver struct{}

// sound returns what ElevenLabs serves.
func sound() driver.Sound {
	return driver.Sound{Vendor: vendor, Language: wire.ElevenLabs, Speech: "/text-to-speech", Transcriptions: "/speech-to-text"}
}

// Serves returns ElevenLabs's language for speech and transcriptions.
func (Driver) Serves(_ driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	return sound().Serves(e)
}

// Codec returns nil: ElevenLabs has no chats.
func (Driver) Codec(wire.Dialect) driver.Codec { return nil }

// Address returns the endpoint under the base path, with the place of the rewritten request.
func (Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	return sound().Address(t, op, credential(t)...)
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
