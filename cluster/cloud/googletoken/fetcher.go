package googletoken

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/compute/metadata"
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// scope is what tokens may be used for.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// Fetcher gets the tokens of one credential.
type Fetcher struct {
	value   vault.Secret // JSON, or the path of a file that has it; empty for the credential of the machine
	trusted bool
	client  *http.Client // of token services
	machine *http.Client // of metadata services
	environ func(name string) string
}

// New returns the fetcher of a credential.
func New(of cloud.Credential, clients *outbound.Clients) *Fetcher {
	return &Fetcher{of.Settings.Secret(cloud.VertexCredentials), of.Trusted, clients.For(of), clients.Machine(), clients.Environ}
}

// Fetch gets a token.
func (f *Fetcher) Fetch(ctx context.Context) (cloud.Token, error) {
	body, err := f.read()
	if err != nil {
		return cloud.Token{}, err
	}
	if body == nil {
		return f.ofMachine(ctx)
	}
	read, err := cloud.ReadGoogle(body)
	if err == nil && !f.trusted {
		err = read.CheckForeign()
	}
	if err != nil {
		return cloud.Token{}, err
	}
	kind, client := credentials.CredType(read.Type), f.client
	if kind == credentials.ExternalAccount {
		client = f.machine // the subject's token may be that of a machine
	}
	// The library's credentials keep tokens, so each fetch has its own.
	made, err := credentials.NewCredentialsFromJSON(kind, body, &credentials.DetectOptions{Scopes: []string{scope}, Client: client, DisableAsyncRefresh: true})
	if err != nil {
		return cloud.Token{}, fmt.Errorf("%s cannot be used: %w", cloud.VertexCredentials, err)
	}
	t, err := made.Token(ctx)
	if err != nil {
		return cloud.Token{}, explain(err)
	}
	return cloud.Token{Bearer: vault.NewSecret(t.Value), Expires: t.Expiry}, nil
}

// read returns the JSON of the credential; nil for the machine's service account.
func (f *Fetcher) read() ([]byte, error) {
	value := f.value.Reveal()
	file := value
	switch {
	case value == "":
		if file = f.defaultFile(); file == "" {
			return nil, nil
		}
	case !cloud.IsFile(cloud.VertexCredentials, value):
		return []byte(value), nil
	}
	return outbound.ReadFile(cloud.VertexCredentials, file)
}

// defaultFile returns the file with the default credentials of the machine; empty if there is none.
func (f *Fetcher) defaultFile() string {
	if file := f.environ("GOOGLE_APPLICATION_CREDENTIALS"); file != "" {
		return file
	}
	if home, err := os.UserConfigDir(); err == nil {
		if file := home + "/gcloud/application_default_credentials.json"; exists(file) {
			return file
		}
	}
	return ""
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// ofMachine gets the token of the machine's service account.
func (f *Fetcher) ofMachine(ctx context.Context) (cloud.Token, error) {
	body, err := metadata.NewWithOptions(&metadata.Options{Client: f.machine}).GetWithContext(ctx, "instance/service-accounts/default/token?scopes="+scope)
	if err != nil {
		return cloud.Token{}, fmt.Errorf("there are no default credentials on this machine, and its metadata service gives none: %w", outbound.Unreachable(err))
	}
	var t struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	if err := json.Unmarshal([]byte(body), &t); err != nil || t.Token == "" || t.Seconds <= 0 {
		return cloud.Token{}, errors.New("the metadata service of this machine returned no token")
	}
	return cloud.Token{Bearer: vault.NewSecret(t.Token), Expires: time.Now().Add(time.Duration(t.Seconds) * time.Second)}, nil
}

// explain returns an error for operators.
func explain(err error) error {
	said, ok := errors.AsType[*auth.Error](err)
	switch {
	case !ok:
		if m := regexp.MustCompile(`(?s)status code (\d{3}): (.*)$`).FindStringSubmatch(err.Error()); m != nil {
			status, _ := strconv.Atoi(m[1]) // it has three digits
			return outbound.OAuth(status, []byte(m[2]))
		}
		return outbound.Unreachable(err)
	case said.Response != nil:
		return outbound.OAuth(said.Response.StatusCode, said.Body)
	}
	return errors.New(strings.TrimPrefix(said.Error(), "auth: "))
}
