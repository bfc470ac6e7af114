//go:build !linux && !darwin && !windows

package httpapi

func credentials(uintptr) peer { return peer{} }
