package mgmt

import (
	"context"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// someModel stands for the model of a deployment that only names an account.
const someModel = "any"

// DiscoverModels asks a provider which models an account can reach. The account is checked as a deployment
// of it would be, so it can lead to no other address.
func (s modelService) DiscoverModels(ctx context.Context, in *gatewayv1.DiscoverModelsRequest) (*gatewayv1.DiscoverModelsResponse, error) {
	params := orEmpty(in.GetGatewayParams())
	if params.GetModel() != "" || params.GetCustomLlmProvider() != "" {
		return nil, fault.Field("gateway_params.model", "invalid_value", "The provider is asked for all its models. Send provider alone.")
	}
	spec := catalog.DeploymentSpec{ID: string(catalog.NewDeploymentID()), ModelName: someModel, Model: in.GetProvider() + "/" + someModel}
	if err := describe(&spec, params, orEmpty[gatewayv1.ModelInfoInput](nil)); err != nil {
		return nil, err
	}
	if err := s.reach.deployment(nil, &spec); err != nil {
		return nil, err
	}
	if err := ownAddress(&spec); err != nil {
		return nil, err
	}
	c := operation.View(ctx).Catalog
	account, err := draft(c, &spec)
	if err != nil {
		return nil, providerNamed(err)
	}
	models, err := s.discover(ctx, account)
	if err != nil {
		return nil, err
	}
	configured := map[string]bool{}
	for _, d := range c.Deployments() {
		configured[d.Identifier()] = true
	}
	out := &gatewayv1.DiscoverModelsResponse{}
	for _, name := range models {
		spec.Model = in.GetProvider() + "/" + name
		d, err := draft(c, &spec)
		if err != nil {
			continue // its name cannot be one of a deployment's model
		}
		out.ModelList = append(out.GetModelList(), &gatewayv1.DiscoveredModel{
			ModelName: name, GatewayParams: entry(&spec, in.GetProvider()),
			ModelInfo: &gatewayv1.DiscoveredInfo{Priced: d.Listed(), Configured: configured[spec.Model]},
		})
	}
	return out, nil
}

// ownAddress rejects a stored credential together with an address: otherwise a key that may only read could
// receive the credential.
func ownAddress(spec *catalog.DeploymentSpec) error {
	if spec.CredentialName == "" {
		return nil
	}
	if spec.APIBase != "" {
		return fault.Field("gateway_params.api_base", "invalid_value", "A stored credential is sent to its own address only. Leave api_base out, or send api_key instead of credential_name.")
	}
	for _, name := range []string{cloud.AWSTokenEndpoint, cloud.AWSRuntimeEndpoint, cloud.AzureAuthority} {
		if _, ok := spec.Cloud[name]; ok {
			return fault.Field("gateway_params."+name, "invalid_value", "A stored credential is sent to its own addresses only. Leave %s out.", name)
		}
	}
	return nil
}

// draft returns what a deployment would be.
func draft(c *catalog.Catalog, spec *catalog.DeploymentSpec) (*catalog.Deployment, error) {
	with, err := c.With(*spec)
	if err != nil {
		return nil, err
	}
	d, _ := with.Deployment(id.Deployment(spec.ID))
	return d, nil
}

// providerNamed names the field of the request instead of the deployment's model.
func providerNamed(err error) error {
	if e := fault.From(err); e.Param == "gateway_params.model" {
		return field.Named("provider", err)
	}
	return err
}

// entry returns gateway_params of an entry of model_list. A key in the request is named as the environment
// variable in which operators have it.
func entry(spec *catalog.DeploymentSpec, provider string) *gatewayv1.DiscoveredParams {
	out := &gatewayv1.DiscoveredParams{
		Model: spec.Model, ApiBase: given(spec.APIBase), CredentialName: given(spec.CredentialName), Organization: given(spec.Organization),
	}
	if !spec.APIKey.IsEmpty() {
		out.ApiKey = new("os.environ/" + strings.ToUpper(provider) + "_API_KEY")
	}
	settings := out.ProtoReflect()
	for name, value := range spec.Cloud {
		text := value.Reveal()
		if s, ok := cloud.Named(name); !ok || s.Secret {
			text = "os.environ/" + variable(s)
		}
		if f := settings.Descriptor().Fields().ByName(protoreflect.Name(name)); f != nil {
			settings.Set(f, protoreflect.ValueOfString(text))
		}
	}
	return out
}

// variable returns the environment variable in which operators have a setting.
func variable(s cloud.Setting) string {
	name := strings.ToUpper(s.Name)
	if prefix := strings.ToUpper(string(s.Of)) + "_"; s.Of == cloud.Azure && !strings.HasPrefix(name, prefix) {
		name = prefix + name
	}
	return name
}
