package vault_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

func TestFromKMS(t *testing.T) {
	for _, uri := range []string{
		"awskms:///arn:aws:kms:eu-central-1:111122223333:key/1234?region=eu-central-1",
		"awskms://alias/gateway?region=eu-central-1",
		"gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k",
		"azurekeyvault://v.vault.azure.net/keys/k/version?algorithm=RSA-OAEP-256",
		"hashivault://key", "hashivault://a/key?engine=mount",
	} {
		s, err := vault.FromKMS(uri)
		if err != nil || s.KMS() != uri || s.String() != uri || s.IsZero() || !s.Secret().IsEmpty() {
			t.Errorf("%s: %v, %v", uri, s, err)
		}
	}
	for _, uri := range []string{
		"", "CANARY", "CANARY://key", "s3://CANARY", "awskms://", "awskms:///", "hashivault://CANARY@key", "hashivault://u:CANARY@key",
		"hashivault://key#CANARY", "hashivault://%zzCANARY", "hashivault://CANARY" + strings.Repeat("k", 512), "hashivault:CANARY", "base64key://CANARY",
	} {
		if s, err := vault.FromKMS(uri); err == nil || !s.IsZero() || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v, %v", uri, s, err)
		}
	}
}

// TestSourcesAreNotShown prints a source in every way there is.
func TestSourcesAreNotShown(t *testing.T) {
	s := vault.FromSecret(vault.NewSecret(canary))
	var out strings.Builder
	slog.New(slog.NewJSONHandler(&out, nil)).InfoContext(t.Context(), "shown", slog.Any("source", s))
	encoded, err := json.Marshal(map[string]any{"s": s})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "%v %+v %#v %s %x %q %d %s", s, s, s, s, s, s, []vault.Source{s}, encoded)
	if strings.Contains(out.String(), "CANARY") || strings.Contains(out.String(), fmt.Sprintf("%x", canary)) {
		t.Errorf("shown: %s", out.String())
	}
	if !s.Equal(vault.FromSecret(vault.NewSecret(canary))) || s.Equal(vault.FromSecret(vault.NewSecret("other"))) || s.Equal(vault.Source{}) {
		t.Error("sources do not compare")
	}
}
