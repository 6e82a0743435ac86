/** Bugs planted in the slices with short names that clients of DNS are shown. */
import type { Mutant } from "./mutant.ts"

const FILE = "src/core/short-slices.ts"
const TESTS = ["short-slices"]

export const shortSlices: readonly Mutant[] = [
  {
    name: "a short name leads to a pod that the Service's scope hides",
    file: FILE,
    from: "if (!gone.has(i)) endpoints.push",
    to: "endpoints.push",
    caughtBy: TESTS
  },
  {
    name: "a slice with short names has the ports of the other",
    file: FILE,
    from: "    ports: []",
    to: '    ports: [{ name: "http", port: 80 }]',
    caughtBy: TESTS
  },
  {
    name: "a host name that changes in one slice doesn't free or take names in others",
    file: FILE,
    from: "  if (entry.read === now) return",
    to: "  if (entry.read !== undefined) return",
    caughtBy: TESTS
  },
  {
    name: "a node that changes its unit keeps the short names of the old one",
    file: FILE,
    from: "if (node !== this.#labels) {",
    to: "if (this.#labels === undefined) {",
    caughtBy: TESTS
  },
  {
    name: "a set that is called as the grid is takes its names only later",
    file: FILE,
    from: "return was || is || this.#takes(key)",
    to: "return was || is",
    caughtBy: TESTS
  },
  {
    name: "a grid that was made anew keeps the names of the old one's sets",
    file: FILE,
    from: "if (before !== undefined) this.#grids.delete(before.uid)",
    to: "",
    caughtBy: TESTS
  },
  {
    name: "a slice that goes to another Service leaves its short names behind",
    file: FILE,
    from: "if (after === undefined || serviceOf(after.slice) !== service) this.#leave",
    to: "if (after === undefined) this.#leave",
    caughtBy: TESTS
  },
  {
    name: "kube-proxy's clients are shown short names",
    file: "src/core/board.ts",
    from: "for (const each of put) journal.put(",
    to: "for (const each of put) this.#journals.EndpointSlice.put(",
    caughtBy: TESTS
  },
  {
    name: "names are answered before grids were seen",
    file: "src/core/board.ts",
    from: "NAMING.filter((feed) => !this.#seen.has(feed))",
    to: "NAMING.filter(() => false)",
    caughtBy: TESTS
  },
  {
    name: "what is kept across restarts forgets whose a set is",
    file: "src/core/own-sets.ts",
    from: "set.owner === undefined ? [] : [{ uid: set.owner, controller: true }]",
    to: "[]",
    caughtBy: TESTS
  }
]
