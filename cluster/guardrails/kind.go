package guardrails

// The times of checks.
const (
	PreCall  = "pre_call"
	PostCall = "post_call"
)

// Kind is a kind of engine.
type Kind struct {
	Name        string
	Description string
	Hooks       []string  // when it can check
	Settings    []Setting // with their names in the API
}

// Setting is one setting of an engine.
type Setting struct {
	Name        string
	Description string
	Default     any      // nil for none
	Values      []string // the allowed values of a text or of a list's elements; nil for any
	Type        string   // JSON Schema's: string, number, array
}

// Kinds returns a new list of all kinds of engines, in alphabetical order.
func Kinds() []Kind {
	message := Setting{Name: "violation_message", Type: "string", Description: "What a caller is told whose request is blocked."}
	return []Kind{
		{
			Name: "content_filter", Hooks: []string{PreCall, PostCall},
			Description: "Refuses text that holds a banned word, or that a banned pattern finds.",
			Settings: []Setting{
				{Name: "action", Type: "string", Default: "block", Values: []string{"block"}, Description: "What is done with what is found."},
				{Name: "banned_keywords", Type: "array", Description: "Words that are refused, in any case, also within others."},
				{Name: "banned_patterns", Type: "array", Description: "Regular expressions (RE2) of what is refused, in any case."},
				message,
			},
		},
		{
			Name: "detect_secret", Hooks: []string{PreCall},
			Description: "Finds credentials in prompts, by the forms that providers give theirs.",
			Settings: []Setting{
				{Name: "action", Type: "string", Default: "redact", Values: []string{"redact", "block"}, Description: "What is done with what is found."},
				{Name: "detectors", Type: "array", Values: detectors(), Description: "The kinds of secrets to look for; none means all."},
				message,
			},
		},
		{
			Name: "presidio", Hooks: []string{PreCall, PostCall},
			Description: "Finds personal data, and puts the name of its sort in its place or refuses it.",
			Settings: []Setting{
				{Name: "action", Type: "string", Default: "anonymize", Values: []string{"anonymize", "block"}, Description: "What is done with what is found."},
				{Name: "entities", Type: "array", Values: entities(), Description: "The sorts of data to look for; none means all."},
				{Name: "language", Type: "string", Default: "en", Description: "The language of the text."},
				{Name: "score_threshold", Type: "number", Default: 0.5, Description: "Findings less certain than this are left."},
				message,
			},
		},
		{
			Name: "tool_permission", Hooks: []string{PreCall},
			Description: "Says which tools may be offered to the model.",
			Settings: []Setting{
				{Name: "allowed_tools", Type: "array", Description: "The tools that may be offered; none means all."},
				{Name: "blocked_tools", Type: "array", Description: "The tools that may not; it wins over allowed_tools."},
				{Name: "on_violation", Type: "string", Default: "block", Values: []string{"block", "remove"}, Description: "What is done where a tool may not be offered."},
				message,
			},
		},
	}
}

func kindOf(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// setting returns a setting of the kind.
func (k Kind) setting(name string) (Setting, bool) {
	for _, s := range k.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// Schema returns the JSON Schema of the kind's settings.
func (k Kind) Schema() map[string]any {
	properties := make(map[string]any, len(k.Settings))
	for _, s := range k.Settings {
		p := map[string]any{"type": s.Type, "description": s.Description}
		values := make([]any, len(s.Values))
		for i, v := range s.Values {
			values[i] = v
		}
		switch {
		case s.Type == "array" && s.Values != nil:
			p["items"] = map[string]any{"type": "string", "enum": values}
		case s.Type == "array":
			p["items"] = map[string]any{"type": "string"}
		case s.Values != nil:
			p["enum"] = values
		}
		if s.Name == "score_threshold" {
			p["minimum"], p["maximum"] = 0.0, 1.0
		}
		if s.Default != nil {
			p["default"] = s.Default
		}
		properties[s.Name] = p
	}
	return map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
}

// entities returns the kinds of personal data, with the names of Microsoft Presidio (its
// supported entities, and the recognizers of single countries).
func entities() []string {
	return []string{
		"AU_ABN", "AU_ACN", "AU_MEDICARE", "AU_TFN", "CREDIT_CARD", "CRYPTO", "DATE_TIME", "DE_TAX_ID", "EMAIL_ADDRESS",
		"ES_NIE", "ES_NIF", "FI_PERSONAL_IDENTITY_CODE", "IBAN_CODE", "IN_AADHAAR", "IN_PAN", "IN_PASSPORT", "IN_VEHICLE_REGISTRATION",
		"IN_VOTER", "IP_ADDRESS", "IT_DRIVER_LICENSE", "IT_FISCAL_CODE", "IT_IDENTITY_CARD", "IT_PASSPORT", "IT_VAT_CODE", "LOCATION",
		"MAC_ADDRESS", "MEDICAL_LICENSE", "NRP", "PERSON", "PHONE_NUMBER", "PL_PESEL", "SG_NRIC_FIN", "SG_UEN", "UK_NHS", "UK_NINO", "URL",
		"US_BANK_NUMBER", "US_DRIVER_LICENSE", "US_ITIN", "US_PASSPORT", "US_SSN", "UUID",
	}
}

// detectors returns the kinds of secrets, with their names in the API.
func detectors() []string {
	return []string{
		"artifactory", "aws", "azure", "base64_entropy", "basic_auth", "cloudant", "discord", "github", "hex_entropy", "ibm_cos", "ibm_iam",
		"jwt", "mailchimp", "npm", "private_key", "sendgrid", "slack", "softlayer", "square", "stripe", "twilio",
	}
}
