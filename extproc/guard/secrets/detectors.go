package secrets

// detector is a kind of secret.
type detector uint8

const (
	artifactory detector = iota
	aws
	azure
	base64Entropy
	basicAuth
	cloudant
	discord
	github
	hexEntropy
	ibmCOS
	ibmIAM
	jwt
	mailchimp
	modelProvider
	npm
	privateKey
	sendgrid
	slack
	softlayer
	square
	stripe
	twilio
	detectors // how many there are
)

// Detectors returns the names of all detectors, in alphabetical order.
func Detectors() []string {
	out := make([]string, detectors)
	for d := range detectors {
		out[d] = d.name()
	}
	return out
}

func (d detector) name() string {
	names := [detectors]string{
		"artifactory", "aws", "azure", "base64_entropy", "basic_auth", "cloudant", "discord", "github", "hex_entropy", "ibm_cos", "ibm_iam",
		"jwt", "mailchimp", "model_provider", "npm", "private_key", "sendgrid", "slack", "softlayer", "square", "stripe", "twilio",
	}
	return names[d]
}

// Scores of findings, by what tells them.
const (
	verified  = 1    // a checksum, or what is encoded
	form      = 0.9  // a vendor's form
	contextOf = 0.75 // a word before it
	random    = 0.5  // its entropy
)

// charset is a set of sets of characters, one bit each.
type charset uint16

const (
	inRun     charset = 1 << iota // of runs: what is in secrets and in addresses with one
	inToken                       // letters, digits, _ and -
	inBase64                      // of both alphabets of base64, with =
	inValue                       // of both alphabets of base64, without =
	inAlnum                       // letters and digits
	inHex                         // digits and a to f
	inAnyHex                      // and A to F
	inJWT                         // of base64's alphabet for URLs, with = and the point
	inCapital                     // capital letters and digits
)

type kinds [256]charset

func newKinds() (k kinds) {
	set := func(to charset, from, last byte) {
		for c := int(from); c <= int(last); c++ {
			k[c] |= to
		}
	}
	set(inRun|inToken|inBase64|inValue|inAlnum|inJWT|inCapital, 'A', 'Z')
	set(inRun|inToken|inBase64|inValue|inAlnum|inJWT, 'a', 'z')
	set(inRun|inToken|inBase64|inValue|inAlnum|inJWT|inHex|inAnyHex|inCapital, '0', '9')
	set(inHex|inAnyHex, 'a', 'f')
	set(inAnyHex, 'A', 'F')
	for _, c := range "_-" {
		k[c] |= inRun | inToken | inBase64 | inValue | inJWT
	}
	for _, c := range "+/" {
		k[c] |= inRun | inBase64 | inValue
	}
	k['='] |= inRun | inBase64
	for _, c := range "=." {
		k[c] |= inRun | inJWT
	}
	for _, c := range ".~:@%?#!$^" {
		k[c] |= inRun
	}
	return k
}
