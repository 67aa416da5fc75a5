package main

import "golang.org/x/sys/unix"

// adviseHugePages asks the kernel to back b by pages of 2 MiB, which makes
// hundreds of page faults one. They are dear on virtual machines: a tenth of
// the time of a conversion. It is advice: a kernel that does not take it is
// slower, no more.
func adviseHugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
