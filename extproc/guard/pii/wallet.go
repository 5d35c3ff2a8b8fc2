package pii

import (
	"bytes"
	"crypto/sha256"
)

// isWallet reports addresses of Bitcoin (Base58Check, and Bech32 of BIP 173 and BIP 350) and of Ethereum.
func isWallet(word []byte) bool {
	switch {
	case len(word) == 42 && word[0] == '0' && word[1]|0x20 == 'x':
		for _, b := range word[2:] {
			if !isHex(b) {
				return false
			}
		}
		return true
	case len(word) >= 26 && len(word) <= 35 && (word[0] == '1' || word[0] == '3'):
		return base58Check(word)
	case len(word) >= 14 && len(word) <= 90 && bytes.EqualFold(word[:3], []byte("bc1")):
		return bech32(word)
	}
	return false
}

// base58Check checks the last four bytes of an address, which are those of the double SHA-256 of the others.
func base58Check(word []byte) bool {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	var raw [25]byte
	for _, b := range word {
		carry := bytes.IndexByte([]byte(alphabet), b)
		if carry < 0 {
			return false
		}
		for i := len(raw) - 1; i >= 0; i-- {
			carry += 58 * int(raw[i])
			raw[i] = byte(carry)
			carry >>= 8
		}
		if carry != 0 {
			return false
		}
	}
	once := sha256.Sum256(raw[:21])
	twice := sha256.Sum256(once[:])
	return bytes.Equal(twice[:4], raw[21:])
}

// bech32 checks the checksum of an address with the prefix bc.
func bech32(word []byte) bool {
	const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	if !bytes.Equal(word, bytes.ToLower(word)) && !bytes.Equal(word, bytes.ToUpper(word)) {
		return false
	}
	sum := uint32(1)
	step := func(value uint32) {
		top := sum >> 25
		sum = sum&0x1ffffff<<5 ^ value
		for i, g := range [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= g
			}
		}
	}
	for _, value := range [5]uint32{'b' >> 5, 'c' >> 5, 0, 'b' & 31, 'c' & 31} {
		step(value)
	}
	for _, b := range word[3:] {
		value := bytes.IndexByte([]byte(alphabet), b|0x20)
		if isDigit(b) {
			value = bytes.IndexByte([]byte(alphabet), b)
		}
		if value < 0 {
			return false
		}
		step(uint32(value))
	}
	return sum == 1 || sum == 0x2bc830a3
}
