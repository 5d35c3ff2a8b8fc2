package tenancy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

const (
	good  = "sk-0123456789abcdefABCDEF"
	other = "sk-other-0123456789abcdef"
)

func set(tb testing.TB, list ...tenancy.Key) *tenancy.Set {
	tb.Helper()
	s, err := tenancy.New(list, vault.NewSecret(tenancytest.Master))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestAuthenticateHeaders(t *testing.T) {
	t.Parallel()
	s := set(t, tenancy.Key{Alias: "app", Hash: id.HashKey(good)}, tenancy.Key{Alias: "second", Hash: id.HashKey(other)})
	const auth = credential.HeaderAuthorization
	for _, test := range []struct {
		name    string
		headers []string
		status  int // 0: accepted
		want    string
	}{
		{"bearer", []string{auth, "Bearer " + good}, 0, "app"},
		{"scheme in lower case", []string{auth, "bearer " + good}, 0, "app"},
		{"scheme in any case", []string{auth, "bEaReR " + good}, 0, "app"},
		{"spaces around", []string{auth, " \t Bearer   " + good + " "}, 0, "app"},
		{"master", []string{auth, "Bearer " + tenancytest.Master}, 0, "master"},
		{"x-api-key", []string{"x-api-key", good}, 0, "app"},
		{"api-key", []string{"api-key", good}, 0, "app"},
		{"x-goog-api-key", []string{"x-goog-api-key", good}, 0, "app"},
		{"x-gateway-api-key", []string{"x-gateway-api-key", good}, 0, "app"},
		{"the same key twice over", []string{auth, "Bearer " + good, "x-api-key", good}, 0, "app"},
		{"an empty second header", []string{auth, "Bearer " + good, "x-api-key", ""}, 0, "app"},
		{"an empty bearer beside a key", []string{auth, "Bearer ", "x-api-key", good}, 0, "app"},
		{"other headers", []string{"cookie", "a=b", auth, "Bearer " + good, "x-forwarded-for", "1"}, 0, "app"},

		{"nothing", nil, 401, "missing_api_key"},
		{"empty", []string{auth, ""}, 401, "missing_api_key"},
		{"blank", []string{auth, "   "}, 401, "missing_api_key"},
		{"bearer only", []string{auth, "Bearer"}, 401, "missing_api_key"},
		{"bearer and a space", []string{auth, "Bearer "}, 401, "missing_api_key"},
		{"basic", []string{auth, "Basic dXNlcjpwYXNz"}, 401, "invalid_api_key"},
		{"basic beside a key", []string{auth, "Basic dXNlcjpwYXNz", "x-api-key", good}, 401, "invalid_api_key"},
		{"no scheme", []string{auth, good}, 401, "invalid_api_key"},
		{"scheme run into the key", []string{auth, "Bearer" + good}, 401, "invalid_api_key"},
		{"unknown key", []string{auth, "Bearer sk-unknown"}, 401, "invalid_api_key"},
		{"key of other case", []string{auth, "Bearer " + strings.ToUpper(good)}, 401, "invalid_api_key"},
		{"injection", []string{auth, "Bearer ' OR 1=1--"}, 401, "invalid_api_key"},
		{"NUL", []string{auth, "Bearer " + good + "\x00"}, 401, "invalid_api_key"},
		{"CRLF", []string{auth, "Bearer " + good + "\r\n"}, 401, "invalid_api_key"},
		{"non-ASCII", []string{auth, "Bearer " + good + "é"}, 401, "invalid_api_key"},
		{"1 MiB", []string{auth, "Bearer " + strings.Repeat("k", 1<<20)}, 401, "invalid_api_key"},
		{"two keys in one", []string{auth, "Bearer " + good + " " + good}, 401, "invalid_api_key"},

		{"two headers", []string{auth, "Bearer " + good, auth, "Bearer " + other}, 400, "ambiguous_credentials"},
		{"two equal headers", []string{auth, "Bearer " + good, auth, "Bearer " + good}, 400, "ambiguous_credentials"},
		{"an empty header first", []string{auth, "", auth, "Bearer " + good}, 400, "ambiguous_credentials"},
		{"comma-joined", []string{auth, "Bearer " + good + ", Bearer " + other}, 400, "ambiguous_credentials"},
		{"comma-joined bare", []string{"x-api-key", good + "," + other}, 400, "ambiguous_credentials"},
		{"two credentials", []string{auth, "Bearer " + good, "x-api-key", other}, 400, "ambiguous_credentials"},
		{"two bare credentials", []string{"api-key", good, "x-api-key", other}, 400, "ambiguous_credentials"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, err := s.Authenticate(tenancytest.Present(test.headers...), tenancytest.Now())
			if test.status == 0 {
				if err != nil || p.Alias != test.want || p.Master != (test.want == "master") {
					t.Errorf("principal %v, error %v; want %s", p, err, test.want)
				}
				return
			}
			var f *fault.Error
			if !errors.As(err, &f) || f.HTTPStatus() != test.status || f.Code != test.want {
				t.Fatalf("error %v, want %d %s", err, test.status, test.want)
			}
			if strings.Contains(err.Error(), "sk-") || f.Message() == "" {
				t.Errorf("the error %q repeats the credential, or says nothing", err)
			}
		})
	}
}

func TestStateOfTheKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		key  tenancy.Key
		want string
	}{
		{"never expires", tenancy.Key{}, ""},
		{"expires later", tenancy.Key{Expires: tenancytest.Now().Add(time.Nanosecond)}, ""},
		{"expires now", tenancy.Key{Expires: tenancytest.Now()}, "expired_api_key"},
		{"expired", tenancy.Key{Expires: tenancytest.Now().Add(-time.Hour)}, "expired_api_key"},
		{"blocked", tenancy.Key{Blocked: true}, "key_blocked"},
		{"blocked and expired", tenancy.Key{Blocked: true, Expires: tenancytest.Now()}, "key_blocked"},
	} {
		test.key.Hash = id.HashKey(good)
		p, err := set(t, test.key).Authenticate(tenancytest.Present("authorization", "Bearer "+good), tenancytest.Now())
		if test.want == "" {
			if err != nil || p.Hash != test.key.Hash {
				t.Errorf("%s: principal %v, error %v", test.name, p, err)
			}
			continue
		}
		if f := fault.From(err); f == nil || f.Code != test.want || f.HTTPStatus() != 401 {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
}

func TestNoMasterKey(t *testing.T) {
	t.Parallel()
	s, err := tenancy.New(nil, vault.Secret{})
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{"", "Bearer", "Bearer  ", "Bearer " + tenancytest.Master} {
		if p, err := s.Authenticate(tenancytest.Present("authorization", header), tenancytest.Now()); err == nil {
			t.Errorf("%q is %v; without a master key nobody is", header, p)
		}
	}
}

func TestAllows(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		models  []string
		yes, no []id.ModelName
	}{
		{nil, []id.ModelName{"gpt-4o", "openai/x"}, nil},
		{[]string{"all-proxy-models"}, []id.ModelName{"gpt-4o"}, nil},
		{[]string{"x", "*"}, []id.ModelName{"gpt-4o"}, nil},
		{[]string{"no-default-models"}, nil, []id.ModelName{"gpt-4o", "no-default-models", ""}},
		{[]string{"gpt-4o"}, []id.ModelName{"gpt-4o"}, []id.ModelName{"gpt-4o-mini", "GPT-4o", "openai/gpt-4o", ""}},
		{[]string{"openai/*", "no-default-models"}, []id.ModelName{"openai/gpt-4o", "openai/a/b"}, []id.ModelName{"openai/", "openai", "azure/openai/x"}},
		{[]string{"a*z"}, []id.ModelName{"abz"}, []id.ModelName{"az", "ab"}},
	} {
		p, err := set(t, tenancy.Key{Hash: id.HashKey(good), Models: test.models}).Authenticate(tenancytest.Present("x-api-key", good), tenancytest.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range test.yes {
			if !p.Allows(m) {
				t.Errorf("%v does not allow %q", test.models, m)
			}
		}
		for _, m := range test.no {
			if p.Allows(m) {
				t.Errorf("%v allows %q", test.models, m)
			}
		}
	}
	p, err := set(t).Authenticate(tenancytest.Present("x-api-key", tenancytest.Master), tenancytest.Now())
	if err != nil || !p.Allows("anything") {
		t.Errorf("the master key is refused: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		param, master string
		list          []tenancy.Key
	}{
		{"keys[1].hash", tenancytest.Master, []tenancy.Key{{Hash: id.HashKey(good)}, {Hash: id.HashKey(good)}}},
		{"keys[0].hash", tenancytest.Master, []tenancy.Key{{Hash: id.HashKey(tenancytest.Master)}}},
		{"keys[0].models[1]", tenancytest.Master, []tenancy.Key{{Hash: id.HashKey(good), Models: []string{"a", "*/*"}}}},
		{"master_key", "two words", nil},
	} {
		_, err := tenancy.New(test.list, vault.NewSecret(test.master))
		if f := fault.From(err); f == nil || f.Param != test.param || f.Detail == "" {
			t.Errorf("error %v, want one of %s", err, test.param)
		}
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	s := set(b, tenancy.Key{Alias: "app", Hash: id.HashKey(good), Models: []string{"gpt-4o"}})
	b.ReportAllocs()
	for b.Loop() {
		p, err := s.Authenticate(tenancytest.Present("authorization", "Bearer "+good), tenancytest.Now())
		if err != nil || !p.Allows("gpt-4o") {
			b.Fatal(err)
		}
	}
}

func TestCommonPathAllocatesNothing(t *testing.T) {
	s := set(t, tenancy.Key{Alias: "app", Hash: id.HashKey(good), Models: []string{"gpt-4o"}})
	header, at := "Bearer "+good, tenancytest.Now()
	if n := testing.AllocsPerRun(100, func() {
		var p credential.Presented
		p.Add(credential.HeaderAuthorization, header)
		if who, err := s.Authenticate(p, at); err != nil || !who.Allows("gpt-4o") {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
