package event

// ReadBody and WriteBody let the fuzz tests print what was parsed.
var (
	ReadBody  = readBody
	WriteBody = writeBody
)

// SignedParts is what Verify takes for SignedBytes.
var SignedParts = signedParts

// ParseGeneral is Parse without its ways for what most events look like.
func ParseGeneral(raw []byte) (*Event, error) {
	return (*Parser)(nil).parse(&envelope{testingGeneral: true}, raw)
}
