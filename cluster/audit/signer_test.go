package audit_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

func parseSigner(t *testing.T, private []byte) *audit.Signer {
	t.Helper()
	s, err := audit.ParseSigner(vault.NewSecret(strings.TrimSpace(string(private))))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestKeys(t *testing.T) {
	private, verifier := audit.NewSigner()
	if !strings.HasPrefix(verifier, "modelgateway/default+") {
		t.Errorf("the name of the key is %s", verifier)
	}
	v, err := audit.ParseVerifier(verifier)
	if err != nil || v.String() != verifier {
		t.Errorf("%s is parsed as %s: %v", verifier, v, err)
	}
	secret := private.Reveal()
	for i := range len(secret) {
		for _, text := range []string{secret[:i], secret[:i] + "!" + secret[i+1:], secret[:i] + secret[i+1:]} {
			s, err := audit.ParseSigner(vault.NewSecret(text))
			if err == nil && s.Verifier().String() == verifier {
				t.Errorf("a private key with a wrong character %d is accepted", i)
			}
			if err != nil && strings.Contains(err.Error(), secret[len(secret)-20:]) {
				t.Error("the error shows the key")
			}
		}
	}
	for i := range len(verifier) {
		for _, text := range []string{verifier[:i], verifier[:i] + "!" + verifier[i+1:], verifier[:i] + verifier[i+1:]} {
			if _, err := audit.ParseVerifier(text); err == nil {
				t.Errorf("%s is accepted", text)
			}
		}
	}
}
