package secrets_test

import (
	"encoding/base64"
	"hash/crc32"
	"math/rand/v2"
	"strings"
)

// generator makes values that look like secrets and are none.
type generator struct{ *rand.Rand }

func newGenerator() generator { return generator{rand.New(rand.NewPCG(17, 21))} }

const (
	digits  = "0123456789"
	small   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexes   = "0123456789abcdef"
	alnum   = digits + small + capital
	word    = alnum + "_-"
	base64s = alnum + "+/"
)

func (g generator) of(set string, n int) string {
	var out strings.Builder
	for range n {
		out.WriteByte(set[g.IntN(len(set))])
	}
	return out.String()
}

// sealed returns a token with the checksum that GitHub and npm have.
func (g generator) sealed(prefix string) string {
	body := g.of(alnum, 30)
	sum, tail := crc32.ChecksumIEEE([]byte(body)), ""
	const order = digits + capital + small
	for range 6 {
		tail = string(order[sum%62]) + tail
		sum /= 62
	}
	return prefix + body + tail
}

func (g generator) jwt(claims int) string {
	enc := base64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + enc([]byte(`{"sub":"`+g.of(alnum, claims)+`"}`)) + "." + g.of(word, 86)
}

func (g generator) discord() string {
	return base64.RawURLEncoding.EncodeToString([]byte("8" + g.of(digits, 17)))[:24] + "." + g.of(alnum, 6) + "." + g.of(word, 27)
}

// pem returns a private key of some lines.
func (g generator) pem(label string, lines int, newline string) string {
	var out strings.Builder
	out.WriteString("-----BEGIN " + label + "-----" + newline)
	for range lines {
		out.WriteString(g.of(base64s, 64) + newline)
	}
	return out.String() + "-----END " + label + "-----"
}

// example is a text with one secret, or with none.
type example struct {
	detector string // empty for none
	before   string
	secret   string
	after    string
}

// positives returns texts with secrets.
func positives() []example {
	g := newGenerator()
	var out []example
	add := func(detector, before, secret, after string) {
		out = append(out, example{detector, before, secret, after})
	}
	for range 3 {
		add("artifactory", "curl -H 'X-JFrog-Art-Api: ", "AKCp8"+g.of(alnum, 68), "' https://repo.example")
		add("artifactory", "password=", "AP6"+g.of(alnum, 30)+"a1B", "\n")
		add("artifactory", "token ", "cmVmdGtu"+g.of(alnum, 56), " please")
		add("aws", "export AWS_ACCESS_KEY_ID=", "AKIA"+g.of(capital+"234567", 16), "\n")
		add("aws", "the id is ", "ASIA"+g.of(capital+"234567", 16), ".")
		add("aws", "aws_secret_access_key = ", g.of(base64s, 37)+"aZ9", "\n[default]")
		add("aws", `{"secretAccessKey": "`, g.of(base64s, 37)+"aZ9", `"}`)
		add("azure", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", g.of(base64s, 86)+"==", ";EndpointSuffix=core.windows.net")
		add("azure", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=", g.of(base64s, 43)+"=", "\n")
		add("azure", "client secret: ", "a1B8Q~"+g.of(alnum+"_", 34), " it is")
		add("azure", "https://x.blob.core.windows.net/c?sv=2024-08-04&se=2026-01-01&sig=", g.of(alnum, 43)+"%3D", " works")
		add("basic_auth", "postgres://admin:", "h"+g.of(alnum, 9), "@db.example:5432/x")
		add("basic_auth", `"https://bot:`, "s$"+g.of(alnum, 5)+"!", `@git.example/a.git"`)
		add("cloudant", "CLOUDANT_PASSWORD='", g.of(hexes, 64), "'")
		add("cloudant", "https://acct:", g.of(small, 24), "@acct.cloudant.com/db")
		add("discord", "bot.run('", g.discord(), "')")
		add("github", "git clone with ", g.sealed("ghp_"), ", then build")
		add("github", "GITHUB_TOKEN=", g.sealed("ghs_"), "")
		add("github", "(", "github_pat_"+g.of(alnum, 22)+"_"+g.of(alnum, 59), ")")
		add("hex_entropy", `secret = "`, g.of(hexes, 32), `"`)
		add("hex_entropy", "api_key: ", g.of(hexes, 40), "\n")
		add("base64_entropy", `"`, "aB3"+g.of(base64s, 57), `"`)
		add("base64_entropy", "SIGNING_KEY=", "aB3"+g.of(base64s, 60)+"=", " # keep")
		add("ibm_cos", `"cos_hmac_keys": {"secret_access_key": "`, g.of(hexes, 48), `"}`)
		add("ibm_iam", "IBM_CLOUD_API_KEY=", g.of(word, 43)+"Z", "\n")
		add("jwt", "Authorization: Bearer ", g.jwt(20), "\r\n")
		add("jwt", "token=", g.jwt(400), " is long")
		add("mailchimp", "key ", g.of(hexes, 32)+"-us17", " of the list")
		g.addModelKeys(add)
		add("npm", "//registry.example/:_authToken=", g.sealed("npm_"), "\n")
		add("npm", "//registry.example/:_authToken=", g.of(hexes, 8)+"-"+g.of(hexes, 4)+"-4"+g.of(hexes, 3)+"-a"+g.of(hexes, 3)+"-"+g.of(hexes, 12), "\n")
		add("private_key", "Here: ", g.pem("RSA PRIVATE KEY", 5, "\n"), "\nand more")
		add("private_key", `{"private_key": "`, g.pem("PRIVATE KEY", 12, `\n`), `\n", "client": "x"}`)
		add("private_key", "key: |\n  ", g.pem("OPENSSH PRIVATE KEY", 6, "\n  "), "\nnext: 1")
		add("private_key", "", g.pem("PGP PRIVATE KEY BLOCK", 30, "\n"), " done")
		add("sendgrid", "key=", "SG."+g.of(word, 22)+"."+g.of(word, 42)+"x", "\n")
		add("slack", "SLACK=", "xoxb-"+g.of(digits, 12)+"-"+g.of(digits, 12)+"-"+g.of(alnum, 24), " ")
		add("slack", "POST https://hooks.slack.com/services/", "T"+g.of(capital+digits, 8)+"/B"+g.of(capital+digits, 8)+"/"+g.of(alnum, 24), " now")
		add("softlayer", "softlayer_api_key = '", g.of(hexes, 64), "'")
		add("softlayer", "https://api.softlayer.com/soap/v3/", g.of(small+digits, 64), "")
		add("square", "x ", "sq0atp-"+g.of(word, 21)+"x", " y")
		add("square", "x ", "sq0csp-"+g.of(word, 42)+"x", " y")
		add("stripe", "Stripe.api_key = '", "sk_live_"+g.of(alnum, 24), "'")
		add("stripe", "", "rk_test_"+g.of(alnum, 99), "")
		add("stripe", "secret is ", "whsec_"+g.of(alnum, 32), " of the hook")
		add("twilio", "sid=", "AC"+g.of(hexes, 32), "&x")
		add("twilio", "key ", "SK"+g.of(hexes+"ABCDEF", 32), ".")
		add("twilio", "TWILIO_AUTH_TOKEN=", g.of(hexes, 32), "\n")
	}
	return out
}

// addModelKeys adds keys of model providers.
func (g generator) addModelKeys(add func(detector, before, secret, after string)) {
	const who = "model_provider"
	add(who, "my key is ", "sk-proj-"+g.of(word, 74)+"T3BlbkFJ"+g.of(word, 73)+"x", ", and yours?")
	add(who, "see ", "sk-proj-abcdefghijklmnop1234567890ABCDEFGH", "")
	add(who, "OPENAI_API_KEY=", "sk-"+g.of(alnum, 20)+"T3BlbkFJ"+g.of(alnum, 20), "\n")
	add(who, "use ", "sk-ant-api03-"+g.of(word, 93)+"AA", " for it")
	add(who, "or ", "sk-or-v1-"+g.of(hexes, 64), " then")
	add(who, "a key of a gateway: ", "sk-"+g.of(hexes, 48), ".")
	add(who, "DeepSeek has ", "sk-"+g.of(hexes, 32), ".")
	add(who, "xi-api-key: ", "sk_"+g.of(hexes, 48), "\n")
	add(who, "?key=", "AIza"+g.of(word, 34)+"x", "&alt=sse")
	add(who, "groq ", "gsk_"+g.of(alnum, 52), " is fast")
	add(who, "HF_TOKEN ", "hf_"+g.of(small+capital, 34), "")
	add(who, "grok: ", "xai-"+g.of(alnum, 80), "")
	add(who, "(", "pplx-"+g.of(alnum, 48), ")")
	add(who, "replicate ", "r8_"+g.of(alnum, 37), ",")
	add(who, "nim ", "nvapi-"+g.of(word, 63)+"x", " ok")
	add(who, "'", "csk-"+g.of(small+digits, 48), "'")
	add(who, "databricks ", "dapi"+g.of(hexes, 32), " is there")
	add(who, "databricks ", "dapi"+g.of(hexes, 32)+"-2", " is there")
	add(who, "bedrock ", "bedrock-api-key-"+g.of(base64s, 400), " is there")
	add(who, "fireworks ", "fw_"+g.of(alnum, 23)+"7", " is there")
	add(who, "bedrock ", "ABSKQmVkcm9ja0FQSUtleS"+g.of(alnum, 107)+"=", " is there")
	add(who, "The cohere key is ", g.of(alnum, 37)+"aZ9", " here")
	add(who, "MISTRAL_API_KEY is ", g.of(alnum, 29)+"aZ9", " here")
	add("azure", "the resource has ", g.of(alnum, 52)+"JQQJ99BCACYeBjFXJ3w3AAAAACOG"+g.of(alnum, 4), " now")
}

// negatives returns texts that look like secrets and are none.
func negatives() []string {
	g := newGenerator()
	hash := g.of(hexes, 64)
	return []string{
		"A usual sentence without anything to hide, not even an abbreviation such as AKIA, ghp_ or SG.",
		"sha256:" + hash, "commit: " + hash[:40], "git show " + hash[:40], `"integrity": "sha512-` + g.of(base64s, 86) + `=="`,
		"example.org/mod v1.2.3 h1:" + g.of(base64s, 43) + "=", `ETag: "` + hash[:32] + `"`, `"trace_id": "` + hash[:32] + `"`,
		"id: 550e8400-e29b-41d4-a716-446655440000", `uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"`,
		"pk_live_" + g.of(alnum, 24), "AKIA123", "AKIA" + g.of(small, 16), "XAKIA" + g.of(capital, 16), "AKIAXXXXXXXXXXXXXXXX",
		"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_short", "npm_install_script_runs_before_the_build_is_done",
		"eyJust a word", "eyJ" + g.of(alnum, 30) + "." + g.of(alnum, 30) + "." + g.of(alnum, 30),
		"https://user@host.example/path", "https://host.example:8080/a@b", "https://user:****@host.example", "mailto:ann@example.org",
		"ssh://git@host.example:22/repo.git", "time 12:30@office", "https://user:{password}@host.example", "postgres://${USER}:${PASSWORD}@db",
		"-----BEGIN CERTIFICATE-----\n" + g.of(base64s, 64) + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\n" + g.of(base64s, 64) + "\n-----END PUBLIC KEY-----", "-----BEGIN of the list-----",
		"SG.short.short", "xoxb-is-the-prefix-of-tokens", "AC" + strings.Repeat("0", 32), "AC" + g.of(hexes, 31), "AC" + g.of(hexes, 33),
		"sq0atp-short", "M" + g.of(alnum, 23) + "." + g.of(alnum, 6) + "." + g.of(alnum, 27), strings.Repeat("a1B2", 10),
		"path = /usr/local/lib/python3.12/site-packages/Some/Package2", `import "github.com/example/Project2/internal/things"`,
		"const veryLongIdentifierOfAFunctionThatDoesNothingAtAll = 1", "account: 12345678901234567890123456", "color: #a1b2c3",
		`{"message_id": "1234567890123456789012"}`, "url=https://example.org/a/b/c?d=e&f=g", "APPROVED4you", "password=APPLICATION",
		"sk-learn-pipelines-of-version-2-are-described-in-chapter-3-of-this-book", "sk-abc123", "sk-ant-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"sk-proj-your-key-goes-here-please-do-not-commit-it-1", "hf_hub_download_and_some_more_words_that_follow", "fw_configurationmanagerservice",
		"gsk_install_applications_of_the_desktop_environment", "AIzaak is a name that occurs", "xai-is-short-for-explainable-artificial-intelligence-in-papers-of-2024",
		"sk_live_ is the prefix", "sk_live_xxxxxxxxxxxxxxxxxxxxxxxx", "whsec_...", "hooks.slack.com/services/", "data:image/png;base64," + g.of(base64s, 300),
		g.of(hexes, 32) + "-usa", "The APIs of AWS need a key.", "azure storage account", "IBM cloud key", "version=1.2.3-beta.4+build.5678901234567890",
	}
}
