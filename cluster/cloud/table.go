package cloud

// Kind is a cloud: an issuer of credentials.
type Kind string

// The clouds. None is of providers whose credential is an API key alone.
const (
	None   Kind = ""
	AWS    Kind = "aws"
	Google Kind = "google"
	Azure  Kind = "azure"
)

// Names of settings, as LiteLLM has them.
//
//nolint:gosec // names, not values
const (
	AWSRegion           = "aws_region_name"
	AWSAccessKeyID      = "aws_access_key_id"
	AWSSecretAccessKey  = "aws_secret_access_key"
	AWSSessionToken     = "aws_session_token"
	AWSProfile          = "aws_profile_name"
	AWSRole             = "aws_role_name"
	AWSRoleSession      = "aws_session_name"
	AWSExternalID       = "aws_external_id"
	AWSWebIdentityToken = "aws_web_identity_token"
	AWSTokenEndpoint    = "aws_sts_endpoint"
	AWSRuntimeEndpoint  = "aws_bedrock_runtime_endpoint"

	VertexProject     = "vertex_project"
	VertexLocation    = "vertex_location"
	VertexCredentials = "vertex_credentials"

	AzureAPIVersion    = "api_version"
	AzureADToken       = "azure_ad_token"
	AzureTenant        = "tenant_id"
	AzureClient        = "client_id"
	AzureClientSecret  = "client_secret"
	AzureCertificate   = "azure_certificate"
	AzureFederatedFile = "azure_federated_token_file"
	AzureScope         = "azure_scope"
	AzureAuthority     = "azure_authority_host"
)

// Setting is a setting of deployments at a cloud.
type Setting struct {
	Name   string
	Of     Kind
	Secret bool   // its value is never shown, and is sealed in the state
	Text   string // its meaning, for the documentation
}

// Addresses are the settings that lead to a host, which gets what is made of secrets.
func Addresses() []string { return []string{AWSTokenEndpoint, AWSRuntimeEndpoint, AzureAuthority} }

// Table lists the settings, by cloud.
func Table() []Setting {
	return []Setting{
		{AWSRegion, AWS, false, "the region of AWS, such as `us-east-1`"},
		{AWSAccessKeyID, AWS, true, "the id of an access key of AWS"},
		{AWSSecretAccessKey, AWS, true, "its secret"},
		{AWSSessionToken, AWS, true, "its session token, if the key is temporary"},
		{AWSProfile, AWS, false, "a profile of the shared configuration of AWS on the gateway's machine"},
		{AWSRole, AWS, false, "the ARN of a role that the gateway assumes"},
		{AWSRoleSession, AWS, false, "the name of the role's session"},
		{AWSExternalID, AWS, true, "the external id that the role requires"},
		{AWSWebIdentityToken, AWS, true, "a web identity token with which the role is assumed, or the path of a file that has it"},
		{AWSTokenEndpoint, AWS, false, "the address of AWS's token service, if it is not the region's"},
		{AWSRuntimeEndpoint, AWS, false, "the address of Bedrock, where LiteLLM has `api_base`"},

		{VertexProject, Google, false, "the project of Google Cloud"},
		{VertexLocation, Google, false, "the location of Google Cloud, such as `europe-west4`, `global`, `us` or `eu`"},
		{VertexCredentials, Google, true, "a service account or another credential of Google as JSON, or the path of a file that has it; without it, the default credentials of the gateway's machine"},

		{AzureAPIVersion, Azure, false, "the version of Azure's API, such as `2024-10-21`; without it, `v1`"},
		{AzureADToken, Azure, true, "a token of Entra ID"},
		{AzureTenant, Azure, false, "the tenant of Entra ID"},
		{AzureClient, Azure, false, "the application, or the managed identity, of Entra ID"},
		{AzureClientSecret, Azure, true, "the application's secret"},
		{AzureCertificate, Azure, true, "the application's certificate and private key in PEM, or the path of a file that has them"},
		{AzureFederatedFile, Azure, false, "the path of a file with a token that Entra ID accepts from another issuer"},
		{AzureScope, Azure, false, "the scope of the tokens; without it, that of Azure's cognitive services"},
		{AzureAuthority, Azure, false, "the address of Entra ID, if it is not that of the public cloud"},
	}
}

// Named returns a setting by its name.
func Named(name string) (Setting, bool) {
	for _, s := range Table() {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}
