package event

import "github.com/comity-dev/comity/internal/canon"

// readBody reads the body of an event, which was checked to be canonical and
// to name kind. What this build does not know is opaque; what it knows but may
// not read is unreadable: a newer peer must never block its stream.
func readBody(kind string, raw []byte) Body {
	c := codec{kind: kind, reading: true, r: canon.NewReader(raw)}
	body := c.body()
	switch {
	case body == nil:
		return Opaque{Name: kind, Raw: raw}
	case c.err != nil:
		return Unreadable{Name: kind, Reason: c.err.Error(), Raw: raw}
	}
	return body
}

// body reads the body of c's kind; nil when the kind is unknown.
func (c *codec) body() Body {
	c.open()
	switch c.kind {
	case KindSessionOpened:
		var b SessionOpened
		b.visit(c)
		return b
	case KindSessionClosed:
		var b SessionClosed
		b.visit(c)
		return b
	case KindClaimAcquired:
		var b ClaimAcquired
		b.visit(c)
		return b
	case KindClaimReleased:
		var b ClaimReleased
		b.visit(c)
		return b
	case KindHandoverPublished:
		var b HandoverPublished
		b.visit(c)
		return b
	case KindHandoverConsumed:
		var b HandoverConsumed
		b.visit(c)
		return b
	case KindHandoverDeclined:
		var b HandoverDeclined
		b.visit(c)
		return b
	case KindHandoverWithdrawn:
		var b HandoverWithdrawn
		b.visit(c)
		return b
	case KindReviewRequested:
		var b ReviewRequested
		b.visit(c)
		return b
	case KindReviewAnswered:
		var b ReviewAnswered
		b.visit(c)
		return b
	case KindReviewClosed:
		var b ReviewClosed
		b.visit(c)
		return b
	case KindStreamSucceeded:
		var b StreamSucceeded
		b.visit(c)
		return b
	case KindStreamCheckpoint:
		var b StreamCheckpoint
		b.visit(c)
		return b
	}
	return nil
}

// writeBody appends the canonical JSON of b to dst when b is within the bounds
// of its kind; else it returns a *BoundError.
func writeBody(dst []byte, b Body) ([]byte, error) {
	c := codec{out: dst}
	switch b := b.(type) {
	case SessionOpened:
		write(&c, b)
	case SessionClosed:
		write(&c, b)
	case ClaimAcquired:
		write(&c, b)
	case ClaimReleased:
		write(&c, b)
	case HandoverPublished:
		write(&c, b)
	case HandoverConsumed:
		write(&c, b)
	case HandoverDeclined:
		write(&c, b)
	case HandoverWithdrawn:
		write(&c, b)
	case ReviewRequested:
		write(&c, b)
	case ReviewAnswered:
		write(&c, b)
	case ReviewClosed:
		write(&c, b)
	case StreamSucceeded:
		write(&c, b)
	case StreamCheckpoint:
		write(&c, b)
	case nil:
		c.fail("body", "missing")
	default:
		c.kind = b.Kind()
		c.fail("body", "not the value of a kind that this build writes")
	}
	if c.err != nil {
		return dst, c.err
	}
	return c.out, nil
}

// A visitor is a pointer to a body of type T.
type visitor[T any] interface {
	*T
	visit(*codec)
}

func write[T Body, P visitor[T]](c *codec, b T) {
	c.kind = b.Kind()
	c.open()
	P(&b).visit(c)
	if c.err == nil {
		c.close()
	}
}
