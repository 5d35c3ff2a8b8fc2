package secrets_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
)

// rule is a rule of gitleaks.
type rule struct {
	id      string
	entropy float64
	pattern *regexp.Regexp
	tree    *syntax.Regexp
}

// rules returns those rules of gitleaks that look for secrets of this package's detectors.
func rules(t *testing.T) []rule {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "gitleaks", "rules.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []rule
	for line := range strings.Lines(string(b)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(fields) != 3 {
			continue
		}
		r := rule{id: fields[0], pattern: regexp.MustCompile(fields[2])}
		if r.entropy, err = strconv.ParseFloat(fields[1], 64); err != nil {
			t.Fatal(err)
		}
		if r.tree, err = syntax.Parse(fields[2], syntax.Perl); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// find returns what the rule finds first in a text: its first group, if it has groups.
func (r *rule) find(text string) (start, end int, ok bool) {
	at := r.pattern.FindStringSubmatchIndex(text)
	if at == nil {
		return 0, 0, false
	}
	start, end = at[0], at[1]
	if len(at) > 2 && at[2] >= 0 {
		start, end = at[2], at[3]
	}
	return start, end, entropyOf(text[start:end]) > r.entropy
}

func entropyOf(text string) (bits float64) {
	counts := map[rune]float64{}
	for _, c := range text {
		counts[c]++
	}
	for _, n := range counts {
		p := n / float64(len(text))
		bits -= p * math.Log2(p)
	}
	return bits
}

// value makes a text that a rule finds.
func (g generator) value(re *syntax.Regexp, out *strings.Builder) {
	times := 1
	switch re.Op { //nolint:exhaustive // the others are the sub-expressions
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
		return
	case syntax.OpCharClass:
		pair := 2 * g.IntN(len(re.Rune)/2)
		for tries := 0; re.Rune[pair+1] > '~' || re.Rune[pair] < ' '; tries++ { // what is not seen
			if pair = 2 * g.IntN(len(re.Rune)/2); tries > 99 {
				out.WriteByte('x')
				return
			}
		}
		out.WriteRune(re.Rune[pair] + g.Int32N(re.Rune[pair+1]-re.Rune[pair]+1))
		return
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte(alnum[g.IntN(len(alnum))])
		return
	case syntax.OpAlternate:
		g.value(re.Sub[g.IntN(len(re.Sub))], out)
		return
	case syntax.OpStar:
		times = g.IntN(12)
	case syntax.OpPlus:
		times = 1 + g.IntN(12)
	case syntax.OpQuest:
		times = g.IntN(2)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 24
		}
		times = re.Min + g.IntN(most-re.Min+1)
	}
	for range times {
		for _, sub := range re.Sub {
			g.value(sub, out)
		}
	}
}

// issued makes of a value that a rule allows one that the vendor issues, where the rule is wider: it ignores the case, or
// allows any character for a point.
func issued() map[string]func(value string) string {
	beginning := func(first string) func(string) string {
		return func(s string) string { return first + s[len(first):] }
	}
	return map[string]func(string) string{
		"artifactory-reference-token": beginning("cmVmdGtu"), // the word reftkn in base64; the rule has its first five letters
		"azure-ad-client-secret":      func(s string) string { return "a" + strings.Trim(s, "\\'\"` \n\t\r\f>=:(),<~.") + "b" },
		"mailchimp-api-key":           strings.ToLower,
		"npm-access-token":            beginning("npm_"),
		"private-key": func(s string) string {
			body := regexp.MustCompile(`[^A-Za-z0-9+/]`).ReplaceAllString(s, "")
			return "-----BEGIN RSA PRIVATE KEY-----\nMIIE" + body + "\n-----END RSA PRIVATE KEY-----"
		},
		"sendgrid-api-token": func(s string) string {
			body := regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(s[3:69], "a")
			return "SG." + body[:22] + "." + body[23:]
		},
		"slack-app-token":            strings.ToLower,
		"slack-config-access-token":  func(s string) string { return "xoxe.xoxp" + strings.ToUpper(s[9:]) },
		"slack-config-refresh-token": beginning("xoxe"),
		"slack-webhook-url": func(s string) string {
			return "https://hooks.slack.com/services/T" + s[len(s)-42:len(s)-30] + "/" + s[len(s)-29:]
		},
	}
}

// stricter says which of gitleaks' values this package wants, where it wants more.
func stricter() map[string]func(value string) bool {
	return map[string]func(string) bool{
		"jwt":                          func(string) bool { return false }, // the first part is JSON with an algorithm, which random letters are not
		"slack-legacy-workspace-token": func(s string) bool { return len(s) >= 5+16 && strings.Contains(s[5:], "-") },
		"slack-app-token":              func(s string) bool { return len(s) >= 5+16 },
		"slack-legacy-token":           func(s string) bool { return len(s) >= 5+16 },
		"stripe-access-token":          func(s string) bool { return len(s) >= 8+16 && s[3:7] != "prod" },
		"square-access-token": func(s string) bool { // in the length in which they are issued
			return strings.HasPrefix(s, "EAAA") && len(s) == 64 || strings.HasPrefix(s, "sq0atp-") && len(s) == 29
		},
	}
}

// TestFindsWhatGitleaksFinds generates values for each rule of gitleaks. What the rule finds is found here as well.
func TestFindsWhatGitleaksFinds(t *testing.T) {
	t.Parallel()
	e, real, more := newEngine(t), issued(), stricter()
	for _, r := range rules(t) {
		g, tried, wanted := newGenerator(), 0, 0
		for n := 0; n < 4000 && wanted < 60; n++ {
			var b strings.Builder
			g.value(r.tree, &b)
			value := b.String()
			if change := real[r.id]; change != nil {
				value = change(value)
			}
			text := "The value is " + value + " in it."
			start, end, ok := r.find(text)
			if !ok {
				continue
			}
			tried++
			if stronger := more[r.id]; stronger != nil && !stronger(text[start:end]) {
				continue
			}
			wanted++
			if path := strings.Index(text[start:end], "/services/"); path > 0 { // the address is no secret
				start += path + len("/services/")
			}
			found := enginetest.Whole(t, e, text)
			if !slices.ContainsFunc(found, func(f engine.Finding) bool { return f.Start <= start && f.End >= end }) {
				t.Errorf("%s: %s", r.id, enginetest.Marked(text, found))
			}
		}
		if tried < 60 || wanted < 20 && r.id != "jwt" {
			t.Errorf("%s: %d values, %d of which are wanted", r.id, tried, wanted)
		}
	}
}

// TestGitleaksFindsNoMore: in texts without secrets gitleaks finds none either, and so a false finding of one of them is no
// matter of taste.
func TestGitleaksFindsNoMore(t *testing.T) {
	t.Parallel()
	for _, r := range rules(t) {
		for _, text := range negatives() {
			if start, end, ok := r.find(text); ok {
				t.Errorf("%s finds %q in %q", r.id, text[start:end], text)
			}
		}
	}
}
