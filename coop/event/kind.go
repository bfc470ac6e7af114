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
	switch c.kind {
	case KindSessionOpened:
		return read[SessionOpened](c)
	case KindSessionClosed:
		return read[SessionClosed](c)
	case KindClaimAcquired:
		return read[ClaimAcquired](c)
	case KindClaimReleased:
		return read[ClaimReleased](c)
	case KindHandoverPublished:
		return read[HandoverPublished](c)
	case KindHandoverConsumed:
		return read[HandoverConsumed](c)
	case KindHandoverDeclined:
		return read[HandoverDeclined](c)
	case KindHandoverWithdrawn:
		return read[HandoverWithdrawn](c)
	case KindReviewRequested:
		return read[ReviewRequested](c)
	case KindReviewAnswered:
		return read[ReviewAnswered](c)
	case KindReviewClosed:
		return read[ReviewClosed](c)
	case KindStreamSucceeded:
		return read[StreamSucceeded](c)
	case KindStreamCheckpoint:
		return read[StreamCheckpoint](c)
	}
	return nil
}

type visitor[T any] interface {
	*T
	visit(*codec)
}

func read[T Body, P visitor[T]](c *codec) Body {
	var b T
	c.open()
	P(&b).visit(c)
	if c.err == nil {
		c.close()
	}
	return b
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

func write[T Body, P visitor[T]](c *codec, b T) {
	c.kind = b.Kind()
	c.open()
	P(&b).visit(c)
	if c.err == nil {
		c.close()
	}
}
