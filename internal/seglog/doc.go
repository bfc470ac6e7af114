// Package seglog is the log on disk.
package seglog
