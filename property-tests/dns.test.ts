/** `servicegroup dns` as a whole, before the embedded cluster: what is in its file, whatever happens to the cluster, the network or the disk. */
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { live, until } from "./effect.ts"
import {
  bare,
  type Daemon,
  daemon,
  names,
  NODES,
  place,
  PODS,
  type Place,
  SERVICES,
  SETS,
  SLICES,
  SSGS
} from "./kept-hosts.ts"
import { mountable } from "./mountable.ts"
import { metric } from "./wrapped.ts"

/** What is wrong with a disk, how that comes, and how it goes. */
const TROUBLES: readonly (readonly [string, (folder: string) => void, (folder: string) => void])[] = [
  [
    "full",
    (folder) => {
      const filler = openSync(join(folder, "filler"), "w")
      try {
        for (;;) writeSync(filler, Buffer.alloc(4096))
      } catch {
        closeSync(filler)
      }
    },
    (folder) => rmSync(join(folder, "filler"))
  ],
  [
    "read-only",
    (folder) => execFileSync("mount", ["-o", "remount,ro", folder]),
    (folder) => execFileSync("mount", ["-o", "remount,rw", folder])
  ]
]

/** Only root may mount. */
const onMount = (...test: Parameters<typeof live>): void => {
  if (mountable) live(...test)
  else it.skip(test[0])
}

describe("dns", () => {
  live("R141 names the pods of a grid whose name holds that of a unit", () =>
    Effect.gen(function* () {
      const at = yield* place
      at.node("n1", { zone: "zone1" })
      at.service("db", "db")
      at.grid("zone1-db", { key: "zone", service: "db", app: "db" })
      yield* daemon(at, { node: "n1" })
      yield* names(at, pods(at, "zone1-db-zone1", "zone1-db", "db"))
      expect(at.text).toContain(`zone1-db-0.db.default.svc.cluster.local`)
    })
  )

  live("R142 gives every unit its own pod, and follows it to another address", () =>
    Effect.gen(function* () {
      const at = yield* web()
      yield* daemon(at, { node: "bj-1" })
      yield* names(at, pods(at, "web-beijing"))
      at.ask("PATCH", `${PODS}/web-beijing-0/status`, moved("10.244.9.9"))
      yield* names(at, pods(at, "web-beijing"))
      expect(at.named()["web-0.web-svc"]).toBe("10.244.9.9")
    })
  )

  live("R142 names a node's new unit when the node moves", () =>
    Effect.gen(function* () {
      const at = yield* web()
      yield* daemon(at, { node: "bj-1" })
      yield* names(at, pods(at, "web-beijing"))
      at.ask("PATCH", `${NODES}/bj-1`, { metadata: { labels: { zone: "guangzhou" } } })
      yield* names(at, pods(at, "web-guangzhou"))
    })
  )

  live("R143 keeps the lines of one grid while another one of the same Service changes", () =>
    Effect.gen(function* () {
      const at = yield* place
      at.node("n1", { zone: "z" })
      at.service("echo", "echo")
      at.grid("demo", { key: "zone", service: "echo", app: "echo" })
      at.grid("my-demo", { key: "zone", service: "echo", app: "echo" })
      yield* daemon(at, { node: "n1" })
      const kept = pods(at, "my-demo-z", "my-demo", "echo")
      yield* names(at, { ...kept, ...pods(at, "demo-z", "demo", "echo") })
      at.ask("DELETE", `${SSGS}/demo`)
      yield* names(at, kept)
    })
  )

  live("R145 R156 keeps the lines of others, and an empty block when the last name goes", () =>
    Effect.gen(function* () {
      const at = yield* web()
      writeFileSync(at.file, "# mine\n10.9.9.9 registry.local reg\n")
      const { lines } = yield* daemon(at, { node: "bj-1" })
      const foreign = { "registry.local": "10.9.9.9", reg: "10.9.9.9" }
      yield* names(at, { ...foreign, ...pods(at, "web-beijing") })
      at.ask("PATCH", `${SETS}/web-beijing`, { spec: { replicas: 0 } })
      yield* names(at, foreign)
      expect(at.text).toMatch(
        /^# mine\n10\.9\.9\.9 registry\.local reg\n# BEGIN servicegroup:.*\n# END servicegroup\n$/
      )
      expect(lines).toEqual([])
    })
  )

  // The pods stay, where that can be: it is not their end that is seen.
  for (const [what, path, propagationPolicy] of [
    ["StatefulSet", `${SETS}/web-beijing`, "Orphan"],
    ["Service", `${SERVICES}/web-svc`, "Background"],
    ["grid", `${SSGS}/web`, "Orphan"]
  ] as const)
    live(`R147 forgets the names when the ${what} is deleted`, () =>
      Effect.gen(function* () {
        const at = yield* web()
        yield* daemon(at, { node: "bj-1" })
        yield* names(at, pods(at, "web-beijing"))
        at.ask("DELETE", path, undefined, { propagationPolicy })
        yield* names(at, {})
      })
    )

  live("R148 leaves out pods that are not ready, unless the Service publishes those", () =>
    Effect.gen(function* () {
      const at = yield* web()
      yield* daemon(at, { node: "bj-1" })
      const all = pods(at, "web-beijing")
      yield* names(at, all)
      const conditions = [{ type: "Ready", status: "False" }]
      at.ask("PATCH", `${PODS}/web-beijing-1/status`, { status: { conditions } })
      const { "web-1.web-svc": _, "web-beijing-1.web-svc": __, ...ready } = all
      yield* names(at, ready)
      at.ask("PATCH", `${SERVICES}/web-svc`, { spec: { publishNotReadyAddresses: true } })
      yield* names(at, all)
    })
  )

  for (const phase of ["Failed", "Succeeded"])
    live(
      `R148 leaves out a pod that ${phase}, even where the Service publishes those that are not ready`,
      () =>
        Effect.gen(function* () {
          const at = yield* web()
          at.ask("PATCH", `${SERVICES}/web-svc`, { spec: { publishNotReadyAddresses: true } })
          const all = pods(at, "web-beijing")
          at.ask("POST", PODS, lonely("web-beijing-7"))
          yield* daemon(at, { node: "bj-1" })
          const address = at.address("lonely")
          yield* names(at, { ...all, "web-7.web-svc": address, "web-beijing-7.web-svc": address })
          at.ask("PATCH", `${PODS}/lonely/status`, { status: { phase } })
          yield* names(at, all)
        })
    )

  live("R149 names addresses of both families in the cluster's own domain", () =>
    Effect.gen(function* () {
      const at = yield* web()
      const [name, hostname] = ["by-hand", "web-beijing-0"]
      const labels = {
        "kubernetes.io/service-name": "web-svc",
        "service.kubernetes.io/headless": "",
        "endpointslice.kubernetes.io/managed-by": "test"
      }
      at.ask("POST", SLICES, {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name, labels },
        addressType: "IPv6",
        endpoints: [{ addresses: ["fd00::5"], hostname, conditions: { ready: true } }],
        ports: []
      })
      yield* daemon(at, { node: "bj-1", clusterDomain: "edge.local" })
      const four = pods(at, "web-beijing")
      const both = `${four["web-0.web-svc"]} fd00::5`
      yield* names(
        at,
        { ...four, "web-0.web-svc": both, "web-beijing-0.web-svc": both },
        "default.svc.edge.local"
      )
    })
  )

  live("R150 takes a grid key with a prefix as any other", () =>
    Effect.gen(function* () {
      const at = yield* web("topology.kubernetes.io/zone")
      yield* daemon(at, { node: "bj-1" })
      yield* names(at, pods(at, "web-beijing"))
    })
  )

  live("R151 says once which set has no headless Service, and again after there was one", () =>
    Effect.gen(function* () {
      const at = yield* web()
      at.service("flat", "flat", { clusterIP: null })
      at.grid("lost", { key: "zone", service: "nope", app: "lost" })
      at.grid("flat", { key: "zone", service: "flat", app: "flat" })
      const { lines } = yield* daemon(at, { node: "bj-1" })
      yield* names(at, pods(at, "web-beijing"))
      const flat =
        /^the pods of StatefulSet default\/flat-beijing get no short names: .*default\/flat.*clusterIP/
      const lost = /^the pods of StatefulSet default\/lost-beijing get no short names: .*default\/nope/
      yield* until("both complaints", () => lines.length === 2)
      expect(lines).toEqual([expect.stringMatching(flat), expect.stringMatching(lost)])

      at.service("nope", "lost")
      yield* names(at, { ...pods(at, "web-beijing"), ...pods(at, "lost-beijing", "lost", "nope") })
      yield* until("the end of a complaint", () => lines.length === 3)
      at.ask("DELETE", `${SERVICES}/nope`)
      yield* until("another complaint", () => lines.length === 4)
      expect(lines.slice(2)).toEqual([
        expect.stringMatching(/^no longer so: the pods of StatefulSet default\/lost-beijing/),
        expect.stringMatching(lost)
      ])
    })
  )

  live("R152 names the pods of a set whose name is a hash", () =>
    Effect.gen(function* () {
      const at = yield* place
      at.node("n1", { zone: "Bei_Jing" })
      at.service("web-svc", "web")
      at.grid("web", { key: "zone", service: "web-svc", app: "web" })
      const { items } = at.ask("GET", SETS) as {
        readonly items: readonly { readonly metadata: { readonly name: string } }[]
      }
      const [set = ""] = items.map(({ metadata }) => metadata.name)
      expect(set).toMatch(/^web-[-a-z0-9]+$/)
      yield* daemon(at, { node: "n1" })
      yield* names(at, pods(at, set))
    })
  )
})

describe("dns, without upstream", () => {
  live("leaves the file as it is, and brings it up to date afterwards", () =>
    Effect.gen(function* () {
      const at = yield* web()
      const running = yield* daemon(at, { node: "bj-1" })
      yield* names(at, pods(at, "web-beijing"))
      const before = file(at)
      at.away()
      yield* until("trouble with each kind", () => report(running).lines.length === 4)
      at.ask("PATCH", `${PODS}/web-beijing-0/status`, moved("10.244.9.9"))
      at.ask("DELETE", `${NODES}/bj-1`)
      const asked = at.asked
      yield* until("two more requests for each kind", () => at.asked >= asked + 8)
      expect(file(at)).toEqual(before)
      expect(report(running).ready).toBe(true)
      at.node("bj-1", { zone: "guangzhou" })
      at.back()
      yield* names(at, pods(at, "web-guangzhou"))
    })
  )

  live("starts again without touching the file, and is not ready before it knows better", () =>
    Effect.gen(function* () {
      const at = yield* web()
      const first = yield* daemon(at, { node: "bj-1" })
      yield* names(at, pods(at, "web-beijing"))
      yield* first.stop
      const before = file(at)
      at.away()
      const second = yield* daemon(at, { node: "bj-1" })
      yield* until("four kinds that are waited for, and the file", () => report(second).lines.length === 5)
      yield* until("failures of lists", () => second.lines.length >= 4)
      expect(file(at)).toEqual(before)
      expect(report(second).ready).toBe(false)
      at.ask("PATCH", `${SETS}/web-beijing`, { spec: { replicas: 1 } })
      at.back()
      yield* names(at, {
        "web-0.web-svc": at.address("web-beijing-0"),
        "web-beijing-0.web-svc": at.address("web-beijing-0")
      })
      yield* until("readiness", () => report(second).ready)
    })
  )

  live("writes nothing while one kind can't be listed", () =>
    Effect.gen(function* () {
      const at = yield* bare
      at.node("bj-1", { zone: "beijing" })
      const old = "# BEGIN servicegroup: as it was\n10.0.0.1 old.svc\n# END servicegroup\n"
      writeFileSync(at.file, old)
      const running = yield* daemon(at, { node: "bj-1" })
      const missing = "waiting for statefulsetgrids.superedge.io: 404, the CRD is not installed"
      const waits = [`waiting for ${at.file}: it was not written yet`, missing]
      yield* until("all other kinds", () => report(running).lines.length === 2)
      // the others watch, and only this one asks again
      const settled = at.asked
      yield* until("three more requests for grids", () => at.asked >= settled + 3)
      expect(report(running)).toEqual({ ready: false, lines: waits.toSorted() })
      expect(at.text).toBe(old)
      at.install()
      at.service("web-svc", "web")
      at.grid("web", { key: "zone", service: "web-svc", app: "web" })
      yield* names(at, pods(at, "web-beijing"))
      yield* until("readiness", () => report(running).ready)
    })
  )

  live("says which Node is missing, and writes nothing before it is there", () =>
    Effect.gen(function* () {
      const at = yield* web()
      const running = yield* daemon(at, { node: "sh-1" })
      const words = /^there is no Node named sh-1: --node-name \(SERVICEGROUP_NODE_NAME\)/
      yield* until("the complaint", () => running.lines.some((line) => words.test(line)))
      expect(running.lines).toHaveLength(1)
      expect(report(running)).toEqual({
        ready: false,
        lines: [expect.stringContaining("there is no Node named sh-1")]
      })
      expect(at.text).toBeUndefined()
      at.node("sh-1", { zone: "guangzhou" })
      yield* names(at, pods(at, "web-guangzhou"))
      yield* until("readiness", () => report(running).ready)
    })
  )

  live("goes on by the node's last labels when it is deleted", () =>
    Effect.gen(function* () {
      const at = yield* web()
      yield* daemon(at, { node: "bj-1" })
      yield* names(at, pods(at, "web-beijing"))
      at.node("bj-2", { zone: "beijing" })
      at.ask("DELETE", `${NODES}/bj-1`)
      yield* names(at, pods(at, "web-beijing"))
      at.ask("PATCH", `${PODS}/web-beijing-0/status`, moved("10.244.9.9"))
      yield* names(at, pods(at, "web-beijing"))
      expect(at.named()["web-0.web-svc"]).toBe("10.244.9.9")
    })
  )
})

describe("dns, on a disk that says no", () => {
  live("R144 says what is wrong with the path, counts the failures, and writes as soon as it can", () =>
    Effect.gen(function* () {
      const at = yield* web()
      mkdirSync(at.file)
      const before = failures()
      const running = yield* daemon(at, { node: "bj-1" })
      yield* until("three failures", () => failures() >= before + 3)
      expect(running.lines).toEqual([
        expect.stringMatching(/dns\/hosts can't be written: it is a directory.*--hosts-file.*tried again$/)
      ])
      expect(report(running).ready).toBe(false)
      expect(report(running).lines).toEqual([expect.stringContaining("it is a directory")])
      rmSync(at.file, { recursive: true })
      yield* names(at, pods(at, "web-beijing"))
      yield* until("readiness", () => report(running).ready)
      expect(running.lines.slice(1)).toEqual([expect.stringMatching(/dns\/hosts is written again$/)])
    })
  )

  for (const [what, fill, clear] of TROUBLES)
    onMount(`R144 has the file right soon after a disk that was ${what}`, () =>
      Effect.gen(function* () {
        const at = yield* web()
        yield* mounted(dirname(at.file))
        const running = yield* daemon(at, { node: "bj-1" })
        yield* names(at, pods(at, "web-beijing"))
        const kept = at.text
        fill(dirname(at.file))
        const before = failures()
        at.ask("PATCH", `${PODS}/web-beijing-0/status`, moved("10.244.9.9"))
        yield* until("a failure", () => failures() > before)
        expect(at.text).toBe(kept)
        expect(report(running)).toMatchObject({
          ready: true,
          lines: [expect.stringContaining("trouble with")]
        })
        clear(dirname(at.file))
        yield* names(at, pods(at, "web-beijing"))
        yield* until("no trouble", () => report(running).lines.length === 0)
      })
    )

  onMount("says once that a file that is a mount is written in place", () =>
    Effect.gen(function* () {
      const at = yield* web()
      writeFileSync(at.file, "10.9.9.9 registry.local\n")
      yield* Effect.acquireRelease(
        Effect.sync(() => execFileSync("mount", ["--bind", at.file, at.file])),
        () => Effect.sync(() => execFileSync("umount", [at.file]))
      )
      const { lines } = yield* daemon(at, { node: "bj-1" })
      const foreign = { "registry.local": "10.9.9.9" }
      yield* names(at, { ...foreign, ...pods(at, "web-beijing") })
      at.ask("PATCH", `${PODS}/web-beijing-0/status`, moved("10.244.9.9"))
      yield* names(at, { ...foreign, ...pods(at, "web-beijing") })
      expect(lines).toEqual([expect.stringMatching(/is written in place.*mount its folder instead/)])
    })
  )

  live("mends its block within a minute where someone else edits it, and keeps what they add", () =>
    Effect.gen(function* () {
      const at = yield* web()
      yield* daemon(at, { node: "bj-1" })
      yield* names(at, pods(at, "web-beijing"))
      writeFileSync(at.file, (at.text ?? "").replace(/^10.* web-0.*\n/m, ""))
      appendFileSync(at.file, "10.9.9.9 registry.local\n")
      yield* names(at, { "registry.local": "10.9.9.9", ...pods(at, "web-beijing") })
    })
  )
})

/** Two nodes in two units, and a grid there. */
const web = (key = "zone") =>
  Effect.map(place, (at) => {
    at.node("bj-1", { [key]: "beijing" })
    at.node("gz-1", { [key]: "guangzhou" })
    at.service("web-svc", "web")
    at.grid("web", { key, service: "web-svc", app: "web" })
    return at
  })

/** The names that the two pods of a set are to have, and their addresses. */
const pods = (
  at: Place,
  set: string,
  grid = "web",
  service = "web-svc"
): { readonly [name: string]: string } =>
  Object.fromEntries(
    [0, 1].flatMap((ordinal) =>
      [grid, set].map((each) => [`${each}-${ordinal}.${service}`, at.address(`${set}-${ordinal}`)])
    )
  )

const moved = (podIP: string): object => ({ status: { podIP, podIPs: [{ ip: podIP }] } })

/** A pod of nobody, which says that it is one of a set. */
const lonely = (hostname: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "lonely", labels: { app: "web" } },
  spec: { hostname, subdomain: "web-svc", containers: [{ name: "c", image: "web:1" }] }
})

const report = ({ readiness }: Daemon) => Effect.runSync(readiness.report)

const file = (at: Place) => ({ text: at.text, at: statSync(at.file, { bigint: true }).mtimeNs })

const failures = (): number => metric("servicegroup_hosts_failures_total") ?? 0

const mounted = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder])),
    () => Effect.sync(() => execFileSync("umount", [folder]))
  )
