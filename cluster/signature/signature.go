package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Header carries the signature of a request.
const Header = "X-Gateway-Signature"

// Of returns the value of Header for a body that is sent now:
//
//	t=<seconds since 1970>,v1=<hex of HMAC-SHA256 of secret over t + "." + body>
//
// There is a v1 for each secret. The receiver accepts the request if one of them is
// right and t is not long ago: five minutes is a good bound.
func Of(now time.Time, body []byte, secrets []vault.Secret) string {
	t := strconv.FormatInt(now.Unix(), 10)
	var out strings.Builder
	out.WriteString("t=" + t)
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s.Reveal()))
		mac.Write([]byte(t + "."))
		mac.Write(body)
		out.WriteString(",v1=" + hex.EncodeToString(mac.Sum(nil)))
	}
	return out.String()
}
