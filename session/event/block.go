package event

// A Block is one part of a content: of a message, an input or a result. A content
// has at most MaxBlocks; their texts are bounded by MaxEventBytes together.
type Block struct {
	// Digest is the SHA-256 of a file that is stored elsewhere, 64 lower-case
	// hexadecimal digits. BlockFile alone has it, and may.
	Digest string `json:"digest,omitzero"`
	// Media is the media type of a file, at most MaxName bytes.
	Media string `json:"media,omitzero"`
	// Name is the name of a file, at most MaxName bytes.
	Name string `json:"name,omitzero"`
	// Size is that of a file, in bytes; 0 is unsaid or empty.
	Size uint64 `json:"size,omitzero"`
	// Text is that of BlockText and BlockThinking, Markdown mostly.
	Text string    `json:"text,omitzero"`
	Type BlockType `json:"type"`
}

// A BlockType says what a block holds.
type BlockType string

// The types of blocks. A value of any other is refused.
const (
	BlockText     BlockType = "text"
	BlockThinking BlockType = "thinking" // what a model wrote before its answer
	BlockFile     BlockType = "file"     // something attached, by name and digest; its content is not here
)

// Text returns a content of one text block.
func Text(s string) []Block { return []Block{{Type: BlockText, Text: s}} }
