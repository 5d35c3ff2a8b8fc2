package auditsink_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/delivery"
)

// TestAProblemEndsWithTheWebhook: a failure that lasts is reported, and not any more when the webhook is switched off.
func TestAProblemEndsWithTheWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.to.set(true)
		c := b.config()
		var reported sync.Map
		c.Report = func(about string, err error) { reported.Store(about, fmt.Sprint(err)) }
		_, stop := b.start(c)
		defer stop()
		b.log.add(7)
		time.Sleep(time.Hour)
		if said, _ := reported.Load("delivery webhook"); said == nil || !strings.Contains(said.(string), "records from 1 on") || strings.Contains(said.(string), "canary") {
			t.Errorf("a receiver that is away is reported as %v", said)
		}
		b.change(func(s *delivery.Settings) { s.Webhook = false })
		time.Sleep(10 * time.Minute)
		if said, _ := reported.Load("delivery webhook"); said != "<nil>" {
			t.Errorf("a webhook that is switched off is reported as %v", said)
		}
	})
}
