package cloud

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// Credential is what tokens are made of: the part of a deployment's settings that says who sends its requests.
// Deployments with equal credentials share their tokens.
type Credential struct {
	Of       Kind
	Settings Settings
	// Trusted is true for deployments of the configuration file. Only their settings may name files, profiles and
	// identities of the gateway's machine.
	Trusted bool
}

// CredentialOf returns the credential in the settings of a deployment.
func CredentialOf(of Kind, s Settings, trusted bool) Credential {
	c := Credential{Of: of, Trusted: trusted, Settings: make(Settings, 0, len(s))}
	for _, v := range s {
		if slices.Contains(credentialNames(of), v.Name) {
			c.Settings = append(c.Settings, v)
		}
	}
	return c
}

// credentialNames are the settings that are parts of a credential.
func credentialNames(of Kind) []string {
	switch of {
	case AWS:
		return []string{AWSRegion, AWSAccessKeyID, AWSSecretAccessKey, AWSSessionToken, AWSProfile, AWSRole, AWSRoleSession, AWSExternalID, AWSWebIdentityToken, AWSTokenEndpoint}
	case Google:
		return []string{VertexCredentials}
	case Azure:
		return []string{AzureADToken, AzureTenant, AzureClient, AzureClientSecret, AzureCertificate, AzureFederatedFile, AzureScope, AzureAuthority}
	case None:
	}
	return nil
}

// Key identifies a credential. It is a hash, so it shows no secret.
func (c Credential) Key() [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(c.Of))
	if c.Trusted {
		h.Write([]byte{1})
	}
	for _, v := range c.Settings {
		h.Write([]byte("\x00" + v.Name + "\x00" + v.Value.Reveal())) // no value holds a zero byte
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// IsFile reports whether the value of a setting is the path of a file instead of the credential itself.
func IsFile(name, value string) bool {
	switch name {
	case AzureFederatedFile:
		return true
	case VertexCredentials:
		return !strings.HasPrefix(strings.TrimSpace(value), "{")
	case AzureCertificate:
		return !strings.Contains(value, "-----BEGIN")
	case AWSWebIdentityToken:
		return strings.Count(value, ".") != 2 || strings.ContainsAny(value, "/ ")
	}
	return false
}
