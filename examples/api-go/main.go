// Command api-go gives a team a key of its own through the gateway's management
// API, by the client that is generated from proto/gateway/v1, uses the key as an
// application would, and takes everything away again.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "api-go:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	address, admin, model := os.Getenv("GATEWAY_URL"), os.Getenv("GATEWAY_KEY"), os.Getenv("MODEL")
	if address == "" || admin == "" {
		return errors.New("set GATEWAY_URL, such as http://127.0.0.1:8080, and GATEWAY_KEY, an admin's")
	}
	if model == "" {
		model = "fast"
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// REST and gRPC are one API on one port. Behind TLS it would be
	// credentials.NewTLS; the listener of `make run` is plain HTTP on loopback.
	conn, err := grpc.NewClient(strings.TrimPrefix(address, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	teams, keys := gatewayv1.NewTeamServiceClient(conn), gatewayv1.NewKeyServiceClient(conn)
	asAdmin := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+admin)

	team, err := teams.CreateTeam(asAdmin, &gatewayv1.CreateTeamRequest{
		TeamAlias: new("api-go"), Models: []string{model}, MaxBudget: new(25.0), BudgetDuration: new("1mo"),
	})
	if err != nil {
		return fmt.Errorf("making a team: %w", err)
	}
	defer func() {
		_, gone := teams.DeleteTeams(asAdmin, &gatewayv1.DeleteTeamsRequest{TeamIds: []string{team.GetTeamId()}})
		err = errors.Join(err, gone)
	}()
	fmt.Println("made the team", team.GetTeamId())

	// Asked twice under one Idempotency-Key, a key is made once.
	once := metadata.AppendToOutgoingContext(asAdmin, "idempotency-key", "api-go-"+team.GetTeamId())
	wanted := &gatewayv1.GenerateKeyRequest{TeamId: new(team.GetTeamId()), Duration: new("1h"), Models: []string{model}}
	key, err := keys.GenerateKey(once, wanted)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	again, err := keys.GenerateKey(once, wanted)
	if err != nil {
		return fmt.Errorf("asking again: %w", err)
	}
	if again.GetKey() != key.GetKey() {
		return errors.New("the same request made another key")
	}
	fmt.Println("made the key", key.GetKeyName(), "of", key.GetTeamId().GetValue())

	answer, err := chat(ctx, address, key.GetKey(), model)
	if err != nil {
		return err
	}
	fmt.Println("the model says:", answer)

	// What the key may not do is an error with a code, and nothing else happens.
	asKey := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+key.GetKey())
	if _, err := keys.GenerateKey(asKey, &gatewayv1.GenerateKeyRequest{}); status.Code(err) != codes.PermissionDenied {
		return errors.Join(errors.New("a key without a role is not refused"), err)
	}

	if _, err := keys.BlockKey(asAdmin, &gatewayv1.BlockKeyRequest{Key: key.GetToken()}); err != nil {
		return fmt.Errorf("blocking the key: %w", err)
	}
	if _, err := chat(ctx, address, key.GetKey(), model); err == nil {
		return errors.New("a blocked key is accepted")
	}
	fmt.Println("blocked it: it is refused")
	return nil
}

// chat asks the model as any client of OpenAI's API does.
func chat(ctx context.Context, address, key, model string) (string, error) {
	body, err := json.Marshal(map[string]any{"model": model, "messages": []map[string]string{{"role": "user", "content": "Hello"}}})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/v1/chat/completions", bytes.NewReader(body)) //nolint:gosec // whoever runs this says where to
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r) //nolint:gosec // as above
	if err != nil {
		return "", err
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return "", err
	}
	var out struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(text, &out); err != nil || a.StatusCode != http.StatusOK || len(out.Choices) == 0 {
		return "", fmt.Errorf("%s: %s", a.Status, text)
	}
	return out.Choices[0].Message.Content, nil
}
