package vfstest

// Bytes returns the content of a file as it is seen, or nil.
func (d *Disk) Bytes(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.find(name); n != nil && !n.dir {
		return append([]byte(nil), n.data...)
	}
	return nil
}

// SetBytes replaces the content of a file, as though a disk had changed its
// mind about what it had stored. It makes the file if it is missing.
func (d *Disk) SetBytes(name string, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.find(name)
	if n == nil {
		dir, base, err := d.parent("set", name)
		if err != nil {
			panic(err)
		}
		n = &node{mode: 0o600}
		dir.entries[base], dir.kept[base] = n, n
	}
	n.data, n.durable, n.pending = append([]byte(nil), data...), append([]byte(nil), data...), nil
}

// FlipBit flips one bit of a file.
func (d *Disk) FlipBit(name string, bit int) {
	b := d.Bytes(name)
	b[bit/8] ^= 1 << (bit % 8)
	d.SetBytes(name, b)
}

// SwapBlocks exchanges two blocks of size bytes, of one file or of two, as
// writes to the wrong place do.
func (d *Disk) SwapBlocks(a string, i int, b string, j, size int) {
	x, y := d.Bytes(a), d.Bytes(b)
	if a == b {
		y = x
	}
	for k := range size {
		x[i*size+k], y[j*size+k] = y[j*size+k], x[i*size+k]
	}
	d.SetBytes(a, x)
	d.SetBytes(b, y)
}
