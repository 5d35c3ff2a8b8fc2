// Command mockllm is an upstream in OpenAI's and Anthropic's languages with fixed, configurable
// behavior: POST /v1/chat/completions and /v1/messages (whole or streamed), /v1/embeddings,
// /v1/audio/speech (in pieces), /v1/audio/transcriptions and GET /v1/models. The behavior is set
// for all requests, so it does not depend on what a gateway passes on:
//
//	curl -X POST 'localhost:9100/_mock/config?latency=50ms&chunks=50&interval=20ms&body=1024'
//	curl localhost:9100/_mock/stats
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/modelgateway/modelgateway/bench/internal/anthropic"
	"github.com/modelgateway/modelgateway/bench/internal/forms"
	"github.com/modelgateway/modelgateway/bench/internal/openai"
	"github.com/modelgateway/modelgateway/bench/internal/precise"
)

const model = "mock-gpt"

// behaviour is immutable once published. Its documents are prepared in advance, to use as
// little as possible of the shared machine.
type behaviour struct {
	Latency   time.Duration `json:"latency_ns"`
	Chunks    int           `json:"chunks"`
	Interval  time.Duration `json:"interval_ns"`
	Body      int           `json:"body"`
	ChunkSize int           `json:"chunk_size"`
	Dim       int           `json:"dim"`
	Piece     int           `json:"piece"` // bytes of a piece of sound

	chat, embed, first, next, end, endUsage []byte
	message, messageFirst, messageNext      []byte // in Anthropic's language
	messageEnd, piece, transcript           []byte
}

func (b behaviour) prepared() *behaviour {
	b.chat = openai.ChatResponse(model, b.Body)
	b.embed = openai.Embeddings(model, 1, b.Dim)
	b.first = openai.StreamEvent(model, 0, b.ChunkSize)
	b.next = openai.StreamEvent(model, 1, b.ChunkSize)
	b.end = openai.StreamEnd(model, false)
	b.endUsage = openai.StreamEnd(model, true)
	b.message = anthropic.Response(model, b.Body)
	b.messageNext = anthropic.StreamText(openai.StreamText(model, 1, b.ChunkSize))
	b.messageFirst = append(anthropic.StreamStart(model), b.messageNext...)
	b.messageEnd = anthropic.StreamEnd()
	b.piece = forms.Sound(b.Piece)
	b.transcript = openai.Transcription(b.Body)
	return &b
}

// with returns b with the values of the query.
func (b behaviour) with(q *fasthttp.Args) (*behaviour, error) {
	var err error
	for key, val := range q.All() {
		v := string(val)
		switch string(key) {
		case "latency":
			b.Latency, err = time.ParseDuration(v)
		case "interval":
			b.Interval, err = time.ParseDuration(v)
		case "chunks":
			b.Chunks, err = strconv.Atoi(v)
		case "body":
			b.Body, err = strconv.Atoi(v)
		case "chunk_size":
			b.ChunkSize, err = strconv.Atoi(v)
		case "dim":
			b.Dim, err = strconv.Atoi(v)
		case "piece":
			b.Piece, err = strconv.Atoi(v)
		default:
			err = fmt.Errorf("unknown setting %q", key)
		}
		if err != nil {
			return nil, err
		}
	}
	if b.Latency < 0 || b.Interval < 0 || b.Chunks < 1 || b.Body < 0 || b.Body > 64<<20 || b.Dim < 1 || b.Piece < 1 {
		return nil, fmt.Errorf("setting out of range")
	}
	return b.prepared(), nil
}

type stats struct{ requests, streams, aborted, bytesIn atomic.Int64 }

type server struct {
	now   atomic.Pointer[behaviour]
	count stats
}

func newServer() *server {
	s := &server{}
	s.now.Store(behaviour{Chunks: 50, Interval: 20 * time.Millisecond, Body: 1024, ChunkSize: 220, Dim: 256, Piece: 4096}.prepared())
	return s
}

func (s *server) handle(c *fasthttp.RequestCtx) {
	switch string(c.Path()) {
	case "/v1/chat/completions":
		s.chat(c)
	case "/v1/messages":
		s.messages(c)
	case "/v1/embeddings":
		s.whole(c, func(b *behaviour) []byte { return b.embed })
	case "/v1/audio/speech":
		arrived, b := time.Now(), s.now.Load()
		s.took(c)
		c.SetContentType("audio/mpeg")
		s.stream(c, arrived, b, b.piece, b.piece, nil)
	case "/v1/audio/transcriptions":
		s.whole(c, func(b *behaviour) []byte { return b.transcript })
	case "/v1/models":
		c.SetContentType("application/json")
		c.SetBodyString(`{"object":"list","data":[{"id":"` + model + `","object":"model","created":1700000000,"owned_by":"mock"}]}`)
	case "/_mock/config":
		b, err := s.now.Load().with(c.QueryArgs())
		if err != nil {
			c.Error(err.Error(), fasthttp.StatusBadRequest)
			return
		}
		s.now.Store(b)
		_ = json.NewEncoder(c).Encode(b)
	case "/_mock/stats":
		_ = json.NewEncoder(c).Encode(map[string]int64{
			"requests": s.count.requests.Load(), "streams": s.count.streams.Load(),
			"aborted": s.count.aborted.Load(), "bytes_in": s.count.bytesIn.Load(),
		})
	default:
		c.Error("not found", fasthttp.StatusNotFound)
	}
}

func (s *server) took(c *fasthttp.RequestCtx) {
	s.count.requests.Add(1)
	s.count.bytesIn.Add(int64(len(c.PostBody())))
}

// whole responds with a JSON document.
func (s *server) whole(c *fasthttp.RequestCtx, document func(*behaviour) []byte) {
	b := s.now.Load()
	s.took(c)
	_ = precise.Sleep(b.Latency)
	c.SetContentType("application/json")
	c.SetBody(document(b))
}

func (s *server) chat(c *fasthttp.RequestCtx) {
	// Decoding each request would cost more than many gateways do. The flag is at the top level
	// of every client's document, and no text here contains it, so a search suffices.
	if !flagged(c.PostBody(), "stream") {
		s.whole(c, func(b *behaviour) []byte { return b.chat })
		return
	}
	arrived, b := time.Now(), s.now.Load()
	s.took(c)
	end := b.end
	if flagged(c.PostBody(), "include_usage") {
		end = b.endUsage
	}
	s.events(c, arrived, b, b.first, b.next, end)
}

func (s *server) messages(c *fasthttp.RequestCtx) {
	if !flagged(c.PostBody(), "stream") {
		s.whole(c, func(b *behaviour) []byte { return b.message })
		return
	}
	arrived, b := time.Now(), s.now.Load()
	s.took(c)
	s.events(c, arrived, b, b.messageFirst, b.messageNext, b.messageEnd)
}

// events responds with an event stream.
func (s *server) events(c *fasthttp.RequestCtx, arrived time.Time, b *behaviour, first, next, end []byte) {
	c.SetContentType("text/event-stream")
	c.Response.Header.Set("Cache-Control", "no-cache")
	s.stream(c, arrived, b, first, next, end)
}

// stream responds with pieces, each at its time after the request arrived, and the end with the
// last of them.
func (s *server) stream(c *fasthttp.RequestCtx, arrived time.Time, b *behaviour, first, next, end []byte) {
	s.count.streams.Add(1)
	c.SetBodyStreamWriter(func(w *bufio.Writer) {
		err := precise.Tick(context.Background(), arrived.Add(b.Latency), b.Interval, b.Chunks, func(k int) bool {
			piece := next
			if k == 0 {
				piece = first
			}
			_, _ = w.Write(piece)
			if k == b.Chunks-1 {
				_, _ = w.Write(end)
			}
			if w.Flush() != nil {
				s.count.aborted.Add(1)
				return false
			}
			return true
		})
		if err != nil {
			log.Print(err)
		}
	})
}

// flagged reports whether the document has "key":true.
func flagged(doc []byte, key string) bool {
	i := bytes.Index(doc, []byte(`"`+key+`":`))
	return i >= 0 && bytes.HasPrefix(bytes.TrimLeft(doc[i+len(key)+3:], " "), []byte("true"))
}

func main() {
	addr := flag.String("addr", "127.0.0.1:9100", "address to listen on")
	flag.Parse()
	s := newServer()
	ln, err := net.Listen("tcp4", *addr)
	if err != nil {
		log.Fatal(err)
	}
	srv := &fasthttp.Server{
		Handler: s.handle, Name: "mockllm", MaxRequestBodySize: 64 << 20,
		NoDefaultDate: true, TCPKeepalive: true,
		DisablePreParseMultipartForm: true, // parsing would add to the time that is measured
	}
	go func() {
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
		<-stop
		os.Exit(0)
	}()
	log.Fatal(srv.Serve(ln))
}
