package awstoken_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	awssts "github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/cloud"
)

// moto is a server of IAM and STS that another project has written.
type moto struct {
	URL  string               `json:"url"`
	Keys map[string][2]string `json:"keys"` // of users
}

// newMoto starts a server, which ends with the test.
func newMoto(t *testing.T) *moto {
	t.Helper()
	python := os.Getenv("MODELGATEWAY_PYTHON")
	if python == "" {
		python = "../../../.tmp/bin/python-sdks"
	}
	if _, err := os.Stat(python); err != nil {
		t.Fatalf("no Python with moto; run: make sdks (%v)", err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/sts.py")
	cmd.Env = append(os.Environ(), "PYTHONWARNINGS=ignore")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // the context has ended it, if nothing else
	})
	m := &moto{}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		_ = cmd.Wait() // it has ended
		t.Fatalf("moto does not start: %v\n%s", err, failed.String())
	}
	if err := json.Unmarshal(line, m); err != nil {
		t.Fatalf("moto says %q: %v", line, err)
	}
	return m
}

// as returns the settings of a user that assumes a role.
func (m *moto) as(user, role string, more ...string) []string {
	k := m.Keys[user]
	return append([]string{
		cloud.AWSTokenEndpoint, m.URL + "/", cloud.AWSAccessKeyID, k[0], cloud.AWSSecretAccessKey, k[1],
		cloud.AWSRole, "arn:aws:iam::123456789012:role/" + role,
	}, more...)
}

// caller returns whom STS takes the owner of a key for. It verifies the signature, and the session token.
func (m *moto) caller(t *testing.T, k cloud.Token) string {
	t.Helper()
	client := awssts.New(awssts.Options{
		Region: region, BaseEndpoint: &m.URL,
		Credentials: credentials.NewStaticCredentialsProvider(k.AccessKeyID, k.SecretKey.Reveal(), k.SessionToken.Reveal()),
	})
	who, err := client.GetCallerIdentity(t.Context(), nil)
	if err != nil {
		t.Fatalf("the key does not sign: %v", err)
	}
	return *who.Arn
}

// A server that verifies what it gets gives keys for roles, and its own verification accepts them.
func TestRolesAtMoto(t *testing.T) {
	t.Parallel()
	m := newMoto(t)
	assume := func(t *testing.T, settings ...string) cloud.Token {
		t.Helper()
		got, err := fetch(t, settings...)
		if left := time.Until(got.Expires); err != nil || got.SessionToken.IsEmpty() || left < 59*time.Minute || left > time.Hour {
			t.Fatalf("the key is valid for %s, and the error %v", left, err)
		}
		return got
	}
	t.Run("of a user", func(t *testing.T) {
		t.Parallel()
		if who := m.caller(t, assume(t, m.as("gateway", "plain")...)); who != "arn:aws:sts::123456789012:assumed-role/plain/modelgateway" {
			t.Errorf("the key is that of %s", who)
		}
	})
	t.Run("with an external id and a name", func(t *testing.T) {
		t.Parallel()
		if who := m.caller(t, assume(t, m.as("gateway", "external", cloud.AWSExternalID, "partner-7", cloud.AWSRoleSession, "team@eu")...)); who != "arn:aws:sts::123456789012:assumed-role/external/team@eu" {
			t.Errorf("the key is that of %s", who)
		}
	})
	t.Run("of a role", func(t *testing.T) {
		t.Parallel()
		first := assume(t, m.as("gateway", "first")...)
		second := assume(t, cloud.AWSTokenEndpoint, m.URL, cloud.AWSRole, "arn:aws:iam::123456789012:role/second", cloud.AWSAccessKeyID, first.AccessKeyID,
			cloud.AWSSecretAccessKey, first.SecretKey.Reveal(), cloud.AWSSessionToken, first.SessionToken.Reveal())
		if who := m.caller(t, second); who != "arn:aws:sts::123456789012:assumed-role/second/modelgateway" {
			t.Errorf("the key is that of %s", who)
		}
		_, err := fetch(t, cloud.AWSTokenEndpoint, m.URL, cloud.AWSRole, "arn:aws:iam::123456789012:role/second", cloud.AWSAccessKeyID, first.AccessKeyID,
			cloud.AWSSecretAccessKey, first.SecretKey.Reveal(), cloud.AWSSessionToken, second.SessionToken.Reveal())
		rejected(t, err, "the token service responds with status 403, InvalidClientTokenId: The security token included in the request is invalid.")
	})
	t.Run("of a web identity", func(t *testing.T) {
		t.Parallel()
		s := &sts{issuer: newKey(t)}
		got := assume(t, cloud.AWSTokenEndpoint, m.URL, cloud.AWSRole, "arn:aws:iam::123456789012:role/plain", cloud.AWSWebIdentityToken, write(t, "token", s.subject(t, time.Hour)))
		if who := m.caller(t, got); who != "arn:aws:sts::123456789012:assumed-role/plain/modelgateway" {
			t.Errorf("the key is that of %s", who)
		}
	})
	t.Run("that are denied", func(t *testing.T) {
		t.Parallel()
		const denied = "the token service responds with status 403, AccessDenied: User: arn:aws:iam::123456789012:user/"
		_, err := fetch(t, m.as("gateway", "closed")...)
		rejected(t, err, denied+"gateway is not authorized to perform: sts:AssumeRole")
		_, err = fetch(t, m.as("gateway", "external", cloud.AWSExternalID, "partner-8")...)
		rejected(t, err, denied+"gateway is not authorized to perform: sts:AssumeRole")
		_, err = fetch(t, m.as("stranger", "plain")...)
		rejected(t, err, denied+"stranger is not authorized to perform: sts:AssumeRole")
		settings := m.as("gateway", "plain")
		settings[5] = m.Keys["stranger"][1]
		_, err = fetch(t, settings...)
		rejected(t, err, "the token service responds with status 403, SignatureDoesNotMatch")
		if strings.Contains(err.Error(), m.Keys["stranger"][1]) {
			t.Errorf("the secret is in the error %v", err)
		}
	})
}

func rejected(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %v; want %s", err, want)
	}
}
