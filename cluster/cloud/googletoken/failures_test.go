package googletoken_test

import (
	"crypto/rsa"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/tokentest"
)

// reason returns why a node has no token, and checks that nothing it prints has a canary.
func reason(t *testing.T, n *tokentest.Node) string {
	t.Helper()
	why := n.Reason("a")
	if printed := why + n.Printed(); strings.Contains(printed, "CANARY") || strings.Contains(printed, "eyJ") {
		t.Errorf("a secret is in %s", printed)
	}
	return why
}

// A clock that is wrong is named as the cause.
func TestClockThatIsWrong(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	file := account(t, key, "https://"+oauthHost+"/token")
	for off, want := range map[time.Duration]string{
		-6 * time.Minute: "the clock of this machine is 6m0s ahead of that of " + oauthHost,
		61 * time.Minute: "the clock of this machine is 1h1m0s behind that of " + oauthHost,
	} {
		synctest.Test(t, func(t *testing.T) {
			n := tokentest.NewNetwork(t)
			(&google{keys: []*rsa.PrivateKey{key}, ahead: off}).oauth(n, tokentest.NewGate(t, failure))
			node := n.NewNode(cloud.Google, newFetcher, nil, map[string]map[string]string{"a": credential(file)})
			if why := reason(t, node); !strings.HasPrefix(why, want) || !strings.Contains(why, "correct the clock") || !strings.Contains(why, "reasonable timeframe") {
				t.Errorf("with a clock that is off by %s, the reason is %q", off, why)
			}
		})
	}
}

// What an operator sees when other services reject a credential.
func TestWhyThereIsNoToken(t *testing.T) {
	s := &google{issuer: newKey(t), keys: []*rsa.PrivateKey{newKey(t)}}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	federation := func(source map[string]any) string {
		return marshal(t, map[string]any{
			"type": "external_account", "audience": audience, "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
			"token_url": "https://" + stsHost + "/v1/token", "credential_source": source, "service_account_impersonation_url": "https://" + iamHost + robotPath,
		})
	}
	expired, err := tokentest.SignJWT(s.issuer, map[string]any{"aud": "https:" + audience, "exp": 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		credential, want string
	}{
		"another key":                    {account(t, newKey(t), "https://"+oauthHost+"/token"), "the token service responds with status 400, invalid_grant: Invalid JWT Signature."},
		"a token that has expired":       {federation(map[string]any{"file": write(t, "token", expired)}), "status 400"},
		"no file with the token":         {federation(map[string]any{"file": "/nowhere/token"}), `failed to open credential file "/nowhere/token"`},
		"a role that may not be assumed": {federation(map[string]any{"file": write(t, "token", s.subject(t))}), "the token service responds with status 403, PERMISSION_DENIED: Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist)."},
		"a machine without an account":   {"", "there are no default credentials on this machine, and its metadata service gives none"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, g := tokentest.NewNetwork(t), tokentest.NewGate(t, failure)
				s.oauth(n, g)
				s.impersonation(n, g)
				n.ServeTLS(iamHost, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusForbidden)
					answer(w, `{"error": {"code": 403, "message": "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).", "status": "PERMISSION_DENIED"}}`)
				}))
				n.Serve("169.254.169.254:80", http.NotFoundHandler())
				node := n.NewNode(cloud.Google, newFetcher, nil, map[string]map[string]string{"a": credential(c.credential)})
				time.Sleep(14 * time.Second) // some libraries try again
				if why := reason(t, node); !strings.Contains(why, c.want) {
					t.Errorf("the reason is %q; want %q", why, c.want)
				}
			})
		})
	}
}
