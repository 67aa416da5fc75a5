// Package browser tests the report and the viewer in headless Chromium. The
// tests have the build tag e2e; e2e/browser/run.sh installs Chromium where it is
// missing, and runs them alone, and e2e/run.sh runs them with the others.
//
// Chromium is driven by the DevTools protocol over its pipe, which needs no
// port and no websocket.
package browser
