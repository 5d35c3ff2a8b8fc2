package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Bounds of what a command waits for and reads. The files of snapshot and restore
// have neither: they end when they end, or when the command is interrupted.
const (
	answerTime = 30 * time.Second
	maxAnswer  = 16 << 20
)

// client speaks to a running gateway's management API.
type client struct {
	base *url.URL
	key  vault.Secret
	http *http.Client
}

func newClient(address string, key vault.Secret) (*client, error) {
	base, err := url.Parse(address)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("--url is not an address such as http://127.0.0.1:8080")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("--url has a user name, a query or a fragment; leave it out, and give the key in MODELGATEWAY_KEY")
	case key.IsEmpty():
		return nil, errors.New("no key: put the master key into the environment variable MODELGATEWAY_KEY, or give --key")
	}
	return &client{base: base, key: key, http: &http.Client{
		// The key goes where it was sent and nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// call sends a request with a JSON body, or none if in is nil, and returns the answer.
func (c *client) call(ctx context.Context, method, path string, in any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	r, err := c.request(ctx, method, path, nil)
	if err != nil {
		return nil, err
	}
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.send(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	return io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
}

// request makes a request for a path, which may have a query.
func (c *client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.base.String(), "/")+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.key.Reveal())
	return r, nil
}

// send returns the answer to a request if it is 200, and else what is wrong and
// what to do about it. The caller closes the body.
func (c *client) send(r *http.Request) (*http.Response, error) {
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	var body struct {
		Error struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
		Detail jsontext.Value `json:"detail"`
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, c.unreachable(err)
	}
	if json.Unmarshal(text, &body) != nil || body.Error.Message == "" {
		return nil, fmt.Errorf("%s answered %s, which is no answer of a gateway; check --url", c.base, answer.Status)
	}
	out := fmt.Sprintf("%s (%s, %s)", body.Error.Message, answer.Status, body.Error.Code)
	out += furtherProblems(body.Detail)
	switch answer.StatusCode {
	case http.StatusUnauthorized:
		out += "; give a key that is valid in MODELGATEWAY_KEY"
	case http.StatusForbidden:
		out += "; ask with a key that may, in MODELGATEWAY_KEY"
	case http.StatusServiceUnavailable:
		if wait := answer.Header.Get("Retry-After"); wait != "" {
			out += "; try again in " + wait + " s"
		}
	}
	return nil, &refusal{answer.StatusCode, out}
}

// refusal is a response that is an error.
type refusal struct {
	status int
	text   string
}

// Error returns the problem and its remedy.
func (r *refusal) Error() string { return r.text }

// furtherProblems lists the problems of a request if it has several.
func furtherProblems(detail jsontext.Value) string {
	var list []struct {
		Loc []any  `json:"loc"`
		Msg string `json:"msg"`
	}
	if detail.Kind() != '[' || json.Unmarshal(detail, &list) != nil || len(list) < 2 {
		return ""
	}
	var out strings.Builder
	for _, p := range list {
		out.WriteString("\n  ")
		for i, part := range p.Loc {
			if i > 0 {
				_, _ = fmt.Fprintf(&out, "%v.", part)
			}
		}
		_, _ = fmt.Fprintf(&out, " %s", p.Msg)
	}
	return out.String()
}

// unreachable explains why there was no response.
func (c *client) unreachable(err error) error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s; start the gateway with modelgateway serve, or say with --url where it is", c.base)
	case errors.As(err, &dns):
		return fmt.Errorf("the host of %s is not known; check --url", c.base)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer within %v; the change that was asked for, if any, may still come about", c.base, answerTime)
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	}
	return fmt.Errorf("no answer from %s: %w", c.base, err)
}
