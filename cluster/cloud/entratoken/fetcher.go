package entratoken

import (
	"cmp"
	"context"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	// defaultScope is that of Azure's cognitive services.
	defaultScope = "https://cognitiveservices.azure.com/.default"
	publicHost   = "https://login.microsoftonline.com/"
)

// Fetcher gets the tokens of one credential.
type Fetcher struct {
	settings cloud.Settings
	client   *http.Client // of Entra ID
	clients  *outbound.Clients
}

// New returns the fetcher of a credential.
func New(of cloud.Credential, clients *outbound.Clients) *Fetcher {
	return &Fetcher{of.Settings, clients.For(of), clients}
}

// Fetch gets a token.
func (f *Fetcher) Fetch(ctx context.Context) (cloud.Token, error) {
	// The library's credentials keep tokens, so each fetch has its own.
	made, err := f.credential()
	if err != nil {
		return cloud.Token{}, err
	}
	if made == nil {
		return fixed(f.settings.Secret(cloud.AzureADToken), time.Now())
	}
	t, err := made.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{cmp.Or(f.settings.Get(cloud.AzureScope), defaultScope)}})
	if err != nil {
		return cloud.Token{}, explain(err)
	}
	return cloud.Token{Bearer: vault.NewSecret(t.Token), Expires: t.ExpiresOn}, nil
}

// credential returns the credential that the settings describe; nil for a token that they have themselves.
func (f *Fetcher) credential() (azcore.TokenCredential, error) {
	tenant, client := f.settings.Get(cloud.AzureTenant), f.settings.Get(cloud.AzureClient)
	switch {
	case !f.settings.Secret(cloud.AzureClientSecret).IsEmpty():
		return azidentity.NewClientSecretCredential(tenant, client, f.settings.Secret(cloud.AzureClientSecret).Reveal(),
			&azidentity.ClientSecretCredentialOptions{ClientOptions: f.options(f.client), DisableInstanceDiscovery: true})
	case !f.settings.Secret(cloud.AzureCertificate).IsEmpty():
		chain, key, err := f.certificate()
		if err != nil {
			return nil, err
		}
		return azidentity.NewClientCertificateCredential(tenant, client, chain, key,
			&azidentity.ClientCertificateCredentialOptions{ClientOptions: f.options(f.client), DisableInstanceDiscovery: true, SendCertificateChain: true})
	case f.settings.Get(cloud.AzureFederatedFile) != "":
		return f.federated(tenant, client, cloud.AzureFederatedFile, f.settings.Get(cloud.AzureFederatedFile))
	case refers(f.settings.Secret(cloud.AzureADToken)):
		return f.federated(tenant, client, cloud.AzureADToken, f.settings.Secret(cloud.AzureADToken).Reveal())
	case !f.settings.Secret(cloud.AzureADToken).IsEmpty():
		return nil, nil
	}
	return f.ofMachine(tenant, client)
}

// ofMachine returns the identity of the gateway's machine: a workload identity that the platform has put into the
// environment, or a managed identity.
func (f *Fetcher) ofMachine(tenant, client string) (azcore.TokenCredential, error) {
	if file := f.clients.Environ("AZURE_FEDERATED_TOKEN_FILE"); file != "" {
		return f.federated(cmp.Or(tenant, f.clients.Environ("AZURE_TENANT_ID")), cmp.Or(client, f.clients.Environ("AZURE_CLIENT_ID")), cloud.AzureFederatedFile, file)
	}
	o := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: f.options(f.clients.Machine())}
	if client != "" {
		o.ID = azidentity.ClientID(client)
	}
	identity, err := azidentity.NewManagedIdentityCredential(o)
	return uncached{identity}, err
}

// uncached gets each token of a managed identity from its service.
type uncached struct{ azcore.TokenCredential }

// GetToken gets a token. The library keeps such tokens for the whole process until they almost expire, unless the
// request has claims. It sends no claims to the services of managed identities.
func (u uncached) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	o.Claims = "{}"
	return u.TokenCredential.GetToken(ctx, o)
}

// refers reports whether a token is not the one of Entra ID, but refers to one of another issuer that Entra ID accepts.
func refers(token vault.Secret) bool {
	_, elsewhere := cloud.ReferenceOf(cloud.AzureADToken, token.Reveal())
	return elsewhere
}

// federated returns the identity of an application that another issuer vouches for. A setting has the issuer's token, or
// refers to it.
func (f *Fetcher) federated(tenant, client, setting, value string) (azcore.TokenCredential, error) {
	read := func(context.Context) (string, error) { return f.clients.Identity(setting, value) }
	return azidentity.NewClientAssertionCredential(tenant, client, read, &azidentity.ClientAssertionCredentialOptions{ClientOptions: f.options(f.client), DisableInstanceDiscovery: true})
}

// certificate returns the application's certificates and its key.
func (f *Fetcher) certificate() ([]*x509.Certificate, crypto.PrivateKey, error) {
	value := f.settings.Secret(cloud.AzureCertificate).Reveal()
	body := []byte(value)
	if cloud.IsFile(cloud.AzureCertificate, value) {
		var err error
		if body, err = outbound.ReadFile(cloud.AzureCertificate, value); err != nil {
			return nil, nil, err
		}
	}
	chain, key, err := azidentity.ParseCertificates(body, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is not a certificate with its private key, without a password", cloud.AzureCertificate)
	}
	return chain, key, nil
}

func (f *Fetcher) options(client *http.Client) azcore.ClientOptions {
	return azcore.ClientOptions{
		Cloud:     azcloud.Configuration{ActiveDirectoryAuthorityHost: cmp.Or(f.settings.Get(cloud.AzureAuthority), f.clients.Environ("AZURE_AUTHORITY_HOST"), publicHost)},
		Transport: client,
		Retry:     policy.RetryOptions{MaxRetries: -1}, // the manager of the tokens tries again
	}
}

// fixed returns a token that the settings have. If it says when it expires, it is not used for longer.
func fixed(s vault.Secret, now time.Time) (cloud.Token, error) {
	t := cloud.Token{Bearer: s, Expires: expiry(s.Reveal())}
	if !t.Expires.IsZero() && !now.Before(t.Expires) {
		return cloud.Token{}, fmt.Errorf("%s expired at %s; write a new one, or an application's client_secret, whose tokens are renewed", cloud.AzureADToken, t.Expires.UTC().Format(time.RFC3339))
	}
	return t, nil
}

// expiry returns when a JSON web token expires; zero if it does not say so.
func expiry(token string) time.Time {
	segments := strings.Split(token, ".")
	if len(segments) != 3 {
		return time.Time{}
	}
	body, err := base64.RawURLEncoding.DecodeString(segments[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if err := json.Unmarshal(body, &claims); err != nil || claims.Expires <= 0 || claims.Expires > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0)
}

// explain returns an error for operators.
func explain(err error) error {
	said, ok := errors.AsType[*azidentity.AuthenticationFailedError](err)
	if !ok || said.RawResponse == nil {
		return outbound.Unreachable(err)
	}
	body, readErr := io.ReadAll(said.RawResponse.Body)
	if readErr != nil {
		body = nil // the status says enough
	}
	return outbound.OAuth(said.RawResponse.StatusCode, body)
}
