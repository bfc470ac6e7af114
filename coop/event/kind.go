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

// known is the kind of that name when this build knows it, else "".
func known(kind []byte) string {
	for _, k := range [...]string{
		KindSessionOpened, KindClaimAcquired, KindClaimReleased, KindSessionClosed,
		KindHandoverPublished, KindHandoverConsumed, KindHandoverDeclined, KindHandoverWithdrawn,
		KindReviewRequested, KindReviewAnswered, KindReviewClosed, KindStreamSucceeded, KindStreamCheckpoint,
	} {
		if string(kind) == k {
			return k
		}
	}
	return ""
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
// of its kind; else it returns a *BoundError. said is what readBody makes of
// those bytes: lists in order, and no memory shared with b but its strings.
func writeBody(dst []byte, b Body) (out []byte, said Body, err error) {
	c := codec{out: dst}
	switch b := b.(type) {
	case SessionOpened:
		said = write(&c, b)
	case SessionClosed:
		said = write(&c, b)
	case ClaimAcquired:
		said = write(&c, b)
	case ClaimReleased:
		said = write(&c, b)
	case HandoverPublished:
		said = write(&c, b)
	case HandoverConsumed:
		said = write(&c, b)
	case HandoverDeclined:
		said = write(&c, b)
	case HandoverWithdrawn:
		said = write(&c, b)
	case ReviewRequested:
		said = write(&c, b)
	case ReviewAnswered:
		said = write(&c, b)
	case ReviewClosed:
		said = write(&c, b)
	case StreamSucceeded:
		said = write(&c, b)
	case StreamCheckpoint:
		said = write(&c, b)
	case nil:
		c.fail("body", "missing")
	default:
		c.kind = b.Kind()
		c.fail("body", "not the value of a kind that this build writes")
	}
	if c.err != nil {
		return dst, nil, c.err
	}
	return c.out, said, nil
}

// A visitor is a pointer to a body of type T.
type visitor[T any] interface {
	*T
	visit(*codec)
}

// write returns b as the visit left it.
func write[T Body, P visitor[T]](c *codec, b T) Body {
	c.kind = b.Kind()
	c.open()
	P(&b).visit(c)
	if c.err == nil {
		c.close()
	}
	return b
}
