package natsstore

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

const headKey = "Comity"

// Kinds of messages.
const (
	kindRecord  = 'r'
	kindPack    = 'p'
	kindEnd     = 'e'
	kindRow     = 'v'
	kindGrant   = 'g'
	kindBlob    = 'b'
	kindChunk   = 'c'
	kindRemoved = 'x'
)

// A head is what the header of a message says about it.
type head struct {
	kind byte
	a, b uint64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// format returns the header of a message.
func (h head) format(subject string, data []byte) string {
	buf := make([]byte, 0, 64)
	buf = h.append(buf)
	sum := h.sum(subject, data)
	buf = append(buf, ' ')
	return string(appendHex(buf, sum))
}

func (h head) append(buf []byte) []byte {
	buf = append(buf, h.kind, ' ')
	buf = strconv.AppendUint(buf, h.a, 10)
	buf = append(buf, ' ')
	return strconv.AppendUint(buf, h.b, 10)
}

func (h head) sum(subject string, data []byte) uint32 {
	buf := make([]byte, 0, 128)
	buf = append(buf, subject...)
	buf = append(buf, '\n')
	buf = h.append(buf)
	buf = append(buf, '\n')
	return crc32.Update(crc32.Checksum(buf, castagnoli), castagnoli, data)
}

func appendHex(buf []byte, v uint32) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		buf = append(buf, digits[v>>shift&15])
	}
	return buf
}

var errSum = errors.New("its checksum is wrong")

// parseHead reads the header of a message with that subject and data. It takes
// what format writes and nothing else.
func parseHead(s, subject string, data []byte) (head, error) {
	h, err := parseFields(s)
	if err != nil {
		return head{}, err
	}
	if h.format(subject, data) != s {
		return h, errSum // it is not certain, and a hint
	}
	return h, nil
}

// parseFields is parseHead without the checksum: of a message whose data is not
// at hand.
func parseFields(s string) (head, error) {
	f := strings.Split(s, " ")
	if len(f) != 4 || len(f[0]) != 1 || !strings.Contains("rpevgbcx", f[0]) || len(f[3]) != 8 {
		return head{}, fmt.Errorf("header %.60q is none of this store", s)
	}
	h := head{kind: f[0][0]}
	var err error
	if h.a, err = strconv.ParseUint(f[1], 10, 64); err == nil {
		h.b, err = strconv.ParseUint(f[2], 10, 64)
	}
	if err != nil || string(h.append(nil)) != s[:len(s)-9] {
		return head{}, fmt.Errorf("header %.60q is none of this store", s)
	}
	return h, nil
}
