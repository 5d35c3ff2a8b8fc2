package guardrails

import "strings"

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
	Default     any            // nil for none
	Values      []string       // the allowed values of a text or of a list's elements; nil for any
	Type        string         // JSON Schema's: string, number, boolean, array
	Items       map[string]any // JSON Schema of a list's elements that are no texts; nil for texts
	Open        bool           // Values are those that the engine knows; a configuration can add some
}

// Names of engines that code refers to.
const (
	presidio      = "presidio"
	contentFilter = "content_filter"
	httpChecker   = "http"
)

// What is done with a finding.
const (
	anonymize = "anonymize"
	block     = "block"
	flag      = "flag"
	pass      = "pass"
	redact    = "redact"
	remove    = "remove"
)

// Kinds returns a new list of all kinds of engines, in alphabetical order.
func Kinds() []Kind {
	message := Setting{Name: "violation_message", Type: "string", Description: "The text that the caller of a blocked request gets."}
	onError := Setting{Name: "on_error", Type: "string", Default: block, Values: []string{block, pass}, Description: "What is done with a text if the engine fails or is late."}
	unscannable := Setting{Name: "unscannable", Type: "string", Default: pass, Values: []string{pass, block}, Description: "What is done with images, sounds and files, which the engine cannot read."}
	reversible := Setting{Name: "reversible", Type: "boolean", Default: false, Description: "Whether each value gets a number, as in [PERSON_1], and the response has the value again. It needs the action anonymize."}
	return []Kind{
		{
			Name: contentFilter, Hooks: []string{PreCall, PostCall},
			Description: "Finds banned words, and what banned patterns match.",
			Settings: []Setting{
				action(block, anonymize, flag),
				{Name: "banned_keywords", Type: "array", Description: "Words to look for, in any case."},
				{Name: "banned_patterns", Type: "array", Description: "Regular expressions (RE2) to look for, in any case."},
				{Name: "match", Type: "string", Default: "substring", Values: []string{"substring", "word"}, Description: "Whether banned_keywords are found within other words too."},
				onError, unscannable, message,
			},
		},
		{
			Name: "detect_secret", Hooks: []string{PreCall, PostCall},
			Description: "Finds credentials, by the forms that providers give theirs.",
			Settings: []Setting{
				action(redact, block, flag),
				{Name: "detectors", Type: "array", Values: detectors(), Description: "The kinds of secrets to look for; none means all."},
				onError, unscannable, message,
			},
		},
		checkerKind(onError, unscannable, message),
		{
			Name: presidio, Hooks: []string{PreCall, PostCall},
			Description: "Finds personal data, and puts the name of its sort in its place, blocks or flags it. Its other name is pii.",
			Settings: []Setting{
				action(anonymize, block, flag),
				{Name: "allow_list", Type: "array", Description: "Values that are left as they are, in any case."},
				{Name: "entities", Type: "array", Values: entities(), Open: true, Description: "The sorts of data to look for; none means all. Those of recognizers are always looked for."},
				{Name: "language", Type: "string", Default: "en", Description: "The language of the text."},
				{Name: "recognizers", Type: "array", Items: recognizerSchema(), Description: "Sorts of data of one's own, which regular expressions (RE2) find."},
				{Name: "regions", Type: "array", Values: regions(), Default: []any{"US", "GB"}, Description: "The countries whose phone numbers are found without a country code. Those that begin with + are found for all countries."},
				reversible,
				threshold(0.5),
				onError, unscannable, message,
			},
		},
		remoteKind(reversible, onError, unscannable, message),
		{
			Name: "prompt_injection", Hooks: []string{PreCall},
			Description: "Finds texts that try to change what the model was told to do. It is a heuristic: it can miss some, and be wrong.",
			Settings:    []Setting{action(flag, block), threshold(0.7), onError, unscannable, message},
		},
		{
			Name: "tool_permission", Hooks: []string{PreCall, PostCall},
			Description: "Says which tools may be offered to the model, and which it may call.",
			Settings: []Setting{
				{Name: "allowed_tools", Type: "array", Description: "The tools that are permitted; none means all."},
				{Name: "blocked_tools", Type: "array", Description: "The tools that are not; it overrides allowed_tools."},
				{Name: "on_violation", Type: "string", Default: block, Values: []string{block, remove, flag}, Description: "What is done with a tool, or a call of one, that is not permitted."},
				onError, message,
			},
		},
	}
}

// action returns the setting of what is done with findings. The first value is the default.
func action(values ...string) Setting {
	return Setting{
		Name: "action", Type: "string", Default: values[0], Values: values,
		Description: "What is done with what is found. flag records it and lets it pass.",
	}
}

func threshold(unset float64) Setting {
	return Setting{Name: "score_threshold", Type: "number", Default: unset, Description: "Findings less certain than this are left."}
}

// recognizerSchema returns the JSON Schema of a recognizer.
func recognizerSchema() map[string]any {
	return map[string]any{
		"type": "object", "additionalProperties": false, "required": []any{"entity", "pattern"},
		"properties": map[string]any{
			"entity":  map[string]any{"type": "string", "pattern": "^[A-Z][A-Z0-9_]{0,63}$", "description": "The name of what it finds."},
			"pattern": map[string]any{"type": "string", "maxLength": 1000.0, "description": "A regular expression (RE2)."},
			"context": map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": "Words that make a finding more certain if one is near it."},
			"score":   map[string]any{"type": "number", "minimum": 0.0, "maximum": 1.0, "default": 1.0, "description": "How certain a finding without such a word is."},
		},
	}
}

// HooksOf returns the hooks at which an engine can look; nil if there is no such engine.
func HooksOf(engine string) []string {
	k, _ := kindOf(engine)
	return k.Hooks
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
		case s.Items != nil:
			p["items"] = s.Items
		case s.Open:
			p["items"] = map[string]any{"type": "string", "examples": values}
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

// entities returns the kinds of personal data that can be found, with the names of Microsoft
// Presidio (its supported entities, and the recognizers of single countries). NRP (nationality,
// religious or political group) is not among them: neither a form nor a checksum tells it.
func entities() []string {
	return []string{
		"ABA_ROUTING_NUMBER", "AU_ABN", "AU_ACN", "AU_MEDICARE", "AU_TFN", "CA_SIN", "CREDIT_CARD", "CRYPTO", "DATE_TIME", "DE_TAX_ID",
		"EMAIL_ADDRESS", "ES_NIE", "ES_NIF", "FI_PERSONAL_IDENTITY_CODE", "IBAN_CODE", "IN_AADHAAR", "IN_PAN", "IN_PASSPORT",
		"IN_VEHICLE_REGISTRATION", "IN_VOTER", "IP_ADDRESS", "IT_DRIVER_LICENSE", "IT_FISCAL_CODE", "IT_IDENTITY_CARD", "IT_PASSPORT",
		"IT_VAT_CODE", "KR_RRN", "LOCATION", "MAC_ADDRESS", "MEDICAL_LICENSE", "PERSON", "PHONE_NUMBER", "PL_PESEL", "SE_PERSONNUMMER",
		"SG_NRIC_FIN", "SG_UEN", "TH_TNIN", "TR_NATIONAL_ID", "UK_DRIVING_LICENCE", "UK_NHS", "UK_NINO", "URL", "US_BANK_NUMBER",
		"US_DRIVER_LICENSE", "US_ITIN", "US_NPI", "US_PASSPORT", "US_SSN", "UUID", "ZA_ID_NUMBER",
	}
}

// detectors returns the kinds of secrets, with their names in the API.
func detectors() []string {
	return []string{
		"artifactory", "aws", "azure", "base64_entropy", "basic_auth", "cloudant", "discord", "github", "hex_entropy", "ibm_cos", "ibm_iam",
		"jwt", "mailchimp", "model_provider", "npm", "private_key", "sendgrid", "slack", "softlayer", "square", "stripe", "twilio",
	}
}

// regions returns the countries and territories that have phone numbers, by their ISO 3166 codes.
func regions() []string {
	return strings.Fields(`
		AC AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC CD CF
		CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG
		GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW
		KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF
		NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM
		SN SO SR SS ST SV SX SY SZ TA TC TD TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK
		YE YT ZA ZM ZW`)
}
