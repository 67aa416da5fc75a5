// Package latex sets every LaTeX table that assay writes with pdfLaTeX, under
// names that would be commands, and reads the pages back. The tests have the
// build tag e2e; e2e/latex/run.sh installs TeX where it is missing, and runs
// them alone, and e2e/run.sh runs them with the others.
package latex
