//go:build !linux && !darwin && !windows

package home

func systemMachine() (raw, source string) { return "", "" }
