//go:build !linux

package proc_test

func runRole(role string) { panic("unknown role " + role) }
