// Package scope says what a claim covers: repository paths, folders, patterns
// and named resources; how they are written, stored and compared.
package scope
