/** What a request is: those that kube-proxy and CoreDNS are known to send, and every way to write one that would be unfiltered. */
import fc from "fast-check"
import { posix } from "node:path"
import { describe, expect, it } from "vitest"
import { type Asked, route } from "../src/core/route.ts"
import { runs } from "./runs.ts"

const KUBE_PROXY = "application/vnd.kubernetes.protobuf, */*"
const NODE = "n1"

const asked = (url: string, more: Partial<Asked> = {}): Asked => ({
  method: "GET",
  url,
  accept: KUBE_PROXY,
  upgrade: false,
  ...more
})

/** In short: where it goes, or the code that it is refused with. */
const short = (of: Asked): string => {
  const found = route(of, NODE)
  switch (found._tag) {
    case "Forwarded":
      return found.ownNode ? "forwarded, own node" : "forwarded"
    case "Refused":
      return String(found.status.code)
    case "Served":
      return `${found.verb._tag} ${found.kind} ${found.apiVersion}`
  }
}

const LABELS =
  "labelSelector=%21service.kubernetes.io%2Fheadless%2C%21service.kubernetes.io%2Fservice-proxy-name"
const WATCH_LIST =
  "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeout=8m49s&timeoutSeconds=529&watch=true"

describe("route", () => {
  it.each([
    // kube-proxy 1.18 to 1.37
    ["/api/v1/nodes/n1", "forwarded, own node"],
    [`/api/v1/services?${LABELS}&limit=500&resourceVersion=0`, "List Service v1"],
    [
      `/api/v1/services?allowWatchBookmarks=true&${LABELS}&resourceVersion=100&timeout=5m24s&timeoutSeconds=324&watch=true`,
      "Watch Service v1"
    ],
    [
      `/apis/discovery.k8s.io/v1beta1/endpointslices?${LABELS}&limit=500&resourceVersion=0`,
      "List EndpointSlice discovery.k8s.io/v1beta1"
    ],
    [`/api/v1/endpoints?${LABELS}&limit=500&resourceVersion=0`, "List Endpoints v1"],
    ["/api/v1/nodes?fieldSelector=metadata.name%3Dn1&limit=500&resourceVersion=0", "List Node v1"],
    [`/api/v1/nodes?fieldSelector=metadata.name%3Dn1&${WATCH_LIST}`, "Watch Node v1"],
    [
      `/api/v1/services?fieldSelector=spec.clusterIP%21%3DNone&labelSelector=%21service-proxy-name&${WATCH_LIST}`,
      "Watch Service v1"
    ],
    [
      `/apis/discovery.k8s.io/v1/endpointslices?labelSelector=%21service.kubernetes.io%2Fheadless&${WATCH_LIST}`,
      "Watch EndpointSlice discovery.k8s.io/v1"
    ],
    [`/apis/networking.k8s.io/v1/servicecidrs?${WATCH_LIST}`, "Watch ServiceCIDR networking.k8s.io/v1"],
    // CoreDNS 1.6 to 1.15
    ["/version", "forwarded"],
    ["/apis/discovery.k8s.io/v1", "forwarded"],
    ["/api/v1/namespaces?limit=500&resourceVersion=0", "List Namespace v1"],
    ["/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded", "forwarded"],
    // R119 R120: what looks alike, other nodes, single objects of what isn't trimmed
    ["/api/v1/servicesfoo", "forwarded"],
    ["/api/v1/endpointsx", "forwarded"],
    ["/api/v1/nodes", "forwarded"],
    ["/api/v1/nodes?fieldSelector=metadata.name%3Dn2", "forwarded"],
    ["/api/v1/nodes/n2", "forwarded"],
    ["/api/v1/nodes/n1/status", "forwarded"],
    ["/api/v1/namespaces/default/services/web", "forwarded"],
    ["/api/v1/namespaces/default/services/web/proxy/endpoints", "forwarded"],
    ["/apis/networking.k8s.io/v1beta1/servicecidrs", "forwarded"],
    // versions that can't be trimmed
    ["/apis/discovery.k8s.io/v1alpha1", "forwarded"],
    ["/apis/discovery.k8s.io/v1alpha1/endpointslices", "404"],
    ["/apis/discovery.k8s.io/v2/namespaces/default/endpointslices/web-1", "404"],
    ["/apis/discovery.k8s.io/v1beta2/watch/endpointslices", "404"],
    // R118: every read of these two
    ["/api/v1/namespaces/default/endpoints", "List Endpoints v1"],
    ["/api/v1/namespaces/default/endpoints/web", "Get Endpoints v1"],
    [
      "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/web-1",
      "Get EndpointSlice discovery.k8s.io/v1"
    ],
    ["/api/v1/watch/endpoints", "Watch Endpoints v1"],
    ["/api/v1/watch/namespaces/default/endpoints/web", "Watch Endpoints v1"]
  ])("R119 R120 R121 knows %s", (url, wanted) => {
    expect(short(asked(url))).toBe(wanted)
  })

  it("P9 never forwards a read of Endpoints or slices, however it is written", () => {
    const target = fc.constantFrom(
      "/api/v1/endpoints",
      "/api/v1/namespaces/default/endpoints",
      "/api/v1/namespaces/default/endpoints/web",
      "/api/v1/watch/endpoints",
      "/apis/discovery.k8s.io/v1/endpointslices",
      "/apis/discovery.k8s.io/v1beta1/namespaces/ns/endpointslices/web-1",
      "/apis/discovery.k8s.io/v1/watch/namespaces/ns/endpointslices",
      "/apis/discovery.k8s.io/v1alpha1/endpointslices"
    )
    const query = fc.constantFrom(
      "",
      "?watch=true",
      "?watch",
      "?watch=0",
      "?limit=5&limit=6",
      "?pretty=%zz",
      "?labelSelector=a%20in%20(b)"
    )
    fc.assert(
      fc.property(
        target,
        query,
        fc.array(fc.nat(9), { maxLength: 12 }),
        fc.constantFrom("GET", "HEAD"),
        (path, search, whims, method) => {
          const answer = route(asked(disguised(path, whims) + search, { method }), NODE)
          expect(answer._tag).not.toBe("Forwarded")
        }
      ),
      runs(10_000)
    )
  })

  it("P9 never forwards a path, of any parts in any order, that could be read as one of Endpoints or slices", () => {
    const parts =
      "endpoints endpoints endpointslices endpointslices namespaces default web watch services proxy"
    const odd = ".. . Endpoints endpointsx %2e%2e %65ndpoints %2F %2565ndpoints %zz api/v1"
    const part = fc.constantFrom("", ...`${parts} ${odd}`.split(" "))
    const root = fc.constantFrom(
      ..."/api/v1/ /api/v1/ /apis/discovery.k8s.io/v1/ /apis/discovery.k8s.io/v1beta1/".split(" "),
      ..."//api/./v1// /x/../%61pi/v1/ / /api/".split(" ")
    )
    let read = 0
    fc.assert(
      fc.property(
        root,
        fc.array(part, { maxLength: 6 }),
        fc.constantFrom("GET", "HEAD"),
        (at, steps, method) => {
          const path = at + steps.join("/")
          const found = route(asked(path, { method }), NODE)
          if (!mayRead(path)) return
          read += 1
          expect([path, found._tag]).not.toEqual([path, "Forwarded"])
        }
      ),
      runs(10_000)
    )
    expect(read).toBeGreaterThan(0)
  })

  it("R131 answers plain JSON where the Accept allows it, and forwards tables of other kinds", () => {
    const slices = (accept: string | undefined) =>
      short(asked("/apis/discovery.k8s.io/v1/endpointslices", { accept }))
    const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
    expect(
      [undefined, "", "*/*", "application/*", "application/json", `${TABLE},application/json`].map(slices)
    ).toEqual(Array.from({ length: 6 }, () => "List EndpointSlice discovery.k8s.io/v1"))
    expect([TABLE, "text/html", "application/vnd.kubernetes.protobuf"].map(slices)).toEqual([
      "406",
      "406",
      "406"
    ])
    const services = (accept: string) => short(asked("/api/v1/services", { accept }))
    expect([`${TABLE},application/json`, "application/vnd.kubernetes.protobuf"].map(services)).toEqual([
      "forwarded",
      "forwarded"
    ])
  })

  it("refuses what would change the two trimmed kinds, but forwards what makes them", () => {
    const of = (method: string) => short(asked("/api/v1/namespaces/default/endpoints/web", { method }))
    expect(["PUT", "PATCH", "DELETE", "POST"].map(of)).toEqual(["405", "405", "405", "forwarded"])
    expect(short(asked("/api/v1/services", { method: "DELETE" }))).toBe("forwarded")
    expect(short(asked("/api/v1/endpoints?watch=1", { upgrade: true }))).toBe("406")
    expect(short(asked("/api/v1/pods?watch=1", { upgrade: true }))).toBe("forwarded")
  })

  it.each([
    ["watch=true&resourceVersionMatch=NotOlderThan", 422],
    ["watch=true&sendInitialEvents=true", 422],
    ["watch=true&sendInitialEvents=false&resourceVersionMatch=Exact", 422],
    ["sendInitialEvents=true", 422],
    ["resourceVersionMatch=Exact", 422],
    ["resourceVersionMatch=Exact&resourceVersion=0", 422],
    ["resourceVersionMatch=Newest&resourceVersion=5", 422],
    ["continue=abc", 410],
    ["timeoutSeconds=soon&watch=true", 400],
    ["labelSelector=a%20near%20b", 400],
    ["fieldSelector=status.phase%3DRunning", 400]
  ])("R112 refuses ?%s with %d", (search, code) => {
    expect(route(asked(`/apis/discovery.k8s.io/v1/endpointslices?${search}`), NODE)).toMatchObject({
      status: { code }
    })
  })

  it.each([
    ["?watch=true", true],
    ["?watch=1", true],
    ["?watch", true],
    ["?watch=", true],
    ["?watch=yes", true],
    ["?watch=false", false],
    ["?watch=FALSE", false],
    ["?watch=0", false],
    ["?watch=0&watch=1", false],
    ["", false]
  ])("reads %s as Go does", (search, watches) => {
    const found = route(asked(`/api/v1/services${search}`), NODE)
    expect(found._tag === "Served" && found.verb._tag).toBe(watches ? "Watch" : "List")
  })
})

/**
 * Whether a path could be read as one of Endpoints or slices, by a server that cleans paths or by one that doesn't: unescaped once, as
 * Go does, then taken apart as the API server's request info does. What can't be unescaped is refused by every Go server.
 */
const mayRead = (path: string): boolean => {
  let plain: string
  try {
    plain = decodeURIComponent(path)
  } catch {
    return false
  }
  // A server that leaves dots where they are takes them for a name, and nothing is called so.
  const dots = plain.split("/").some((each) => each === "." || each === "..")
  const readings = [posix.normalize(plain), ...(dots ? [] : [plain, plain.replace(/\/+/g, "/")])]
  return readings.some((each) =>
    /^\/*(api\/v1\/(watch\/)?(namespaces\/[^/]+\/)?endpoints|apis\/discovery\.k8s\.io\/(v1|v1beta1)\/(watch\/)?(namespaces\/[^/]+\/)?endpointslices)(\/|$)/.test(
      each
    )
  )
}

/** The same path otherwise written: letters escaped, slashes doubled, dots between, a slash behind. */
const disguised = (path: string, whims: readonly number[]): string => {
  let at = 0
  const whim = (): number => (whims.length === 0 ? 9 : (whims[at++ % whims.length] ?? 9))
  const written = Array.from(path, (letter) => {
    const way = whim()
    if (letter === "/") return ["//", "/./", "/x/../"][way] ?? "/"
    const hex = `%${letter.charCodeAt(0).toString(16)}`
    return [hex, hex.toUpperCase()][way] ?? letter
  }).join("")
  return whim() === 0 ? `${written}/` : written
}
