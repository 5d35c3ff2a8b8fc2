package credential

import (
	"net/url"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// MaxLength is the longest credential that is looked at, in bytes. The keys made
// here have 25 bytes; imported ones are longer but not by much. The length is
// checked before anything is hashed.
const MaxLength = 512

// The headers that may carry a credential. The last four carry it bare.
const (
	HeaderAuthorization = "authorization"     // OpenAI's SDKs, and Anthropic's since 2.0
	HeaderAnthropic     = "x-api-key"         // Anthropic's older SDKs
	HeaderAzure         = "api-key"           // Azure OpenAI's clients
	HeaderGoogle        = "x-goog-api-key"    // Google's SDKs
	HeaderGateway       = "x-gateway-api-key" // for callers whose proxy takes the others
)

// QueryGoogle is the parameter of a query in which Google's clients may send a key.
const QueryGoogle = "key"

// Presented collects the credentials of one request. The zero value is empty;
// it is a plain value and needs no allocation.
type Presented struct {
	authorization string
	bare          string
	fault         trouble
	authorized    bool // an authorization header was there
	bared         bool // a bare key was there
}

// trouble is the reason why a request's credential is not clear.
type trouble uint8

const (
	fine trouble = iota
	twice
	joined
	differing
)

// Add takes one header of the request, its name in lower case. Headers that
// carry no credential are ignored, so every header may be given.
func (p *Presented) Add(name, value string) {
	switch name {
	case HeaderAuthorization:
		if p.authorized {
			p.fault = twice
		}
		p.authorized = true
		p.authorization = trim(value)
	case HeaderAnthropic, HeaderAzure, HeaderGoogle, HeaderGateway:
		value = trim(value)
		if value == "" {
			return
		}
		if p.bared && p.bare != value {
			p.fault = differing
		}
		p.bared, p.bare = true, value
	}
}

// AddQuery takes the query of a request of a client of Google's APIs, which may send its key there.
func (p *Presented) AddQuery(query string) {
	for pair := range strings.SplitSeq(query, "&") {
		value, ok := strings.CutPrefix(pair, QueryGoogle+"=")
		if !ok {
			continue
		}
		if text, err := url.QueryUnescape(value); err == nil {
			value = text
		}
		p.Add(HeaderGoogle, value)
	}
}

// signedForAWS begins the value of an Authorization header with a signature of AWS.
const signedForAWS = "AWS4-HMAC-SHA256 "

// Parse returns the credential that was presented. Its errors:
//
//   - 401 missing_api_key: no header, an empty one, or `Bearer` without a key;
//   - 401 invalid_api_key: another scheme, no scheme, or what no key looks like
//     (spaces or unprintable characters inside, longer than MaxLength);
//   - 400 ambiguous_credentials: two Authorization headers (comma-joined ones as
//     well: that is how a proxy writes two), or two different credentials. To pick
//     one would let whoever can add a header choose the identity.
func Parse(p Presented) (string, error) {
	if strings.HasPrefix(p.authorization, signedForAWS) { // by a client of Bedrock: it proves nothing here
		if !p.bared {
			return "", &fault.Error{Kind: fault.Unauthenticated, Code: "invalid_api_key", Detail: "The Authorization header is signed for AWS. Send the gateway's key as Authorization: Bearer <key>, which AWS_BEARER_TOKEN_BEDROCK does, or as x-api-key."}
		}
		p.authorization = ""
	}
	if strings.IndexByte(p.authorization, ',') >= 0 || strings.IndexByte(p.bare, ',') >= 0 {
		p.fault = joined
	}
	switch p.fault {
	case twice, joined:
		return "", fault.Field("", "ambiguous_credentials", "The request has more than one Authorization value. Send exactly one.")
	case differing:
		return "", different()
	case fine:
	}
	key, err := bearer(p.authorization)
	if err != nil {
		return "", err
	}
	switch {
	case key == "":
		key = p.bare
	case p.bared && p.bare != key:
		return "", different()
	}
	if key == "" {
		return "", &fault.Error{Kind: fault.Unauthenticated, Code: "missing_api_key", Detail: "No API key was sent. Send it as Authorization: Bearer <key>."}
	}
	if !WellFormed(key) {
		return "", Invalid()
	}
	return key, nil
}

// HashOf is the hash of what was presented, if it is of the form of the keys that are
// made here: anything else could be found out from its hash by trying.
func HashOf(p Presented) (h id.KeyHash, ok bool) {
	key, err := Parse(p)
	if err != nil || CheckCustom(key) != nil {
		return id.KeyHash{}, false
	}
	return id.HashKey(key), true
}

// bearer returns the key behind the scheme `Bearer`, which any case spells; an
// empty one if there is none.
func bearer(authorization string) (string, error) {
	const scheme = "bearer"
	if authorization == "" || strings.EqualFold(authorization, scheme) {
		return "", nil
	}
	if len(authorization) <= len(scheme) || !strings.EqualFold(authorization[:len(scheme)], scheme) || !blank(authorization[len(scheme)]) {
		return "", &fault.Error{Kind: fault.Unauthenticated, Code: "invalid_api_key", Detail: "The Authorization header is not of the form Bearer <key>."}
	}
	return trim(authorization[len(scheme):]), nil
}

// WellFormed reports whether s could be a key: visible ASCII, not overlong.
func WellFormed(s string) bool {
	if s == "" || len(s) > MaxLength {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// trim takes off the optional white space of RFC 9110: spaces and tabs, no more.
// strings.TrimSpace would also take a line break off a smuggled header.
func trim(s string) string {
	for s != "" && blank(s[0]) {
		s = s[1:]
	}
	for s != "" && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func different() error {
	return fault.Field("", "ambiguous_credentials", "The request carries two different credentials. Send one of them.")
}

// Invalid is the error for a credential that authenticates nobody: 401 with invalid_api_key.
func Invalid() error {
	return &fault.Error{Kind: fault.Unauthenticated, Code: "invalid_api_key", Detail: "Incorrect API key provided."}
}
