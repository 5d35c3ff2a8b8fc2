package cloud

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Token is a credential for requests, made of a deployment's settings. The zero Token is none. It has
// a bearer token, or the key of AWS with which requests are signed.
type Token struct {
	Bearer vault.Secret // for the header authorization

	AccessKeyID  string
	SecretKey    vault.Secret
	SessionToken vault.Secret // empty for a key that is not temporary

	Expires time.Time // zero: never
}

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t.Bearer.IsEmpty() && t.SecretKey.IsEmpty() }
