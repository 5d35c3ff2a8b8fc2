package signature_test

import (
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/signature"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// TestSignatures are known answers, made with: printf '%s' "$t.$body" | openssl dgst -sha256 -hmac "$secret".
func TestSignatures(t *testing.T) {
	for _, tc := range []struct {
		at      int64
		body    string
		secrets []string
		want    string
	}{
		{1700000000, `{"event_id":"evt_0000000000000001"}`, []string{"whsec_test"}, "t=1700000000,v1=b6b5d0b64cc6fcfd854cf082bdba7e7d6f8323bc8a86394eefa0f74cc1345fba"},
		{0, "", []string{"k"}, "t=0,v1=6b4a4b8b3c40f1e8f53a3d36682e5f99f7ad2ac1df1c93dfe336f329167641e7"},
		{1700000000, `{"event_id":"evt_0000000000000001"}`, []string{"whsec_new", "whsec_test"}, "t=1700000000,v1=ca813e8c9e785aa1685b90af3ada000597dc016ac80d8362a530563d915f4c85,v1=b6b5d0b64cc6fcfd854cf082bdba7e7d6f8323bc8a86394eefa0f74cc1345fba"},
	} {
		var secrets []vault.Secret
		for _, s := range tc.secrets {
			secrets = append(secrets, vault.NewSecret(s))
		}
		if got := signature.Of(time.Unix(tc.at, 0), []byte(tc.body), secrets); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
}
