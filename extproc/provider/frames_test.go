package provider_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/framing"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// framingFor returns that of the streams with which a target responds to chats.
func framingFor(p provider.Provider, t driver.Target) driver.Framing {
	language, _ := p.Driver.Serves(t, driver.Chat)
	return framing.Of(p.Driver, language)
}

// frames writes events as AWS's own encoder does, with chunks around those of a model's own API. Golden files show them as
// server-sent events.
func frames(t *testing.T, f driver.Framing, all []event) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, e := range all {
		m := aws.Message{Payload: []byte(e.data)}
		kind := "event"
		if strings.HasSuffix(e.name, "Exception") {
			kind = "exception"
		} else if f == driver.AWSChunks {
			e.name, m.Payload = "chunk", marshal(map[string]any{"bytes": []byte(e.data), "p": "abc"})
		}
		m.Headers.Set(":message-type", aws.StringValue(kind))
		m.Headers.Set(":"+kind+"-type", aws.StringValue(e.name))
		m.Headers.Set(":content-type", aws.StringValue("application/json"))
		if err := aws.NewEncoder().Encode(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// framed returns the events that are read of their frames, in pieces of several sizes.
func framed(t *testing.T, f driver.Framing, all []event) []event {
	t.Helper()
	stream := frames(t, f, all)
	for _, size := range []int{1, 10, 333, len(stream)} {
		s := framing.New(f)
		var got []event
		for piece := range slices.Chunk(stream, size) {
			s.Push(piece)
			var e splice.Event
			for s.Next(&e) {
				got = append(got, event{string(e.Type), string(e.Data)})
			}
		}
		if diff := cmp.Diff(all, got, cmp.AllowUnexported(event{})); diff != "" || s.Err() != nil || s.Held() > 0 {
			t.Fatalf("in pieces of %d: %v (-events +read) %s", size, s.Err(), diff)
		}
	}
	return all
}
