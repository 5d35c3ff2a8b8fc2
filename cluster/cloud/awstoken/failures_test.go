package awstoken_test

import (
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

// What an operator sees when there can be no key: the cause, and no secret.
func TestWhyThereIsNoKey(t *testing.T) {
	clean(t)
	t.Setenv("AWS_CONFIG_FILE", write(t, "config", "[profile none]\nregion = "+region+"\n[profile broken]\nrole_arn = "+role+"\nsource_profile = nowhere\n"))
	s := &sts{issuer: newKey(t), keys: map[string]key{
		"AKIAONE": {secret: "CANARY/one"}, "ASIAOLD": {secret: "CANARY/old", session: "CANARY-session", expires: time.Unix(1, 0)},
	}}
	assume := func(more ...string) map[string]string { return settings(append(more, cloud.AWSRole, role)...) }
	another := assume(cloud.AWSAccessKeyID, "AKIAONE", cloud.AWSSecretAccessKey, "CANARY/one")
	another[cloud.AWSRole] = strings.Replace(role, "gateway", "admin", 1)
	elsewhere := assume(cloud.AWSAccessKeyID, "AKIAONE", cloud.AWSSecretAccessKey, "CANARY/one")
	elsewhere[cloud.AWSRegion] = "eu-nowhere-1"
	for name, c := range map[string]struct {
		credential map[string]string
		want       string
	}{
		"a wrong secret":                  {assume(cloud.AWSAccessKeyID, "AKIAONE", cloud.AWSSecretAccessKey, "CANARY/two"), "the token service responds with status 403, SignatureDoesNotMatch: The request signature we calculated does not match"},
		"a key that is unknown":           {assume(cloud.AWSAccessKeyID, "AKIATWO", cloud.AWSSecretAccessKey, "CANARY/two"), "the token service responds with status 403, InvalidClientTokenId: The security token included in the request is invalid."},
		"another session token":           {assume(cloud.AWSAccessKeyID, "ASIAOLD", cloud.AWSSecretAccessKey, "CANARY/old", cloud.AWSSessionToken, "CANARY-two"), "InvalidClientTokenId"},
		"a session token that expired":    {assume(cloud.AWSAccessKeyID, "ASIAOLD", cloud.AWSSecretAccessKey, "CANARY/old", cloud.AWSSessionToken, "CANARY-session"), "the token service responds with status 403, ExpiredToken: The security token included in the request is expired"},
		"a role that may not be assumed":  {another, "the token service responds with status 403, AccessDenied: User: arn:aws:iam::123456789012:user/gateway is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::123456789012:role/admin"},
		"a region that does not exist":    {elsewhere, "the token service cannot be called: "},
		"a web identity of another":       {assume(cloud.AWSWebIdentityToken, (&sts{issuer: newKey(t)}).subject(t, time.Hour)), "the token service responds with status 403, InvalidIdentityToken"},
		"no file with a web identity":     {assume(cloud.AWSWebIdentityToken, "/nowhere/token"), "aws_web_identity_token cannot be read: open /nowhere/token: no such file"},
		"a machine without a role":        {settings(), "this machine has no credential of AWS: "},
		"a profile that does not exist":   {settings(cloud.AWSProfile, "unknown"), "failed to get shared config profile, unknown"},
		"a profile without a credential":  {settings(cloud.AWSProfile, "none"), "this machine has no credential of AWS: "},
		"a profile of a profile, missing": {settings(cloud.AWSProfile, "broken"), "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := tokentest.NewNetwork(t)
				s.serve(n, tokentest.NewGate(t, failure))
				n.Serve(imds, http.NotFoundHandler())
				node := n.NewNode(cloud.AWS, newFetcher, nil, map[string]map[string]string{"a": c.credential})
				if why := reason(t, node); !strings.Contains(why, c.want) {
					t.Errorf("the reason is %q; want %q", why, c.want)
				}
			})
		})
	}
}

// A web identity that has expired is named, and a new one in its file is used.
func TestWebIdentityThatExpired(t *testing.T) {
	t.Parallel()
	s := &sts{issuer: newKey(t)}
	file := write(t, "token", "")
	synctest.Test(t, func(t *testing.T) {
		replace(t, file, s.subject(t, -time.Second))
		n := tokentest.NewNetwork(t)
		s.serve(n, tokentest.NewGate(t, failure))
		node := n.NewNode(cloud.AWS, newFetcher, nil, map[string]map[string]string{"a": settings(cloud.AWSRole, role, cloud.AWSWebIdentityToken, file)})
		if why := reason(t, node); !strings.Contains(why, "ExpiredTokenException: Token expired") {
			t.Errorf("the reason is %q", why)
		}
		replace(t, file, s.subject(t, time.Hour))
		time.Sleep(2 * time.Second)
		if node.Token("a").IsZero() {
			t.Errorf("the file is right, and there is no key: %s", reason(t, node))
		}
	})
}

// A clock that is wrong is named as the cause, also where the library of AWS makes the call.
func TestClockThatIsWrong(t *testing.T) {
	clean(t)
	t.Setenv("AWS_CONFIG_FILE", write(t, "config", "[profile bedrock]\nrole_arn = "+role+"\nsource_profile = base\n[profile base]\naws_access_key_id = AKIAONE\naws_secret_access_key = CANARY/one\n"))
	for name, credential := range map[string]map[string]string{
		"a key": settings(cloud.AWSRole, role, cloud.AWSAccessKeyID, "AKIAONE", cloud.AWSSecretAccessKey, "CANARY/one"), "a profile": settings(cloud.AWSProfile, "bedrock"),
	} {
		for off, want := range map[time.Duration]string{
			6 * time.Minute: "the clock of this machine is 6m0s behind that of " + stsHost, -6 * time.Minute: "the clock of this machine is 6m0s ahead of that of " + stsHost,
		} {
			t.Run(name+" "+off.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := tokentest.NewNetwork(t)
					(&sts{keys: map[string]key{"AKIAONE": {secret: "CANARY/one"}}, ahead: off}).serve(n, tokentest.NewGate(t, failure))
					node := n.NewNode(cloud.AWS, newFetcher, nil, map[string]map[string]string{"a": credential})
					if why := reason(t, node); !strings.HasPrefix(why, want) || !strings.Contains(why, "correct the clock") || !strings.Contains(why, "SignatureDoesNotMatch") {
						t.Errorf("the reason is %q", why)
					}
				})
			})
		}
	}
}

// A key that the settings have is not looked for elsewhere, and never expires.
func TestKeysOfTheSettings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := tokentest.NewNetwork(t)
		node := n.NewNode(cloud.AWS, newFetcher, nil, map[string]map[string]string{"a": settings(cloud.AWSAccessKeyID, "AKIAONE", cloud.AWSSecretAccessKey, "CANARY/one", cloud.AWSSessionToken, "session")})
		time.Sleep(1000 * time.Hour)
		if got := node.Token("a"); got.AccessKeyID != "AKIAONE" || got.SecretKey.Reveal() != "CANARY/one" || got.SessionToken.Reveal() != "session" || len(n.Dialed()) != 0 {
			t.Errorf("the key is %q with %q, and %v was called", got.AccessKeyID, got.SessionToken.Reveal(), n.Dialed())
		}
	})
}
