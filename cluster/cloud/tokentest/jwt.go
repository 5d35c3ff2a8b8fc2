package tokentest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// JWT is a JSON web token.
type JWT struct {
	Header, Claims map[string]any
}

// Number returns a claim that is a number; 0 if it is none.
func (j JWT) Number(claim string) int64 {
	n, _ := j.Claims[claim].(float64)
	return int64(n)
}

// SignJWT returns a token that a key has signed with RS256.
func SignJWT(key *rsa.PrivateKey, claims map[string]any) (string, error) {
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// VerifyJWT reads a token, and verifies that the owner of a key has signed it with RS256 or PS256.
func VerifyJWT(token string, key *rsa.PublicKey) (JWT, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return JWT{}, errors.New("it is no JSON web token")
	}
	var j JWT
	for i, into := range []*map[string]any{&j.Header, &j.Claims} {
		body, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			return JWT{}, err
		}
		if err := json.Unmarshal(body, into); err != nil {
			return JWT{}, err
		}
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return JWT{}, err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	switch j.Header["alg"] {
	case "RS256":
		return j, rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature)
	case "PS256":
		return j, rsa.VerifyPSS(key, crypto.SHA256, sum[:], signature, nil)
	}
	return JWT{}, fmt.Errorf("its algorithm is %v", j.Header["alg"])
}
