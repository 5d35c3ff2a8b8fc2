package cloud

import "strings"

// oidc begins a reference to a token of an identity provider, as LiteLLM has them.
const oidc = "oidc/"

// Reference says where the token of an identity provider is, if a setting does not have the token itself.
type Reference struct {
	File     string // its path
	Variable string // of the environment, that has the token
	FileOf   string // variable of the environment, that has the path
}

// ReferenceOf returns where the token of a setting is. ok is false if the value is the token itself. The zero Reference is
// of a kind that the gateway does not know.
func ReferenceOf(name, value string) (r Reference, ok bool) {
	kind, rest, found := strings.Cut(strings.TrimPrefix(value, oidc), "/")
	switch {
	case !strings.HasPrefix(value, oidc):
		return Reference{File: value}, IsFile(name, value)
	case found && kind == "file" && rest != "":
		return Reference{File: rest}, true
	case found && kind == "env" && rest != "":
		return Reference{Variable: rest}, true
	case found && kind == "env_path" && rest != "":
		return Reference{FileOf: rest}, true
	case kind == "azure":
		return Reference{FileOf: "AZURE_FEDERATED_TOKEN_FILE"}, true
	}
	return Reference{}, true
}
