package pipeline

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

const (
	sealedPrefix = "resp_mgw1_" // begins the id of a response whose maker is sealed in it
	longestID    = 512          // bytes of an id that callers accept
)

// isSealed reports whether an id has the form of those that sealedID returns.
func isSealed(id string) bool { return strings.HasPrefix(id, sealedPrefix) }

// sealingContext names who may send a sealed id of some kind back: the key's team, else its user,
// else the key alone, each within its organization. A provider's account has the responses of all
// tenants, so without it a tenant could read what another one's id stands for.
func (x *Exchange) sealingContext(kindOfID string) string {
	of := &x.Principal
	kind, owner := "key", of.Account().Hex()
	switch {
	case of.Team != "":
		kind, owner = "team", string(of.Team)
	case of.User != "":
		kind, owner = "user", string(of.User)
	}
	return fmt.Sprintf("%s/%q/%s/%q", kindOfID, of.Organization, kind, owner)
}

// sealedID returns the caller's id of a response, as JSON, for the provider's. If there is none,
// the response gets an id with which it cannot be continued.
func (p *Pipeline) sealedID(x *Exchange, raw []byte) string {
	s := &x.stored
	if s.sealed != "" && s.raw == string(raw) { // each event of a stream repeats it
		return s.sealed
	}
	plain := string(x.last().Deployment.ID) + "\x00" + string(splice.Plain(raw[1:len(raw)-1]))
	sealed, err := p.deps.Seal(vault.NewSecret(plain), x.sealingContext("response"))
	out := sealedPrefix + base64.RawURLEncoding.EncodeToString(sealed)
	if err != nil || len(out) > longestID {
		p.deps.Logger.Warn("the id of a stored response cannot be sealed, so the response cannot be continued", slog.String("request_id", string(x.ID)),
			slog.Int("length", len(out)), slog.Any("error", err))
		out = x.op.ReplyID(x.ID)
	}
	s.raw, s.sealed = string(raw), `"`+out+`"`
	return s.sealed
}

// unseal returns the deployment that made a response, and the provider's id of it.
func (p *Pipeline) unseal(x *Exchange, text string) (made id.Deployment, previous string, err error) {
	encoded := strings.TrimPrefix(text, sealedPrefix)
	if len(text) > longestID {
		return "", "", unknownResponse()
	}
	sealed, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || base64.RawURLEncoding.EncodeToString(sealed) != encoded { // the decoder skips line feeds
		return "", "", unknownResponse()
	}
	plain, err := p.deps.Open(sealed, x.sealingContext("response"))
	if errors.Is(err, vault.ErrLocked) {
		return "", "", &fault.Error{
			Kind: fault.Unavailable, Code: "encryption_key_unavailable", RetryAfter: time.Second, Err: err,
			Detail: "The gateway cannot read previous_response_id yet, because its encryption key has not come; try again in a moment.",
		}
	}
	deployment, previous, ok := strings.Cut(plain.Reveal(), "\x00")
	if err != nil || !ok {
		return "", "", unknownResponse()
	}
	return id.Deployment(deployment), previous, nil
}

// appendIDs appends the edits that give the caller its own ids instead of a provider's, in no order.
func (p *Pipeline) appendIDs(dst []splice.Edit, x *Exchange, f *splice.ReplyFacts, body []byte) []splice.Edit {
	if s := f.ID; !s.Empty() {
		dst = append(dst, splice.Edit{Off: s.Off, End: s.End, With: p.sealedID(x, s.Of(body))})
	}
	if s := f.Previous; !s.Empty() && x.stored.previous != "" {
		dst = append(dst, splice.Edit{Off: s.Off, End: s.End, With: string(x.Facts.Raw(splice.PreviousResponse))})
	}
	return dst
}

// withCallersID returns an error whose text names the earlier response by the caller's id.
// Providers repeat the id in their errors.
func (x *Exchange) withCallersID(e *fault.Error) *fault.Error {
	if x.stored.previous == "" || !strings.Contains(e.Detail, x.stored.previous) {
		return e
	}
	sent, err := x.Facts.Text(splice.PreviousResponse)
	if err != nil {
		return e
	}
	out := *e
	out.Detail = strings.ReplaceAll(e.Detail, x.stored.previous, sent)
	return &out
}
