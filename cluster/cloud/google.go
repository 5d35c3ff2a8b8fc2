package cloud

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kinds of Google's credentials.
const (
	GoogleServiceAccount = "service_account"
	GoogleUser           = "authorized_user"
	GoogleExternal       = "external_account"
	GoogleImpersonated   = "impersonated_service_account"
	GoogleExternalUser   = "external_account_authorized_user"
)

// GoogleFile is what a file with a credential of Google says of itself.
type GoogleFile struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	ClientEmail  string `json:"client_email"`
	PrivateKey   string `json:"private_key"`
	TokenURI     string `json:"token_uri"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	RefreshToken string `json:"refresh_token"`
}

// ReadGoogle reads and checks a credential of Google. No error repeats a value.
func ReadGoogle(body []byte) (*GoogleFile, error) {
	f := &GoogleFile{}
	if err := json.Unmarshal(body, f, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, fmt.Errorf("%s is not a JSON object of a credential of Google; copy the file again", VertexCredentials)
	}
	switch f.Type {
	case GoogleServiceAccount:
		if f.ClientEmail == "" {
			return nil, fmt.Errorf("%s has no client_email; copy the file of the service account again", VertexCredentials)
		}
		if !isKey(f.PrivateKey) {
			return nil, fmt.Errorf("the private_key in %s is not an RSA key in PEM; copy the file of the service account again", VertexCredentials)
		}
	case GoogleUser:
		if f.ClientID == "" || f.ClientSecret == "" || f.RefreshToken == "" {
			return nil, fmt.Errorf("%s lacks client_id, client_secret or refresh_token; create it again with gcloud auth application-default login", VertexCredentials)
		}
	case GoogleExternal, GoogleImpersonated, GoogleExternalUser:
	case "":
		return nil, fmt.Errorf("%s has no type, so it is no credential that Google's tools create; use the key of a service account", VertexCredentials)
	default:
		return nil, fmt.Errorf("%s has a type that cannot be used; use one of %v", VertexCredentials, []string{GoogleServiceAccount, GoogleUser, GoogleExternal, GoogleImpersonated, GoogleExternalUser})
	}
	return f, nil
}

// CheckForeign rejects a credential that is only for the configuration file: it may name files, commands and other
// services.
func (f *GoogleFile) CheckForeign() error {
	if f.Type == GoogleServiceAccount || f.Type == GoogleUser {
		return nil
	}
	return fmt.Errorf("%s has the type %s, which may refer to the gateway's machine; put the deployment into the configuration file, or send the key of a service account", VertexCredentials, f.Type)
}

// isKey reports whether a text is an RSA key in PEM.
func isKey(text string) bool {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return false
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		_, ok := key.(*rsa.PrivateKey)
		return ok
	}
	_, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	return err == nil
}

// secrets returns the secrets in a credential of Google.
func (f *GoogleFile) secrets() []string {
	return slices.DeleteFunc([]string{f.PrivateKey, f.ClientSecret, f.RefreshToken}, func(s string) bool { return s == "" })
}

// Secrets returns the texts in a credential that nobody may see. The path of a file is none.
func (c Credential) Secrets() []string {
	var all []string
	for _, v := range c.Settings {
		if known, ok := Named(v.Name); !ok || !known.Secret || IsFile(v.Name, v.Value.Reveal()) {
			continue
		}
		all = append(all, v.Value.Reveal())
		if v.Name == VertexCredentials {
			f := &GoogleFile{}
			if json.Unmarshal([]byte(v.Value.Reveal()), f, jsontext.AllowDuplicateNames(true)) == nil {
				all = append(all, f.secrets()...)
			}
		}
	}
	return all
}
