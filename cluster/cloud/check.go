package cloud

import (
	"regexp"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

const (
	codeInvalid = "invalid_value"
	codeMissing = "missing_required_parameter"
)

// Check finds settings of which no token can be made. Its error is a *fault.Error whose Param is the setting, and holds
// no secret. It reads no file.
func (c Credential) Check() error {
	if err := c.CheckValues(); err != nil {
		return err
	}
	switch c.Of {
	case AWS:
		return c.togetherAWS()
	case Azure:
		return c.togetherAzure()
	case Google, None:
	}
	return nil
}

// CheckValues is Check for each setting by itself: what is missing may come from elsewhere.
func (c Credential) CheckValues() error {
	if err := c.checkForeign(); err != nil {
		return err
	}
	region, role, tenant, authority := c.Settings.Get(AWSRegion), c.Settings.Get(AWSRole), c.Settings.Get(AzureTenant), c.Settings.Get(AzureAuthority)
	switch {
	case region != "" && !regionForm().MatchString(region):
		return fault.Field(AWSRegion, codeInvalid, "%s is not a region of AWS; write it like us-east-1.", AWSRegion)
	case role != "" && !roleForm().MatchString(role):
		return fault.Field(AWSRole, codeInvalid, "%s is not the ARN of a role; write it like arn:aws:iam::123456789012:role/name.", AWSRole)
	case strings.Trim(tenant, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-") != "":
		return fault.Field(AzureTenant, codeInvalid, "%s is not the id or the domain of a tenant.", AzureTenant)
	case authority != "" && !strings.HasPrefix(authority, "https://"):
		return fault.Field(AzureAuthority, codeInvalid, "%s must begin with https://.", AzureAuthority)
	}
	return c.checkGoogle()
}

func (c Credential) has(name string) bool { return !c.Settings.Secret(name).IsEmpty() }

// checkForeign rejects what only the configuration file may name.
func (c Credential) checkForeign() error {
	if c.Trusted {
		return nil
	}
	for _, v := range c.Settings {
		switch {
		case v.Name == AWSProfile:
			return fault.Field(v.Name, codeInvalid, "%s is a profile of the gateway's machine, which only the configuration file may name. Send aws_access_key_id and aws_secret_access_key.", v.Name)
		case strings.HasPrefix(v.Value.Reveal(), oidc):
			return fault.Field(v.Name, codeInvalid, "%s refers to the gateway's machine, which only the configuration file may do. Send the token itself.", v.Name)
		case IsFile(v.Name, v.Value.Reveal()):
			return fault.Field(v.Name, codeInvalid, "%s is the path of a file, which only the configuration file may name. Send what is in the file.", v.Name)
		}
	}
	return nil
}

// CheckComplete rejects a credential without the secrets that it needs, which would be that of the gateway's machine. Only
// deployments of the configuration file may have that one.
func (c Credential) CheckComplete() error {
	switch {
	case c.Trusted:
	case c.Of == AWS && !c.has(AWSAccessKeyID) && !c.has(AWSWebIdentityToken):
		return fault.Field(AWSAccessKeyID, codeMissing, "The deployment has no credential, and only those of the configuration file may use that of the gateway's machine. Send api_key, or aws_access_key_id and aws_secret_access_key, or aws_role_name and aws_web_identity_token.")
	case c.Of == Google && !c.has(VertexCredentials):
		return fault.Field(VertexCredentials, codeMissing, "The deployment has no credential, and only those of the configuration file may use that of the gateway's machine. Send vertex_credentials.")
	case c.Of == Azure && !c.has(AzureClientSecret) && !c.has(AzureCertificate) && !c.has(AzureADToken):
		return fault.Field(AzureADToken, codeMissing, "The deployment has no credential, and only those of the configuration file may use that of the gateway's machine. Send api_key, azure_ad_token, or tenant_id, client_id and client_secret.")
	}
	return nil
}

func (c Credential) togetherAWS() error {
	id, key, role := c.has(AWSAccessKeyID), c.has(AWSSecretAccessKey), c.Settings.Get(AWSRole)
	region := c.Settings.Get(AWSRegion)
	switch {
	case id && !key:
		return fault.Field(AWSSecretAccessKey, codeMissing, "%s is missing, and %s is there.", AWSSecretAccessKey, AWSAccessKeyID)
	case key && !id:
		return fault.Field(AWSAccessKeyID, codeMissing, "%s is missing, and %s is there.", AWSAccessKeyID, AWSSecretAccessKey)
	case c.has(AWSSessionToken) && !id:
		return fault.Field(AWSAccessKeyID, codeMissing, "%s is missing, and %s is there.", AWSAccessKeyID, AWSSessionToken)
	case c.has(AWSWebIdentityToken) && role == "":
		return fault.Field(AWSRole, codeMissing, "%s is missing: %s is for a role.", AWSRole, AWSWebIdentityToken)
	case role != "" && region != "" && partitionOf(region) != strings.Split(role, ":")[1]:
		return fault.Field(AWSRole, codeInvalid, "%s is of another partition of AWS than %s; a role can be used in its own partition only.", AWSRole, AWSRegion)
	}
	return nil
}

func regionForm() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z]{2,4}(-[a-z]{2,16}){1,2}-[0-9]{1,2}$`)
}

func roleForm() *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws(-[a-z]{2,4}){0,3}:iam::[0-9]{12}:role/[\w+=,.@/-]{1,512}$`)
}

// partitionOf returns the partition of a region.
func partitionOf(region string) string {
	for _, of := range [][2]string{{"cn-", "aws-cn"}, {"us-gov-", "aws-us-gov"}, {"us-iso-", "aws-iso"}, {"us-isob-", "aws-iso-b"}, {"eu-isoe-", "aws-iso-e"}, {"us-isof-", "aws-iso-f"}, {"eusc-", "aws-eusc"}} {
		if strings.HasPrefix(region, of[0]) {
			return of[1]
		}
	}
	return "aws"
}

func (c Credential) checkGoogle() error {
	value := c.Settings.Secret(VertexCredentials).Reveal()
	if value == "" || IsFile(VertexCredentials, value) {
		return nil
	}
	f, err := ReadGoogle([]byte(value))
	if err == nil && !c.Trusted {
		err = f.CheckForeign()
	}
	if err != nil {
		return fault.Field(VertexCredentials, codeInvalid, "%s.", err)
	}
	return nil
}

func (c Credential) togetherAzure() error {
	var needs string // the setting that needs an application
	for _, name := range []string{AzureClientSecret, AzureCertificate, AzureFederatedFile} {
		switch {
		case !c.has(name):
		case needs != "":
			return fault.Field(name, codeInvalid, "%s is there, and %s is, too. Keep one of them.", name, needs)
		default:
			needs = name
		}
	}
	if needs == "" && strings.HasPrefix(c.Settings.Secret(AzureADToken).Reveal(), oidc) {
		needs = AzureADToken
	}
	for _, name := range []string{AzureTenant, AzureClient} {
		if needs != "" && !c.has(name) {
			return fault.Field(name, codeMissing, "%s is missing, and %s is there.", name, needs)
		}
	}
	return nil
}
