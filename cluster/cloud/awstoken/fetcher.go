package awstoken

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	// defaultRegion is where the token service is called for a deployment without a region.
	defaultRegion = "us-east-1"
	// defaultSession names the sessions of roles.
	defaultSession = "modelgateway"
	// roleTime is how long a key of an assumed role is asked for. It is the longest that every role permits.
	roleTime = time.Hour
)

// Fetcher gets the keys of one credential.
type Fetcher struct {
	settings cloud.Settings
	client   *http.Client // of token services
	clients  *outbound.Clients
}

// New returns the fetcher of a credential.
func New(of cloud.Credential, clients *outbound.Clients) *Fetcher {
	return &Fetcher{settings: of.Settings, client: clients.For(of), clients: clients}
}

// Fetch gets a key.
func (f *Fetcher) Fetch(ctx context.Context) (cloud.Token, error) {
	keys, err := f.fetch(ctx)
	if err != nil {
		return cloud.Token{}, explain(err)
	}
	t := cloud.Token{AccessKeyID: keys.AccessKeyID, SecretKey: vault.NewSecret(keys.SecretAccessKey), SessionToken: vault.NewSecret(keys.SessionToken)}
	if keys.CanExpire {
		t.Expires = keys.Expires
	}
	return t, nil
}

func (f *Fetcher) fetch(ctx context.Context) (aws.Credentials, error) {
	role := f.settings.Get(cloud.AWSRole)
	if !f.settings.Secret(cloud.AWSWebIdentityToken).IsEmpty() {
		return stscreds.NewWebIdentityRoleProvider(f.sts(nil), role, webIdentity{f}, func(o *stscreds.WebIdentityRoleOptions) {
			o.RoleSessionName = f.session()
		}).Retrieve(ctx)
	}
	base, err := f.base(ctx)
	if err != nil || role == "" {
		if err != nil {
			return aws.Credentials{}, err
		}
		return base.Retrieve(ctx)
	}
	return stscreds.NewAssumeRoleProvider(f.sts(base), role, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = f.session()
		o.Duration = roleTime
		if id := f.settings.Secret(cloud.AWSExternalID); !id.IsEmpty() {
			o.ExternalID = aws.String(id.Reveal())
		}
	}).Retrieve(ctx)
}

func (f *Fetcher) session() string {
	return cmp.Or(f.settings.Get(cloud.AWSRoleSession), defaultSession)
}

// base returns the keys that are used themselves, or with which the role is assumed.
func (f *Fetcher) base(ctx context.Context) (aws.CredentialsProvider, error) {
	if id := f.settings.Secret(cloud.AWSAccessKeyID); !id.IsEmpty() {
		return credentials.NewStaticCredentialsProvider(id.Reveal(), f.settings.Secret(cloud.AWSSecretAccessKey).Reveal(), f.settings.Secret(cloud.AWSSessionToken).Reveal()), nil
	}
	options := []func(*config.LoadOptions) error{
		// Only a client of this type is accepted where AWS_CA_BUNDLE, or ca_bundle of the profile, names more authorities.
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(f.clients.GuardMachine)),
		config.WithAPIOptions([]func(*middleware.Stack) error{observe}),
		config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) { o.Client = f.instance() }),
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = f.clients.Machine() }), // tasks and pods
		// The manager renews keys early, and uses them until they expire.
		config.WithCredentialsCacheOptions(func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = 0 }),
		config.WithLogger(logging.Nop{}),
		config.WithRetryer(once),
		config.WithRegion(f.region()),
	}
	if profile := f.settings.Get(cloud.AWSProfile); profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	return cfg.Credentials, nil // it caches nothing that another Fetch would see
}

func (f *Fetcher) region() string { return cmp.Or(f.settings.Get(cloud.AWSRegion), defaultRegion) }

// sts returns a client of the token service. keys are nil for calls that are not signed.
func (f *Fetcher) sts(keys aws.CredentialsProvider) *sts.Client {
	o := sts.Options{Region: f.region(), HTTPClient: f.client, Credentials: keys, Retryer: once()}
	if keys == nil {
		o.Credentials = aws.AnonymousCredentials{}
	}
	if address := f.settings.Get(cloud.AWSTokenEndpoint); address != "" {
		o.BaseEndpoint = aws.String(strings.TrimSuffix(address, "/"))
	}
	return sts.New(o)
}

// instance returns a client of a virtual machine's metadata. The one that the library makes has a dialer of its own.
func (f *Fetcher) instance() *imds.Client {
	o := imds.Options{HTTPClient: f.clients.Machine(), Retryer: once(), Endpoint: f.clients.Environ("AWS_EC2_METADATA_SERVICE_ENDPOINT"), Logger: logging.Nop{}}
	if strings.EqualFold(f.clients.Environ("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"), "IPv6") {
		o.EndpointMode = imds.EndpointModeStateIPv6
	}
	return imds.New(o)
}

// observe has the responses to a client of the library pass through outbound.Observe.
func observe(s *middleware.Stack) error {
	return s.Deserialize.Add(middleware.DeserializeMiddlewareFunc("Observe", func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		answer, responds := out.RawResponse.(*smithyhttp.Response)
		if request, ok := in.Request.(*smithyhttp.Request); ok && responds {
			outbound.Observe(ctx, request.URL.Host, answer.Response)
		}
		return out, metadata, err
	}), middleware.After)
}

// once makes no further attempts: the manager of the tokens does.
func once() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) }

// webIdentity returns the web identity token that the settings have or refer to.
type webIdentity struct{ f *Fetcher }

// GetIdentityToken returns the token.
func (w webIdentity) GetIdentityToken() ([]byte, error) {
	token, err := w.f.clients.Identity(cloud.AWSWebIdentityToken, w.f.settings.Secret(cloud.AWSWebIdentityToken).Reveal())
	return []byte(token), err
}

// explain returns an error for operators.
func explain(err error) error {
	if strings.Contains(err.Error(), "EC2 IMDS role") { // the last place where the library looks
		return fmt.Errorf("this machine has no credential of AWS: neither the environment, nor a profile, nor a role of the machine: %w", said(err))
	}
	return said(err)
}

// said returns an error with what a service said.
func said(err error) error {
	status := 0
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		status = answer.HTTPStatusCode()
	}
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return outbound.Rejected(status, e.ErrorCode(), e.ErrorMessage())
	}
	if status != 0 {
		return outbound.Rejected(status, "", "")
	}
	return outbound.Unreachable(err)
}
