package entratoken_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/entratoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// fetch gets a token with settings, as names and values.
func fetch(t *testing.T, cfg outbound.Config, settings ...string) (cloud.Token, error) {
	t.Helper()
	values := map[string]vault.Secret{}
	for i := 0; i < len(settings); i += 2 {
		values[settings[i]] = vault.NewSecret(settings[i+1])
	}
	clients := outbound.NewClients(cfg)
	t.Cleanup(clients.Close)
	c := cloud.CredentialOf(cloud.Azure, cloud.Of(values), true)
	got, err := entratoken.New(c, clients).Fetch(t.Context())
	if err != nil {
		err = fmt.Errorf("%s", outbound.Scrub(err.Error(), c))
	}
	return got, err
}

// jwt returns a JSON web token with these claims.
func jwt(claims string) string {
	return "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".CANARY"
}

func TestTokenOfTheSettings(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(time.Hour).Truncate(time.Second)
	fresh := jwt(fmt.Sprintf(`{"aud": "https://cognitiveservices.azure.com", "exp": %d}`, until.Unix()))
	for _, c := range []struct {
		token string
		until time.Time
	}{{fresh, until}, {"opaque", time.Time{}}, {jwt(`{"exp": "soon"}`), time.Time{}}, {"a.b.c", time.Time{}}} {
		got, err := fetch(t, outbound.Config{}, cloud.AzureADToken, c.token)
		if err != nil || got.Bearer.Reveal() != c.token || !got.Expires.Equal(c.until) {
			t.Errorf("the token is %q until %s, and the error %v", got.Bearer.Reveal(), got.Expires, err)
		}
	}
	_, err := fetch(t, outbound.Config{}, cloud.AzureADToken, jwt(`{"exp": 1700000000}`))
	if err == nil || !strings.HasPrefix(err.Error(), "azure_ad_token expired at 2023-11-14T22:13:20Z; write a new one") || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("the error of an expired token is %v", err)
	}
}
