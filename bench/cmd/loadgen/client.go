package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/modelgateway/modelgateway/bench/internal/openai"
)

// client sends one fixed request over keep-alive connections.
type client struct {
	host   *fasthttp.HostClient
	req    fasthttp.Request
	stream bool
	chunks int
	sound  bool
	bytes  int
}

// outcome is the result of one request.
type outcome struct {
	end   time.Time
	first time.Time // first content of a stream, or first bytes of sound
	gaps  []time.Duration
	bytes int
	err   error
}

func newClient(o *options, doc document) *client {
	u, err := url.Parse(o.url)
	if err != nil || u.Scheme != "http" {
		log.Fatalf("not an http address: %s", o.url)
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		log.Fatalf("%s: this tool loads loopback addresses only", o.url)
	}
	c := &client{
		stream: o.stream, chunks: o.chunks, sound: o.kind == speech, bytes: o.bytes,
		host: &fasthttp.HostClient{
			Addr: u.Host, Name: "loadgen", MaxConns: 1 << 16,
			// Servers commonly close connections that are idle for 5 s. A POST on such a
			// connection cannot be retried, so the client closes idle connections earlier.
			MaxIdleConnDuration: 3 * time.Second,
			ReadTimeout:         o.timeout, WriteTimeout: o.timeout,
			MaxIdemponentCallAttempts: 1,
			StreamResponseBody:        o.stream || o.kind == speech,
			ReadBufferSize:            16 << 10,
			DisablePathNormalizing:    true,
		},
	}
	c.req.Header.SetMethod(fasthttp.MethodPost)
	c.req.SetRequestURI(o.url)
	c.req.Header.SetContentType(doc.contentType)
	for _, h := range o.headers {
		k, v, _ := strings.Cut(h, ":")
		c.req.Header.Set(k, strings.TrimSpace(v))
	}
	c.req.SetBodyRaw(doc.body)
	return c
}

// do sends the request; buf is for reading a stream.
func (c *client) do(buf []byte) outcome {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	c.req.Header.CopyTo(&req.Header)
	req.SetBodyRaw(c.req.Body())
	if err := c.host.Do(req, resp); err != nil {
		return outcome{end: time.Now(), err: err}
	}
	switch {
	case c.stream:
		return c.readStream(resp, buf)
	case c.sound:
		return c.readSound(resp, buf)
	}
	out := outcome{end: time.Now(), bytes: len(resp.Body())}
	switch {
	case resp.StatusCode() != fasthttp.StatusOK:
		out.err = fmt.Errorf("status %d: %.160s", resp.StatusCode(), resp.Body())
	case out.bytes < 64:
		out.err = fmt.Errorf("short answer: %.64s", resp.Body())
	}
	return out
}

func (c *client) readStream(resp *fasthttp.Response, buf []byte) (out outcome) {
	body := resp.BodyStream()
	defer func() { _ = resp.CloseBodyStream() }()
	if resp.StatusCode() != fasthttp.StatusOK {
		return rejected(resp)
	}
	var sc openai.Scanner
	var last time.Time
	out.gaps = make([]time.Duration, 0, max(c.chunks, 16))
	for {
		n, err := body.Read(buf)
		now := time.Now()
		out.bytes += n
		for range sc.Feed(buf[:n]) {
			if last.IsZero() {
				out.first = now
			} else {
				out.gaps = append(out.gaps, now.Sub(last))
			}
			last = now
		}
		if errors.Is(err, io.EOF) {
			out.end = now
			break
		}
		if err != nil {
			out.end, out.err = now, err
			return out
		}
	}
	switch {
	case !sc.Done:
		out.err = fmt.Errorf("stream ended without [DONE] after %d events", sc.Content)
	case c.chunks > 0 && sc.Content != c.chunks:
		out.err = fmt.Errorf("%d content events of %d", sc.Content, c.chunks)
	}
	return out
}

// readSound reads a body that has no events.
func (c *client) readSound(resp *fasthttp.Response, buf []byte) (out outcome) {
	body := resp.BodyStream()
	defer func() { _ = resp.CloseBodyStream() }()
	if resp.StatusCode() != fasthttp.StatusOK {
		return rejected(resp)
	}
	for {
		n, err := body.Read(buf)
		out.end = time.Now()
		out.bytes += n
		if n > 0 && out.first.IsZero() {
			out.first = out.end
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			out.err = err
			return out
		}
	}
	if out.bytes == 0 || c.bytes > 0 && out.bytes != c.bytes {
		out.err = fmt.Errorf("%d bytes of sound, not %d", out.bytes, c.bytes)
	}
	return out
}

// rejected is the outcome of a response that is not a stream.
func rejected(resp *fasthttp.Response) outcome {
	b, _ := io.ReadAll(io.LimitReader(resp.BodyStream(), 160))
	return outcome{end: time.Now(), err: fmt.Errorf("status %d: %s", resp.StatusCode(), b)}
}
