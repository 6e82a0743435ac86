/**
 * Times as Kubernetes writes them.
 */

/** RFC 3339 in UTC, to the second: `2026-01-31T12:00:00Z`. */
export const iso = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z")
