package pii_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
)

func newEngine(tb testing.TB, settings pii.Settings) *pii.Engine {
	tb.Helper()
	e, err := pii.New(settings)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// corpus are texts with what is hard to cut.
func corpus() []string {
	out := []string{
		"Mail alice.o'hara+x@mail.example.co.uk, or call +1 (415) 555-0132 or 020 7946 0958 today.",
		"Card 4111 1111 1111 1111, exp 12/25; amex 3782-822463-10005. SSN: 536-90-4399. IBAN DE89 3704 0044 0532 0130 00 and GB29NWBK60161331926819.",
		"Hosts 192.168.10.4:8080, 2001:db8::ff00:42:8329, 00:1A:2B:3C:4D:5E; https://example.com/a_(b)?q=1&mail=a@b.com. See www.example.org/x).",
		"On March 5th, 2024 at 10:30 am, 5 March 2024, 2024-01-15T10:30:00+02:00, 12/31/1999 and Dec 2020.",
		"Ｃａｒｄ ４１１１ １１１１ １１１１ １１１１ and ٤١١١١١١١١١١١١١١١; 4111\u200b1111\u00a01111\u20111111; аlice＠example．com; \u6211\u7684\u7535\u8bdd\u662f+14155550132\u8c22\u8c22",
		strings.Repeat("1 22 333 4444 ", 60) + "4111 1111 1111 1111 " + strings.Repeat("5-66-777-", 60),
		strings.Repeat("x", 1000) + " 4111111111111111 " + strings.Repeat("abc123", 300) + "@example.com " + strings.Repeat("é", 400) + "1",
		"https://example.com/" + strings.Repeat("path/", 200) + "?a=b). Then 415-555-0132",
		"a@" + strings.Repeat("sub.", 150) + "example.com, b@c.de",
		"((((((((" + strings.Repeat("(4", 300) + strings.Repeat("\u200b", 400) + "1\u200b2" + strings.Repeat("½", 200),
		`{"email":"bob@example.org","phone":"+44 20 7946 0958","ssn":"536904399","id":"QQ 12 34 56 C"}`,
		"NINO AB 12 34 56 C, NHS 943 476 5919, NIF 12345678Z, PAN ABCPD1234E, UUID 123e4567-e89b-12d3-a456-426614174000.",
		"3f2504e0-4f89-11d3-9a0c-0305e82c3301 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2 bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq 0x52908400098527886E0F7030069857D2E4169EE7",
		"Version 1.2.3.4, v1.2.3, 10:30:15, 1,234,567.89, #4155550132, $4155550132, 3.14159265358979.",
		strings.Repeat("May 5 June 6 ", 40), strings.Repeat("DE89 ", 100), strings.Repeat("a.b", 200), strings.Repeat("::", 300), strings.Repeat("@", 300), strings.Repeat("AB 1", 200),
		strings.Repeat("1", 700), strings.Repeat("+", 700), strings.Repeat("(", 700), strings.Repeat(" ", 700), strings.Repeat("１", 300),
	}
	return append(out, strings.Join(out[:5], "\n"))
}

func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	enginetest.CutAnywhere(t, newEngine(t, pii.Settings{}), corpus())
}
