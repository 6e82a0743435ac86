/** The API client against a server on loopback that says whatever a server may say. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Deferred from "effect/Deferred"
import { Readable } from "node:stream"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { FailureReason } from "../src/core/retry.ts"
import { api, type ApiError, type ApiService, type Kind } from "../src/shell/api.ts"
import { connect } from "../src/shell/connect.ts"
import { cutter, identity, isMalformed, line, page, refusal, type WatchLine } from "../src/shell/wire.ts"
import { live, until } from "./effect.ts"
import { fakeServer, plainTarget, send, status } from "./fake-server.ts"

const deployments: Kind = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true
}
const nodes: Kind = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false }

const start = Effect.gen(function* () {
  const server = yield* fakeServer()
  const client = yield* Effect.flatMap(connect(plainTarget(server.url)), api)
  return { server, client }
})

/** The failure of a request. */
const failing = <A>(request: Effect.Effect<A, ApiError>): Effect.Effect<ApiError> =>
  Effect.flip(request) as Effect.Effect<ApiError>

describe("list", () => {
  live("asks for a page and gives revision, items and the next page", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) =>
        send(response, 200, {
          kind: "DeploymentList",
          metadata: { resourceVersion: "17", continue: "next", remainingItemCount: 5 },
          items: [{ metadata: { name: "a" } }]
        })
      const read = yield* client.list(deployments, { limit: 100, labelSelector: "a=b", namespace: "ns" })
      expect(read).toEqual({
        revision: "17",
        continue: "next",
        items: [{ metadata: { name: "a" } }]
      })
      expect(server.heard[0]?.path).toBe("/apis/apps/v1/namespaces/ns/deployments")
      expect(Object.fromEntries(server.heard[0]?.query ?? [])).toEqual({ limit: "100", labelSelector: "a=b" })
    })
  )

  live("asks for everything where no namespace is given, and the core group under /api", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) => send(response, 200, { metadata: { resourceVersion: "1" }, items: [] })
      yield* client.list(nodes, { limit: 1, continue: "t/+" })
      yield* client.list(deployments, { limit: 1 })
      expect(server.heard.map(({ path }) => path)).toEqual(["/api/v1/nodes", "/apis/apps/v1/deployments"])
      expect(server.heard[0]?.query.get("continue")).toBe("t/+")
    })
  )

  live("P5 takes no answer for an empty list that isn't one", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      const bodies = [
        "{}",
        "null",
        "[]",
        "",
        "<html>",
        '{"items":[]}',
        '{"metadata":{"resourceVersion":"1"}}',
        '{"metadata":{"resourceVersion":"x"},"items":[]}',
        '{"metadata":{"resourceVersion":"1"},"items":{}}',
        '{"kind":"Status","metadata":{}}'
      ]
      for (const body of bodies) {
        server.answer = (_, response) => send(response, 200, body)
        const error = yield* failing(client.list(nodes, { limit: 1 }))
        expect([body, error.reason]).toEqual([body, "Malformed"])
      }
    })
  )
})

/** All lines of a watch, once it has ended. */
const collected = (client: ApiService) =>
  Effect.suspend(() => {
    const all: WatchLine[] = []
    const take = (lines: readonly WatchLine[]) => Effect.sync(() => void all.push(...lines))
    return Effect.as(client.watch(nodes, { revision: "5", timeoutSeconds: 300 }, take), all)
  })

describe("watch", () => {
  live("asks for bookmarks from a revision on, and gives the lines however they are cut", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      const lines = [
        { type: "ADDED", object: { metadata: { name: "ä日本🙂" } } },
        { type: "BOOKMARK", object: { metadata: { resourceVersion: "9" } } }
      ]
      const bytes = Buffer.from(lines.map((one) => JSON.stringify(one) + "\n").join("\n"))
      server.answer = (_, response) => {
        response.writeHead(200)
        void (async () => {
          for (const byte of bytes) await new Promise((done) => response.write(Buffer.from([byte]), done))
          response.end()
        })()
      }
      expect(yield* collected(client)).toEqual(lines)
      expect(Object.fromEntries(server.heard[0]?.query ?? [])).toEqual({
        watch: "true",
        allowWatchBookmarks: "true",
        resourceVersion: "5",
        timeoutSeconds: "300"
      })
    })
  )

  live("P11 passes on lines that can't be read, and goes on", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      const good = JSON.stringify({ type: "ADDED", object: 1 })
      server.answer = (_, response) => response.end(`${good}\n{"type":\n{"type":"NEWS"}\n[]\nnull\n${good}\n`)
      const read = yield* collected(client)
      expect(read.map(({ type }) => type)).toEqual([
        "ADDED",
        "MALFORMED",
        "MALFORMED",
        "MALFORMED",
        "MALFORMED",
        "ADDED"
      ])
    })
  )

  live("skips a line that has no end, and goes on after it", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      const good = JSON.stringify({ type: "ADDED", object: 1 })
      server.answer = (_, response) => response.end(`"${"x".repeat(9_000_000)}"\n${good}\n`)
      expect((yield* collected(client)).map(({ type }) => type)).toEqual(["MALFORMED", "ADDED"])
    })
  )

  live("R112 fails with Gone for 410 as answer, and as a line", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      const gone = status(410, "Expired", "too old resource version: 5 (17)")
      server.answer = (_, response) => send(response, 410, gone)
      expect((yield* failing(collected(client))).reason).toBe("Gone")
      server.answer = (_, response) => response.end(JSON.stringify({ type: "ERROR", object: gone }) + "\n")
      const error = yield* failing(collected(client))
      expect([error.reason, error.code, error.message]).toEqual([
        "Gone",
        410,
        "too old resource version: 5 (17)"
      ])
    })
  )

  live("ends where the server ends it, and fails where the connection breaks", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) => response.end('{"type":"ADDED","object":1}\n{"type":"ADD')
      expect(yield* collected(client)).toEqual([{ type: "ADDED", object: 1 }])
      server.answer = (_, response) => {
        response.write('{"type":"ADDED","object":1}\n')
        setImmediate(() => response.socket?.resetAndDestroy())
      }
      expect((yield* failing(collected(client))).reason).toBe("Unavailable")
    })
  )

  live("ends upstream at once when its reader is interrupted", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) => response.flushHeaders()
      const reader = yield* Effect.fork(collected(client))
      yield* until("the watch", () => server.open.size === 1)
      const before = performance.now()
      yield* Fiber.interrupt(reader)
      yield* until("the end of the watch upstream", () => server.open.size === 0)
      expect(performance.now() - before).toBeLessThan(1000)
    })
  )

  live("ends upstream when its reader has enough", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) => response.write('{"type":"ADDED","object":1}\n')
      const first = yield* Deferred.make<readonly WatchLine[]>()
      const watch = client.watch(nodes, { revision: "5", timeoutSeconds: 300 }, (lines) =>
        Effect.zipRight(Deferred.succeed(first, lines), Effect.never)
      )
      expect(yield* Effect.raceFirst(Deferred.await(first), Effect.as(watch, []))).toHaveLength(1)
      yield* until("the end of the watch upstream", () => server.open.size === 0)
    })
  )
})

describe("writes", () => {
  live("send what server-side apply, merge patch, creation and deletion are made of", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) => send(response, 200, { kind: "Deployment" })
      const object = {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { namespace: "ns", name: "web-a" }
      }
      expect(yield* client.apply(deployments, object, { manager: "sg", force: true })).toEqual({
        kind: "Deployment"
      })
      yield* client.apply(deployments, object, { manager: "sg", force: false, subresource: "status" })
      yield* client.merge(deployments, "ns", "web-a", { a: null }, { manager: "sg" })
      yield* client.remove(deployments, "ns", "web-a", { uid: "u", resourceVersion: "7" })
      yield* client.get(deployments, "ns", "web-a")
      const path = "/apis/apps/v1/namespaces/ns/deployments"
      expect(
        server.heard.map(({ method, path: at, query, headers, body }) => [
          `${method} ${at}?${query}`,
          headers["content-type"],
          body === "" ? undefined : (JSON.parse(body) as unknown)
        ])
      ).toEqual([
        [`PATCH ${path}/web-a?fieldManager=sg&force=true`, "application/apply-patch+yaml", object],
        [`PATCH ${path}/web-a/status?fieldManager=sg&force=false`, "application/apply-patch+yaml", object],
        [`PATCH ${path}/web-a?fieldManager=sg`, "application/merge-patch+json", { a: null }],
        [
          `DELETE ${path}/web-a?`,
          "application/json",
          {
            kind: "DeleteOptions",
            apiVersion: "v1",
            propagationPolicy: "Background",
            preconditions: { uid: "u", resourceVersion: "7" }
          }
        ],
        [`GET ${path}/web-a?`, undefined, undefined]
      ])
    })
  )

  live("never leave the path of their kind, whatever a name is", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      yield* client.get(deployments, "n/../s", "../a?b#c")
      expect(server.heard[0]?.path).toBe("/apis/apps/v1/namespaces/n%2F..%2Fs/deployments/..%2Fa%3Fb%23c")
    })
  )

  live("R52 are at most 32 at a time, over as many connections", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      const answers: (() => void)[] = []
      let most = 0
      server.answer = (_, response) => {
        answers.push(() => send(response, 200, {}))
        most = Math.max(most, server.open.size)
      }
      const all = yield* Effect.fork(
        Effect.forEach(Array.from({ length: 100 }), () => client.get(nodes, "", "n"), {
          concurrency: "unbounded"
        })
      )
      yield* until("32 requests", () => answers.length === 32)
      const pump = Effect.repeat(
        Effect.promise(
          () =>
            new Promise<void>((done) => {
              for (const answer of answers.splice(0)) answer()
              setImmediate(done)
            })
        ),
        { until: () => server.heard.length === 100 && answers.length === 0 }
      )
      yield* pump
      yield* Fiber.join(all)
      expect(most).toBe(32)
      expect(server.connections).toBe(32)
    })
  )

  live("are aborted when they are interrupted", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = () => undefined
      const fiber = yield* Effect.fork(client.get(nodes, "", "n"))
      yield* until("the request", () => server.open.size === 1)
      yield* Fiber.interrupt(fiber)
      yield* until("its end", () => server.open.size === 0)
    })
  )

  live("end where no answer comes, or not the whole of it, while a watch may take its time", () =>
    Effect.gen(function* () {
      const server = yield* fakeServer()
      const client = yield* Effect.flatMap(connect(plainTarget(server.url)), (connection) =>
        api(connection, 200)
      )
      server.answer = () => undefined
      const silent = yield* failing(client.get(nodes, "", "n"))
      expect(silent).toMatchObject({ reason: "Unavailable", code: 0 })
      expect(silent.message).toContain("no answer within 0.2 s")
      server.answer = (_, response) => {
        response.writeHead(200)
        response.write('{"kind":')
      }
      expect(yield* failing(client.get(nodes, "", "n"))).toMatchObject({ reason: "Unavailable", code: 0 })
      server.answer = (_, response) => {
        response.writeHead(200)
        response.flushHeaders()
        setTimeout(() => response.end(`${JSON.stringify({ type: "ADDED", object: 1 })}\n`), 600)
      }
      expect(yield* collected(client)).toHaveLength(1)
      yield* until("their end", () => server.open.size === 0)
    })
  )

  live("fail where a watch ended before it was read", () =>
    Effect.gen(function* () {
      const body = new Readable({ read: () => undefined })
      body.destroy()
      const client = yield* api({
        server: "https://gone",
        open: () => Effect.succeed({ status: 200, headers: {}, body }),
        ask: () => Effect.never,
        way: () => Effect.never,
        doubt: () => Effect.void
      })
      expect(yield* failing(collected(client))).toMatchObject({ reason: "Unavailable", code: 0 })
    })
  )

  live("use one connection one after the other", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      yield* Effect.forEach(Array.from({ length: 20 }), () => client.get(nodes, "", "n"))
      server.answer = (_, response) => send(response, 404, status(404, "NotFound", "no"))
      yield* Effect.forEach(Array.from({ length: 20 }), () => failing(client.get(nodes, "", "n")))
      expect(server.connections).toBe(1)
    })
  )

  live("are counted by verb, kind and code", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      const count = (code: string) =>
        Effect.map(Metric.snapshot, (pairs) => {
          const found = pairs.find(
            ({ metricKey: { name, tags } }) =>
              name === "servicegroup_api_requests_total" &&
              ["remove", "Node", code].every((value) => tags.some((tag) => tag.value === value))
          )
          return found === undefined ? 0 : (found.metricState as unknown as { count: number }).count
        })
      server.answer = (_, response) => send(response, 404, status(404, "NotFound", "no"))
      const before = yield* count("404")
      yield* failing(client.remove(nodes, "", "n", { uid: "u" }))
      expect((yield* count("404")) - before).toBe(1)
    })
  )
})

describe("ApiError", () => {
  const table: readonly (readonly [string, number, unknown, Record<string, string>, FailureReason])[] = [
    ["not found", 404, status(404, "NotFound", "no"), {}, "NotFound"],
    ["a kind that isn't served", 404, "404 page not found", {}, "NotFound"],
    ["already there", 409, status(409, "AlreadyExists", "it is there"), {}, "AlreadyExists"],
    ["someone else's field", 409, status(409, "Conflict", "conflict with x"), {}, "Conflict"],
    ["an old revision", 410, status(410, "Expired", "old"), {}, "Gone"],
    ["no rights", 403, status(403, "Forbidden", "cannot"), {}, "Forbidden"],
    ["no identity", 401, status(401, "Unauthorized", "who?"), {}, "Forbidden"],
    ["a quota", 403, status(403, "Forbidden", "exceeded quota: q"), {}, "Forbidden"],
    [
      "a webhook that denies with 400",
      400,
      status(400, "", 'admission webhook "w.x" denied the request: no'),
      {},
      "Forbidden"
    ],
    [
      "a policy",
      422,
      status(
        422,
        "Invalid",
        "x is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
      ),
      {},
      "Forbidden"
    ],
    ["an invalid object", 422, status(422, "Invalid", "spec.x: bad"), {}, "Invalid"],
    ["a bad request", 400, status(400, "BadRequest", "bad"), {}, "Invalid"],
    ["too large a request", 413, status(413, "RequestEntityTooLarge", "big"), {}, "Invalid"],
    [
      "a schema that doesn't fit",
      500,
      status(
        500,
        "",
        "failed to create typed patch object (ns/n; apps/v1, Kind=Deployment): .spec.foo: field not declared in schema"
      ),
      {},
      "Invalid"
    ],
    [
      "a stored object that does not fit its schema",
      500,
      status(500, "", "failed to create typed live object: .spec: expected map, got &{text}"),
      {},
      "Invalid"
    ],
    [
      "another failure of apply",
      500,
      status(500, "InternalError", "failed to create manager"),
      {},
      "Unavailable"
    ],
    [
      "a webhook that is away",
      500,
      status(500, "InternalError", 'failed calling webhook "w"'),
      {},
      "Unavailable"
    ],
    ["too many requests", 429, "", {}, "Slow"],
    [
      "too many requests, and when",
      429,
      status(429, "TooManyRequests", "slow"),
      { "retry-after": "7" },
      "Slow"
    ],
    ["a server that starts, and when", 503, "", { "retry-after": "3" }, "Slow"],
    ["a server timeout", 500, status(500, "ServerTimeout", "wait", { retryAfterSeconds: 2 }), {}, "Slow"],
    ["a server that is away", 503, "", {}, "Unavailable"],
    ["a gateway", 502, "<html>Bad Gateway</html>", {}, "Unavailable"],
    ["a timeout", 504, status(504, "Timeout", "late"), {}, "Unavailable"],
    ["a redirect", 302, "", { location: "/x" }, "Unavailable"]
  ]

  live("has the reason that the answer means", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      for (const [what, code, body, headers, reason] of table) {
        server.answer = (_, response) => send(response, code, body, headers)
        const error = yield* failing(client.get(nodes, "", "n"))
        expect([what, error.code, error.reason]).toEqual([what, code, reason])
        expect(error.request).toBe("get v1 nodes n")
        expect(error.message).not.toBe("")
      }
    })
  )

  live("R44 carries what the server asks to wait: of header, body and date the longest", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      const wait = (headers: Record<string, string>, details?: unknown) => {
        server.answer = (_, response) => {
          response.sendDate = false
          send(response, 429, status(429, "TooManyRequests", "slow", details), headers)
        }
        return Effect.map(failing(client.get(nodes, "", "n")), (error) => error.retryAfter)
      }
      expect(yield* wait({ "retry-after": "7" })).toBe(7)
      expect(yield* wait({ "retry-after": "7" }, { retryAfterSeconds: 9 })).toBe(9)
      expect(yield* wait({}, { retryAfterSeconds: 9 })).toBe(9)
      const date = "Wed, 21 Oct 2015 07:28:00 GMT"
      expect(yield* wait({ "retry-after": "Wed, 21 Oct 2015 07:29:30 GMT", date })).toBe(90)
      expect(yield* wait({ "retry-after": "soon" })).toBeUndefined()
      expect(yield* wait({ "retry-after": "Wed, 21 Oct 2015 07:00:00 GMT", date })).toBeUndefined()
    })
  )

  live("is Unavailable where nobody answers, and where the answer is no HTTP", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) => response.socket?.end("nonsense\r\n\r\n")
      expect((yield* failing(client.get(nodes, "", "n"))).reason).toBe("Unavailable")
      const nobody = yield* Effect.flatMap(connect(plainTarget("http://127.0.0.1:1")), api)
      const error = yield* failing(nobody.get(nodes, "", "n"))
      expect([error.reason, error.code]).toEqual(["Unavailable", 0])
      expect(error.message).toContain("ECONNREFUSED")
    })
  )

  live("reads no more of a refusal than it needs", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) => {
        response.writeHead(403)
        const more = (): void => {
          if (!response.destroyed) response.write("x".repeat(100_000), () => setImmediate(more))
        }
        more()
      }
      const error = yield* failing(client.get(nodes, "", "n"))
      expect(error.message.length).toBeLessThanOrEqual(4096)
      yield* until("the end of the refusal upstream", () => server.open.size === 0)
    })
  )

  live("is Malformed for a body that is no JSON", () =>
    Effect.gen(function* () {
      const { server, client } = yield* start
      server.answer = (_, response) => send(response, 200, '{"kind":')
      const error = yield* failing(client.get(nodes, "", "n"))
      expect(error.reason).toBe("Malformed")
    })
  )
})

describe("refusal", () => {
  it("names the fields of an invalid object", () => {
    const causes = [
      { reason: "FieldValueInvalid", message: "field is immutable", field: "spec.selector" },
      { reason: "x", message: "no field" }
    ]
    const failure = refusal(422, status(422, "Invalid", "m", { causes }), undefined)
    expect(failure.causes).toEqual([{ field: "spec.selector", message: "field is immutable" }])
  })

  it("finds the field in what apply says about a schema", () => {
    const said = (rest: string) =>
      refusal(
        500,
        status(500, "", `failed to create typed patch object (ns/n; apps/v1, Kind=Deployment): ${rest}`),
        undefined
      )
    expect(said(".spec.foo: field not declared in schema").causes).toEqual([
      { field: "spec.foo", message: "field not declared in schema" }
    ])
    expect(
      said(
        'errors:\n  .spec.template.spec.containers[name="c"].env: duplicate entries for key [name="A"]\n  .x: y'
      ).causes
    ).toEqual([
      {
        field: 'spec.template.spec.containers[name="c"].env',
        message: 'duplicate entries for key [name="A"]'
      }
    ])
  })

  it("P11 is a failure for any body", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 300, max: 599 }),
        fc.oneof(fc.json(), fc.string()),
        fc.anything(),
        (code, text, body) => {
          for (const one of [
            text,
            body,
            {
              kind: "Status",
              reason: body,
              message: body,
              details: { causes: [body], retryAfterSeconds: body }
            }
          ]) {
            const failure = refusal(code, one, undefined)
            expect(failure.code).toBe(code)
            expect(typeof failure.message).toBe("string")
          }
        }
      ),
      { numRuns: 10_000 }
    )
  })
})

describe("wire", () => {
  it("P11 never throws, whatever it reads", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.anything()), fc.string(), (value, text) => {
        page(value)
        identity(value)
        identity({ metadata: value })
        line(text)
        line(JSON.stringify(value) ?? "")
        line(JSON.stringify({ type: "ERROR", object: value }))
      }),
      { numRuns: 10_000 }
    )
  })

  it("P8 asks of the object that a line is about, and no other, whether it is known", () => {
    const text = fc.oneof(fc.constantFrom("a", 'a"', '","uid":"x"', "\\", "7"), fc.string())
    const fields = {
      name: text,
      generateName: text,
      namespace: text,
      uid: text,
      resourceVersion: fc.oneof(fc.nat().map(String), text),
      annotations: fc.dictionary(text, text)
    }
    const metadata = fc
      .tuple(
        fc.record(fields, { requiredKeys: [] }),
        fc.option(fc.shuffledSubarray(Object.keys(fields) as (keyof typeof fields)[]), { nil: undefined })
      )
      .map(([given, order]) =>
        Object.fromEntries(
          (order ?? (Object.keys(fields) as (keyof typeof fields)[])).map((key) => [key, given[key]])
        )
      )
    const type = fc.constantFrom("ADDED", "MODIFIED", "DELETED", "BOOKMARK")
    fc.assert(
      fc.property(type, text, metadata, (of, kind, meta) => {
        const event = JSON.stringify({ type: of, object: { kind, apiVersion: "v1", metadata: meta } })
        const read = line(event)
        const asked: unknown[] = []
        const known = line(event, (about) => asked.push(about) > 0)
        if (known.type !== "KNOWN") {
          expect([asked, known]).toEqual([[], read])
          return
        }
        expect(["ADDED", "MODIFIED"]).toContain(of)
        const who = identity((read as { readonly object: unknown }).object)
        if (isMalformed(who)) throw new Error(`${event} was taken for ${JSON.stringify(asked)}`)
        expect(asked).toEqual([{ key: who.key, uid: who.uid, revision: who.revision }])
        expect(known.revision).toBe(who.revision)
        expect(line(event, () => false)).toEqual(read)
      }),
      { numRuns: 10_000 }
    )
  })

  it("does not read an object again that is known, as the API server writes it", () => {
    const about = (object: object): string => JSON.stringify({ type: "MODIFIED", object })
    const metadata = { name: "web", namespace: "default", uid: "u1", resourceVersion: "7", generation: 1 }
    const child = { kind: "Deployment", apiVersion: "apps/v1", metadata, spec: {} }
    expect(
      line(about(child), ({ key, uid, revision }) => `${key} ${uid} ${revision}` === "default/web u1 7")
    ).toEqual({ type: "KNOWN", revision: "7" })
    expect(line(about(child), ({ revision }) => revision === "6").type).toBe("MODIFIED")
    const { namespace: _, ...cluster } = metadata
    expect(line(about({ ...child, metadata: cluster }), () => true).type).toBe("MODIFIED")
  })

  it("cuts lines as if they came in one piece", () => {
    const text = fc
      .array(fc.constantFrom("a", "ä", "🙂", "\n", "\n\n", "xyz"), { maxLength: 30 })
      .map((all) => all.join(""))
    fc.assert(
      fc.property(text, fc.array(fc.nat(40), { maxLength: 8 }), (whole, cuts) => {
        const bytes = Buffer.from(whole)
        const at = [...cuts.map((n) => n % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b)
        const cut = cutter()
        const got = at.slice(1).flatMap((end, n) => cut(bytes.subarray(at[n], end)).map(String))
        expect(got).toEqual(
          whole
            .split("\n")
            .slice(0, -1)
            .filter((one) => one !== "")
        )
      }),
      { numRuns: 10_000 }
    )
  })

  it("names what is missing in an identity", () => {
    const metadata = { name: "n", uid: "u", resourceVersion: "3" }
    const read = (change: object) => identity({ metadata: { ...metadata, ...change } })
    expect(read({})).toEqual({
      kind: undefined,
      key: "/n",
      namespace: "",
      name: "n",
      uid: "u",
      revision: "3"
    })
    expect(read({ namespace: "ns" })).toMatchObject({ key: "ns/n" })
    expect(read({ uid: null })).toEqual({ _tag: "Malformed", message: "metadata.uid is null" })
    expect(read({ resourceVersion: "0x3" })).toMatchObject({ _tag: "Malformed" })
    expect(read({ name: "" })).toMatchObject({ _tag: "Malformed" })
  })

  it("reads the identity of bytes as that of what they say", () => {
    const metadata = fc.record(
      {
        name: fc.constantFrom("n", "", 'é"', 7, null),
        namespace: fc.constantFrom("ns", "", null, 3),
        uid: fc.constantFrom("u", "", null),
        resourceVersion: fc.constantFrom("7", "x", 7, null),
        managedFields: fc.constantFrom([{ manager: "a" }], null),
        labels: fc.constantFrom({ name: "no" }, null)
      },
      { requiredKeys: [] }
    )
    const object = fc.record(
      { kind: fc.constantFrom("Node", null), metadata, spec: fc.constant({}) },
      { requiredKeys: [] }
    )
    fc.assert(
      fc.property(object, fc.nat(2), (given, turn) => {
        const fields = Object.entries(given)
        const raw = Object.fromEntries([...fields.slice(turn), ...fields.slice(0, turn)])
        const [parsed, ofBytes] = [identity(raw), identity(Buffer.from(JSON.stringify(raw)))]
        // Where it is none, the words differ: bytes know a value of the wrong type as missing.
        if (isMalformed(parsed)) expect(ofBytes).toMatchObject({ _tag: "Malformed" })
        else
          expect(ofBytes).toMatchObject({ ...parsed, kind: isMalformed(ofBytes) ? undefined : ofBytes.kind })
      }),
      { numRuns: 10_000 }
    )
  })
})
