/** What the wrapper says in its own words, read as a client reads it. */
import { describe, expect, it } from "vitest"
import {
  badRequest,
  bookmark,
  expired,
  forbiddenOption,
  LINE_TAIL,
  lineHead,
  LIST_TAIL,
  listHead,
  notFound,
  type Status
} from "../src/core/reply.ts"

const parse = (text: string): unknown => JSON.parse(text) as unknown

describe("a list", () => {
  it("R110 has the kind, the version and the revision before its items", () => {
    const whole = (items: string) => parse(`${listHead("Service", "v1", "1005")}${items}${LIST_TAIL}`)
    const head = { kind: "ServiceList", apiVersion: "v1", metadata: { resourceVersion: "1005" } }
    expect(whole("")).toEqual({ ...head, items: [] })
    expect(whole('{"a":1},{"a":2}')).toEqual({ ...head, items: [{ a: 1 }, { a: 2 }] })
  })
})

describe("a watch", () => {
  it("R131 has one line for each event", () => {
    for (const type of ["ADDED", "MODIFIED", "DELETED", "ERROR"] as const) {
      const line = `${lineHead(type)}{"kind":"Service"}${LINE_TAIL}`
      expect(parse(line)).toEqual({ type, object: { kind: "Service" } })
      expect(line.indexOf("\n")).toBe(line.length - 1)
    }
  })

  it("R115 R116 has bookmarks of the watched kind with a revision alone, and says where the beginning ends", () => {
    const of = (initialEnd: boolean) =>
      bookmark("EndpointSlice", "discovery.k8s.io/v1beta1", "1005", { initialEnd })
    const object = { kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1beta1" }
    expect(parse(of(false))).toEqual({
      type: "BOOKMARK",
      object: { ...object, metadata: { resourceVersion: "1005" } }
    })
    expect(parse(of(true))).toEqual({
      type: "BOOKMARK",
      object: {
        ...object,
        metadata: { resourceVersion: "1005", annotations: { "k8s.io/initial-events-end": "true" } }
      }
    })
    expect(of(true).endsWith("}\n")).toBe(true)
  })
})

describe("a Status", () => {
  const long = "9".repeat(5000)
  it.each<[Status, number, string]>([
    [badRequest("no"), 400, "BadRequest"],
    [notFound("endpoints", "default/web"), 404, "NotFound"],
    [expired("5"), 410, "Expired"],
    [expired(undefined), 410, "Expired"],
    [expired(long), 410, "Expired"],
    [forbiddenOption("sendInitialEvents", "no"), 422, "Invalid"]
  ])("R112 has what client-go asks of one: %j", (status, code, reason) => {
    const { message, ...rest } = status
    expect(rest).toEqual({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason, code })
    expect(message.length).toBeGreaterThan(0)
    // What a client sent is not sent back to it at any length.
    expect(message.length).toBeLessThan(300)
  })

  it("names the object that isn't there without its namespace", () => {
    expect(notFound("endpoints", "default/web").message).toBe('endpoints "web" not found')
  })
})
