package sealed

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	responsePrefix  = "resp_mgw1_" // begins the id of a response whose maker is sealed in it
	longestResponse = 512          // bytes of an id that callers accept
)

// IsResponse reports whether an id has the form of those that Response returns.
func IsResponse(id string) bool { return strings.HasPrefix(id, responsePrefix) }

// contextOf names who may send a sealed id of some kind back: the key's team, else its user,
// else the key alone, each within its organization. A provider's account has the responses of all
// tenants, so without it a tenant could read what another one's id stands for.
func contextOf(of *tenancy.Principal, kindOfID string) string {
	kind, owner := "key", of.Account().Hex()
	switch {
	case of.Team != "":
		kind, owner = "team", string(of.Team)
	case of.User != "":
		kind, owner = "user", string(of.User)
	}
	return fmt.Sprintf("%s/%q/%s/%q", kindOfID, of.Organization, kind, owner)
}

// Response returns the caller's id of a response for the provider's.
func (s *Sealer) Response(owner *tenancy.Principal, maker id.Deployment, plain string) (string, error) {
	sealed, err := s.Seal(vault.NewSecret(string(maker)+"\x00"+plain), contextOf(owner, "response"))
	if err != nil {
		return "", err
	}
	out := responsePrefix + base64.RawURLEncoding.EncodeToString(sealed)
	if len(out) > longestResponse {
		return "", fmt.Errorf("the id would have %d bytes, more than %d", len(out), longestResponse)
	}
	return out, nil
}

// ErrUnknown is returned for an id that was not sealed here, or for another owner: the caller must
// not learn which of the two.
var ErrUnknown = errors.New("the id was not sealed for this owner")

// OpenResponse returns the deployment that made a response, and the provider's id of it. The error is
// ErrUnknown, or one of Open while it has no key.
func (s *Sealer) OpenResponse(owner *tenancy.Principal, text string) (made id.Deployment, previous string, err error) {
	encoded := strings.TrimPrefix(text, responsePrefix)
	if len(text) > longestResponse {
		return "", "", ErrUnknown
	}
	sealed, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || base64.RawURLEncoding.EncodeToString(sealed) != encoded { // the decoder skips line feeds
		return "", "", ErrUnknown
	}
	plain, err := s.Open(sealed, contextOf(owner, "response"))
	if errors.Is(err, vault.ErrLocked) {
		return "", "", err
	}
	deployment, previous, ok := strings.Cut(plain.Reveal(), "\x00")
	if err != nil || !ok {
		return "", "", ErrUnknown
	}
	return id.Deployment(deployment), previous, nil
}
