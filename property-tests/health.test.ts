/** The three pages that the kubelet and Prometheus read. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as Scope from "effect/Scope"
import { connect } from "node:net"
import { describe, expect, it } from "vitest"
import { Readiness, serveHealth } from "../src/shell/health.ts"
import { prometheus } from "../src/shell/prometheus.ts"
import { live, until } from "./effect.ts"
import { freePort } from "./free-port.ts"

const address = (port: number, host: string | undefined = "127.0.0.1") => ({
  host,
  port,
  text: `${host}:${port}`
})

const serving = Effect.gen(function* () {
  const port = yield* freePort
  const context = yield* Layer.build(serveHealth(address(port)).pipe(Layer.provideMerge(Readiness.layer)))
  const readiness = yield* Effect.provide(Readiness, context)
  const get = (path: string, init: RequestInit = {}) =>
    Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
      return {
        status: response.status,
        body: await response.text(),
        type: response.headers.get("content-type")
      }
    })
  return { port, readiness, get }
})

describe("/livez", () => {
  live("R203 is 200 while nothing is ready", () =>
    Effect.gen(function* () {
      const { get } = yield* serving
      expect(yield* get("/livez")).toMatchObject({ status: 200, body: "ok\n" })
    })
  )
})

describe("/readyz", () => {
  live("R203 is 200 only after all that registered is ready, and says what is waited for", () =>
    Effect.gen(function* () {
      const { get, readiness } = yield* serving
      expect(yield* get("/readyz")).toMatchObject({ status: 503, body: "not ready\n" })
      yield* readiness.waiting("nodes", "the first list is not complete")
      yield* readiness.waiting("deploymentgrids.superedge.io", "404, the CRD is not installed")
      expect(yield* get("/readyz")).toMatchObject({
        status: 503,
        body: "not ready\nwaiting for deploymentgrids.superedge.io: 404, the CRD is not installed\nwaiting for nodes: the first list is not complete\n"
      })
      yield* readiness.ready("nodes")
      expect((yield* get("/readyz")).status).toBe(503)
      yield* readiness.ready("deploymentgrids.superedge.io")
      expect(yield* get("/readyz")).toMatchObject({ status: 200, body: "ok\n" })
    })
  )

  live("stays 200 when what was ready gets into trouble, and says so until it is over", () =>
    Effect.gen(function* () {
      const { get, readiness } = yield* serving
      yield* readiness.ready("nodes")
      yield* readiness.waiting("nodes", "403, no rights")
      expect(yield* get("/readyz?verbose")).toMatchObject({
        status: 200,
        body: "ok\ntrouble with nodes: 403, no rights\n"
      })
      yield* readiness.ready("nodes")
      expect(yield* get("/readyz")).toMatchObject({ status: 200, body: "ok\n" })
    })
  )
})

describe("/metrics", () => {
  live("R204 shows what is counted here, and the process", () =>
    Effect.gen(function* () {
      const { get } = yield* serving
      const counter = Metric.counter("servicegroup_test_total", { description: "a \\ test\nof two lines" })
      yield* Metric.update(Metric.tagged(counter, "what", 'a "quoted"\nbackslash \\'), 3)
      const { status, body, type } = yield* get("/metrics")
      expect([status, type]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"])
      expect(body).toContain(
        [
          "# HELP servicegroup_test_total a \\\\ test\\nof two lines",
          "# TYPE servicegroup_test_total counter",
          'servicegroup_test_total{what="a \\"quoted\\"\\nbackslash \\\\"} 3'
        ].join("\n")
      )
      expect(body).toMatch(/^process_resident_memory_bytes \d+$/m)
      expect(body).not.toContain("effect_")
    })
  )

  it("R204 is the text format 0.0.4: families together, each with its type, buckets that add up", async () => {
    const histogram = Metric.histogram(
      "servicegroup_test_seconds",
      MetricBoundaries.fromIterable([0.1, 1, 10])
    )
    const gauge = Metric.gauge("servicegroup_test_gauge")
    const frequency = Metric.frequency("servicegroup_test_words")
    const pairs = await Effect.runPromise(
      Effect.zipRight(
        Effect.all([
          ...[0.05, 0.5, 0.7, 50].map((value) =>
            Metric.update(Metric.tagged(histogram, "kind", "Node"), value)
          ),
          Metric.set(Metric.tagged(gauge, "b", "2"), 0.5),
          Metric.set(Metric.tagged(gauge, "a", "1"), -1),
          Metric.update(frequency, "yes")
        ]),
        Metric.snapshot
      )
    )
    const text = prometheus(pairs, process)
    const lines = text.split("\n").filter((line) => line.includes("servicegroup_test_"))
    expect(lines).toEqual(
      expect.arrayContaining([
        "# TYPE servicegroup_test_seconds histogram",
        'servicegroup_test_seconds_bucket{kind="Node",le="0.1"} 1',
        'servicegroup_test_seconds_bucket{kind="Node",le="1"} 3',
        'servicegroup_test_seconds_bucket{kind="Node",le="10"} 3',
        'servicegroup_test_seconds_bucket{kind="Node",le="+Inf"} 4',
        'servicegroup_test_seconds_count{kind="Node"} 4',
        'servicegroup_test_gauge{b="2"} 0.5',
        'servicegroup_test_gauge{a="1"} -1',
        'servicegroup_test_words{value="yes"} 1'
      ])
    )
    wellFormed(text)
  })
})

describe("serveHealth", () => {
  live("answers 404, 405 and HEAD as HTTP has them", () =>
    Effect.gen(function* () {
      const { get } = yield* serving
      expect((yield* get("/")).status).toBe(404)
      expect((yield* get("/../etc/passwd")).status).toBe(404)
      expect((yield* get("/livez", { method: "POST", body: "x" })).status).toBe(405)
      expect(yield* get("/livez", { method: "HEAD" })).toMatchObject({ status: 200, body: "" })
    })
  )

  live("R200 names flag and address when the port is taken", () =>
    Effect.gen(function* () {
      const { port } = yield* serving
      const second = Layer.build(serveHealth(address(port)).pipe(Layer.provide(Readiness.layer)))
      const error = yield* Effect.flip(second)
      expect(error._tag).toBe("Misconfigured")
      expect(error.message).toMatch(new RegExp(`^--health-address 127\\.0\\.0\\.1:${port}: .*EADDRINUSE`))
    })
  )

  live("is off without an address", () =>
    Effect.gen(function* () {
      yield* Layer.build(serveHealth(undefined).pipe(Layer.provide(Readiness.layer)))
    })
  )

  live("R202 ends at once with its scope, though clients are connected", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const port = yield* freePort
      yield* Layer.buildWithScope(serveHealth(address(port)).pipe(Layer.provide(Readiness.layer)), scope)
      let closed = false
      yield* Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            const socket = connect(port, "127.0.0.1", () => {
              socket.write("POST /livez HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n1", () => resolve())
            })
            socket.on("error", () => undefined)
            socket.once("close", () => (closed = true))
          })
      )
      const before = performance.now()
      yield* Scope.close(scope, Exit.void)
      yield* until("the end of the connection", () => closed)
      expect(performance.now() - before).toBeLessThan(1000)
    })
  )

  live("listens on every address where no host is given", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      yield* Layer.build(serveHealth(address(port, undefined)).pipe(Layer.provide(Readiness.layer)))
      expect((yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/livez`))).status).toBe(200)
    })
  )
})

/** The grammar of the text format, as far as a page of ours uses it. */
const wellFormed = (text: string): void => {
  const types = new Map<string, string>()
  let current = ""
  for (const line of text.split("\n").slice(0, -1)) {
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (keyword === "HELP") continue
    if (keyword === "TYPE") {
      expect(types.has(name)).toBe(false)
      types.set(name, rest)
      current = name
      continue
    }
    const sample =
      /^([a-zA-Z_:][\w:]*)(\{\w+="(?:[^"\\\n]|\\[\\"n])*"(?:,\w+="(?:[^"\\\n]|\\[\\"n])*")*\})? (\S+)$/.exec(
        line
      )
    expect(sample, line).not.toBeNull()
    const family =
      types.get(current) === "histogram" ? sample?.[1]?.replace(/_(bucket|sum|count)$/, "") : sample?.[1]
    expect(family).toBe(current)
    expect(Number(sample?.[3])).not.toBeNaN()
  }
  expect(text.endsWith("\n")).toBe(true)
}
