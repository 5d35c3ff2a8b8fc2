package vault

// Seal encrypts a secret for the replicated state. The context names the owner: the sealed
// secret opens only with the same context, so it is useless in another record. An empty secret
// is sealed to nil.
type Seal func(plain Secret, context string) ([]byte, error)

// Open is the reverse of Seal.
type Open func(sealed []byte, context string) (Secret, error)
