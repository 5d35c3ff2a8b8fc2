package awstoken_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/awstoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// fetch gets a key with settings, as names and values.
func fetch(t *testing.T, settings ...string) (cloud.Token, error) {
	t.Helper()
	values := map[string]vault.Secret{cloud.AWSRegion: vault.NewSecret("eu-west-1")}
	for i := 0; i < len(settings); i += 2 {
		values[settings[i]] = vault.NewSecret(settings[i+1])
	}
	clients := outbound.NewClients(outbound.Config{})
	t.Cleanup(clients.Close)
	return awstoken.New(cloud.CredentialOf(cloud.AWS, cloud.Of(values), true), clients).Fetch(t.Context())
}

func TestStaticKeys(t *testing.T) {
	t.Parallel()
	got, err := fetch(t, cloud.AWSAccessKeyID, "AKIA1", cloud.AWSSecretAccessKey, "secret", cloud.AWSSessionToken, "session")
	if err != nil || got.AccessKeyID != "AKIA1" || got.SecretKey.Reveal() != "secret" || got.SessionToken.Reveal() != "session" || !got.Expires.IsZero() {
		t.Errorf("the key is %+v, and the error %v", got, err)
	}
	got, err = fetch(t, cloud.AWSAccessKeyID, "AKIA1", cloud.AWSSecretAccessKey, "secret")
	if err != nil || got.SecretKey.Reveal() != "secret" || !got.SessionToken.IsEmpty() {
		t.Errorf("the key is %+v, and the error %v", got, err)
	}
}
