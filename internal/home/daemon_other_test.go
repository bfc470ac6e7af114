//go:build !unix

package home_test

func (r *report) describe() {}
