package deepgram

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "Deepgram"

// Driver is the driver of Deepgram's API.
type Driver struct{}

// sound returns what Deepgram serves.
func sound() driver.Sound {
	return driver.Sound{Vendor: vendor, Language: wire.Deepgram, Speech: "/speak", Transcriptions: "/listen"}
}

// Serves returns Deepgram's language for speech and transcriptions.
func (Driver) Serves(_ driver.Target, e driver.Endpoint) (wire.Dialect, bool) {
	return sound().Serves(e)
}

// Codec returns nil: Deepgram has no chats.
func (Driver) Codec(wire.Dialect) driver.Codec { return nil }

// Address returns the endpoint under the base path, with the query of the rewritten request. A token that
// Deepgram has granted for a time is a bearer's, and a key is not.
func (Driver) Address(t driver.Target, op driver.Operation) (driver.Call, error) {
	return sound().Address(t, op, credential(t)...)
}

// credential returns the header with the key; none without one.
func credential(t driver.Target) []driver.Header {
	if t.APIKey.IsEmpty() {
		return nil
	}
	scheme, key := "Token ", t.APIKey.Reveal()
	if strings.Count(key, ".") == 2 {
		scheme = "Bearer "
	}
	return []driver.Header{{Name: "authorization", Value: vault.NewSecret(scheme + key)}}
}

// Rewrite writes a request in Deepgram's form.
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
