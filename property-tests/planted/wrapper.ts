/** Bugs planted in what a node is shown, and in how it is told. */
import type { Mutant } from "./mutant.ts"

export const wrapper: readonly Mutant[] = [
  {
    name: "an endpoint on this very node is dropped like any other",
    file: "src/core/topology.ts",
    from: "if (node === around.own) return",
    to: "if (node === around.own && false) return",
    caughtBy: ["explain", "view"]
  },
  {
    name: "an endpoint without node is dropped",
    file: "src/core/topology.ts",
    from: 'if (node === undefined) return "Unplaced"',
    to: 'if (node === undefined) return "UnknownService"',
    caughtBy: ["explain", "view"]
  },
  {
    name: "a slice of a Service that isn't known is shown whole",
    file: "src/core/topology.ts",
    from: "if (service === undefined) return undefined\n",
    to: 'if (service === undefined) return "NoRule"\n',
    caughtBy: ["explain", "view"]
  },
  {
    name: "address families are mixed up",
    file: "src/core/topology.ts",
    from: "if (endpoint.family !== family) continue",
    to: "",
    caughtBy: ["explain"]
  },
  {
    name: "readiness does not pick the key",
    file: "src/core/topology.ts",
    from: 'if (endpoint.readiness === "Ready") return key',
    to: "return key",
    caughtBy: ["explain"]
  },
  {
    name: "a slice is found by its name",
    file: "src/core/slice.ts",
    from: "isSlice ? own(item.labels, SERVICE_NAME) : item.name",
    to: 'isSlice ? item.name.split("-")[0] : item.name',
    caughtBy: ["slice", "view"]
  },
  {
    name: "a broken annotation leaves everything open",
    file: "src/core/topology.ts",
    from: 'if (!Array.isArray(keys)) return closed("is no JSON array")',
    to: "if (!Array.isArray(keys)) return everywhere",
    caughtBy: ["topology", "explain"]
  },
  {
    name: "a Service's other slices aren't decided again",
    file: "src/core/view.ts",
    from: "before.slice = slice\n      due.add(before.group)",
    to: "before.slice = slice\n      due.add({ service: before.group.service, entries: new Set([before]) })",
    caughtBy: ["view"]
  },
  {
    name: "a node that joins touches nothing",
    file: "src/core/view.ts",
    from: "this.#moved.add(name)",
    to: "if (before !== undefined) this.#moved.add(name)",
    caughtBy: ["view"]
  },
  {
    name: "a slice is shown before nodes were seen",
    file: "src/core/view.ts",
    from: 'const SYNCED_FIRST = ["Service", "Node", "ApiServer"] as const',
    to: 'const SYNCED_FIRST = ["Service", "ApiServer"] as const',
    caughtBy: ["view"]
  },
  {
    name: "labels of a deleted own node are forgotten",
    file: "src/core/view.ts",
    from: "if (labels === undefined) return\n      const last = this.#ownLabels",
    to: "const last = this.#ownLabels",
    caughtBy: ["view"]
  },
  {
    name: "what looks the same is told again",
    file: "src/core/view.ts",
    from: "if (before !== undefined && sameShown(before, after))",
    to: "if (before !== undefined && before.slice === after.slice && sameShown(before, after))",
    caughtBy: ["view"]
  },
  {
    name: "a Service of another namespace decides",
    file: "src/core/view.ts",
    from: "slice.service === undefined ? undefined : `${slice.namespace}/${slice.service}`",
    to: "slice.service === undefined ? undefined : `default/${slice.service}`",
    caughtBy: ["board"]
  },
  {
    name: "a slice that became empty is told as deleted",
    file: "src/core/board.ts",
    from: 'if (told._tag === "Removed") journal',
    to: 'if (told._tag === "Removed" || told.after.dropped.length === told.after.slice.endpoints.length) journal',
    caughtBy: ["board", "serve"]
  },
  {
    name: "what was kept and is gone stays",
    file: "src/core/source.ts",
    from: 'if (after?.uid !== before.uid) yield { _tag: "Removed", key, before }',
    to: 'if (after !== undefined && after.uid !== before.uid) yield { _tag: "Removed", key, before }',
    caughtBy: ["board"]
  },
  {
    name: "the last slice holds the local endpoint",
    file: "src/core/local.ts",
    from: "a.key < b.key ? -1 : 1",
    to: "a.key < b.key ? 1 : -1",
    caughtBy: ["view"]
  },
  {
    name: "a path with a doubled slash goes upstream",
    file: "src/core/route.ts",
    from: 'else if (part !== "" && part !== ".") steps.push(part)',
    to: 'else if (part !== ".") steps.push(part)',
    caughtBy: ["route"]
  },
  {
    name: "a local port takes over a protocol of null",
    file: "src/core/local.ts",
    from: ".filter(([, value]) => value !== null)",
    to: "",
    caughtBy: ["local"]
  },
  {
    name: "an address of the wrong family is held",
    file: "src/core/local.ts",
    from: "family === ANY_FAMILY || family === familyOf(here.address)",
    to: 'family === ANY_FAMILY || family !== "FQDN"',
    caughtBy: ["local", "view"]
  },
  {
    name: "annotations of other people are kept",
    file: "src/core/item.ts",
    from: 'key === "topologyKeys" || key.startsWith("superedge.io/")',
    to: "key !== undefined",
    caughtBy: ["item"]
  },
  {
    name: "half a character is read",
    file: "src/core/bytes.ts",
    from: "return code < least || code > 0x10ffff",
    to: "return code > 0x10ffff",
    caughtBy: ["bytes"]
  },
  {
    name: "a list without items is an empty one",
    file: "src/core/arrival.ts",
    from: "if (!whole || found.items === undefined)",
    to: "found.items ??= []\n    if (!whole)",
    caughtBy: ["arrival"]
  },
  {
    name: "a watch of a revision that is forgotten begins now",
    file: "src/core/opening.ts",
    from: 'return journal.since(revision, 0)._tag === "Expired" ? expired : { _tag: "After", revision }',
    to: 'return { _tag: "After", revision: journal.since(revision, 0)._tag === "Expired" ? journal.head : revision }',
    caughtBy: ["opening"]
  },
  {
    name: "what was kept and can't be read on the list is dropped",
    file: "src/core/source.ts",
    from: "items: [...input.items, ...stay]",
    to: "items: stay.length < 0 ? stay : input.items",
    caughtBy: ["source"]
  },
  {
    name: "a headless label of null counts",
    file: "src/core/endpoints.ts",
    from: 'headless: typeof own(labels, HEADLESS) === "string"',
    to: "headless: own(labels, HEADLESS) !== undefined",
    caughtBy: ["endpoints", "explain"]
  },
  {
    name: "managedFields are cut with the comma behind them",
    file: "src/core/item.ts",
    from: "if (before !== undefined) reader.cut(before)",
    to: "if (before !== undefined) reader.cut(before + 1)",
    caughtBy: ["board", "slice"]
  },
  {
    name: "the comma of a dropped endpoint is left",
    file: "src/core/cut.ts",
    from: "from: kept ?? from",
    to: "from",
    caughtBy: ["cut"]
  },
  {
    name: "a resume is off by one",
    file: "src/core/journal.ts",
    from: "const from = this.#events.length - Number(behind)",
    to: "const from = this.#events.length - Number(behind) + (behind > 1n ? 1 : 0)",
    caughtBy: ["journal"]
  },
  {
    name: "a bookmark is ahead of an event",
    file: "src/core/journal.ts",
    from: "cursor: String(asked + BigInt(events.length))",
    to: "cursor: this.head",
    caughtBy: ["journal"]
  },
  {
    name: "a reader who fell behind is given what is left",
    file: "src/core/journal.ts",
    from: "asked < this.#start || behind > held",
    to: "asked < this.#start",
    caughtBy: ["journal"]
  },
  {
    name: "an object that leaves a selector is forgotten silently",
    file: "src/core/query.ts",
    from: 'return was ? { type: "DELETED", value: before, revision } : undefined',
    to: 'return was && after === undefined ? { type: "DELETED", value: before, revision } : undefined',
    caughtBy: ["query", "journal"]
  }
]
