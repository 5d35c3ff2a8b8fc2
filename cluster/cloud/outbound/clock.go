package outbound

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// maxSkew is how far a clock may be off before clouds reject what it has signed.
const maxSkew = 4 * time.Minute

// Clock is the difference between the clock of this machine and that of a service.
type Clock struct {
	mu struct {
		sync.Mutex
		host  string
		ahead time.Duration // of the service
	}
}

type clockKey struct{}

// WithClock returns a context whose calls note the clocks of the services.
func WithClock(ctx context.Context) (context.Context, *Clock) {
	c := &Clock{}
	return context.WithValue(ctx, clockKey{}, c), c
}

func noteClock(ctx context.Context, host, date string, now time.Time) {
	c, ok := ctx.Value(clockKey{}).(*Clock)
	if !ok {
		return
	}
	at, err := http.ParseTime(date)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.host, c.mu.ahead = host, now.Sub(at)
}

// Problem says how wrong the clock of this machine is; empty if it is right, or if no service has shown its time.
func (c *Clock) Problem() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch ahead := c.mu.ahead.Round(time.Second); {
	case ahead >= maxSkew:
		return fmt.Sprintf("the clock of this machine is %s ahead of that of %s", ahead, c.mu.host)
	case ahead <= -maxSkew:
		return fmt.Sprintf("the clock of this machine is %s behind that of %s", -ahead, c.mu.host)
	}
	return ""
}
