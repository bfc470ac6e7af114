package store

import "context"

// Beside the journal a writer keeps two books that can be made from it: the
// checkpoint of the index and the row of the catalog. They are written now and then,
// never with each append, and what goes wrong with them is told to
// Options.Trouble.

// keepBooks stores both, in the background, when enough has been appended.
func (w *Writer) keepBooks() {
	if len(w.index.tail) >= w.index.due {
		w.beginBooks()
	}
}

// beginBooks begins to store both, if there is something to store and nobody is
// at it.
func (w *Writer) beginBooks() {
	seal := w.index.beginSeal(w.tip, w.last)
	if seal == nil {
		return
	}
	row := w.summary.row()
	w.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), w.s.o.OpenTimeout)
		defer cancel()
		install := seal(ctx)
		w.s.saveRow(ctx, w.n, row)
		w.turn <- struct{}{}
		forget := install()
		w.leave()
		forget()
	})
}

// Checkpoint stores both books now, which makes the next opening quick: when the
// session comes to rest, for instance. They are stored without it too, now and
// then and by Close.
func (w *Writer) Checkpoint(ctx context.Context) error {
	for {
		if err := w.enter(ctx); err != nil {
			return err
		}
		if err := w.guard(); err != nil {
			w.leave()
			return err
		}
		busy := w.index.sealing
		if busy == nil {
			w.beginBooks()
		}
		own := w.index.sealing
		w.leave()
		if own == nil { // there was nothing to store
			return nil
		}
		select {
		case <-own.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if busy == nil && !own.anew {
			return own.err
		}
	}
}

// settleBooks stores both at the end.
func (w *Writer) settleBooks() {
	ctx, cancel := context.WithTimeout(context.Background(), w.s.o.AppendTimeout)
	defer cancel()
	forget := func() {}
	for again := true; again; { // once more if the index had to be made anew
		seal := w.index.beginSeal(w.tip, w.last)
		if seal == nil {
			break
		}
		own := w.index.sealing
		forget = seal(ctx)()
		again = own.anew
	}
	// What the new checkpoint replaces goes last: a store that dies may come back
	// without the write that was its last, and then needs what the old one has.
	w.s.saveRow(ctx, w.n, w.summary.row())
	forget()
}

// note tells of records that have become durable.
func (w *Writer) note(ctx context.Context, a *attempt) {
	for i, p := range a.recs {
		w.summary.note(a.expected.Seq+uint64(i)+1, w.lease.Epoch(), p.rec)
		if w.also != nil {
			w.tell(ctx, a.expected.Seq+uint64(i)+1, p.rec)
		}
	}
	w.keepBooks()
}
