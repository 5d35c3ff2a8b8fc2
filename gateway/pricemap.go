package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	// priceMapTime is how long reading the price map may take.
	priceMapTime = 30 * time.Second
	// priceMapBytes bounds it: LiteLLM's has 3 MB.
	priceMapBytes = 64 << 20
)

// priceMap returns what reads the price map that the configuration names; nil if it
// names none. The address is the operator's own, so it may be anywhere.
func priceMap(address string) func(ctx context.Context) ([]byte, error) {
	if address == "" {
		return nil
	}
	return func(ctx context.Context) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, priceMapTime)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return nil, err
		}
		answer, err := http.DefaultClient.Do(request)
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // the rest is the address, which may hold a credential
		}
		if err != nil {
			return nil, err
		}
		defer func() { _ = answer.Body.Close() }() // read to the end, or given up
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("answered with %s", answer.Status)
		}
		data, err := io.ReadAll(io.LimitReader(answer.Body, priceMapBytes+1))
		if err == nil && len(data) > priceMapBytes {
			err = fmt.Errorf("it is larger than %d bytes", priceMapBytes)
		}
		return data, err
	}
}
