package journal

import "os"

// runningFile is the file of the program that runs, also when its name is another
// file's by now.
func runningFile() (*os.File, error) { return os.Open("/proc/self/exe") }
