package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

func TestEveryKindHasARow(t *testing.T) {
	seen := map[string]Kind{}
	for k := range kinds {
		r := k.row()
		if r.name == "" || r.http < 400 || r.typ == "" || r.code == "" || r.text == "" || r.grpc == codes.OK {
			t.Errorf("kind %d: incomplete row %+v", k, r)
		}
		if other, dup := seen[r.name]; dup {
			t.Errorf("kinds %d and %d are both called %q", other, k, r.name)
		}
		seen[r.name] = k
	}
}

func TestInternalTextIsWithheld(t *testing.T) {
	for _, err := range []error{
		errors.New("dial /run/secret.sock"),
		&Error{Kind: Internal, Detail: "stack with /home/x", Err: errors.New("secret")},
		fmt.Errorf("wrapped: %w", errors.New("secret")),
	} {
		got := string(From(err).OpenAI())
		if strings.Contains(got, "secret") || strings.Contains(got, "/home") {
			t.Errorf("leaked: %s", got)
		}
	}
}

func TestFromKeepsTheKind(t *testing.T) {
	inner := Field("model", "model_not_found", "no model %q", "x")
	if got := From(fmt.Errorf("routing: %w", inner)); got != inner {
		t.Errorf("got %v", got)
	}
	if k := KindOf(context.Canceled); k != Canceled {
		t.Errorf("context.Canceled is %v", k)
	}
	if k := KindOf(fmt.Errorf("x: %w", context.DeadlineExceeded)); k != Timeout {
		t.Errorf("deadline is %v", k)
	}
}

func TestOpenAIBody(t *testing.T) {
	e := &Error{Kind: NotFound, Code: "model_not_found", Param: "model", Detail: `no "x"`, Details: map[string]any{"b": 1, "a": 2}}
	want := `{"error":{"message":"no \"x\"","type":"invalid_request_error","param":"model","code":"model_not_found","details":{"a":2,"b":1}}}`
	if got := string(e.OpenAI()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	bad := &Error{Kind: Malformed, Detail: "x\xff"}
	if !strings.Contains(string(bad.OpenAI()), `"code":"invalid_request"`) {
		t.Errorf("invalid UTF-8 in the detail loses the body: %s", bad.OpenAI())
	}
}

func TestHeaders(t *testing.T) {
	e := &Error{Kind: Unavailable, RetryAfter: 1200 * time.Millisecond}
	if got := fmt.Sprint(e.Headers()); got != "[{retry-after 2}]" {
		t.Errorf("got %s", got)
	}
	e = &Error{Kind: OverBudget, NoRetry: true}
	if got := fmt.Sprint(e.Headers()); got != "[{x-should-retry false} {retry-after 1}]" {
		t.Errorf("got %s", got)
	}
}
