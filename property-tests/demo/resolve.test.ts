import { describe, expect, it } from "vitest"
import { WEB } from "../../src/commands/demo/expected.ts"
import { plain } from "../../src/commands/demo/paint.ts"
import { answersOf, missingNames, resolving } from "../../src/commands/demo/resolve.ts"
import { changed, theEnd } from "./scenes.ts"

/** The end, where one of two nodes has another answer for a name. */
const answering = (host: string, addresses: readonly string[]) => {
  const got = new Map(theEnd.names[0]?.got as ReadonlyMap<string, readonly string[]>)
  got.set(host, addresses)
  return changed(theEnd, "names.0.got", got)
}

describe("missingNames", () => {
  it("misses nothing where each place has its own pods", () => {
    expect(missingNames(theEnd, theEnd, WEB)).toEqual([])
  })

  it("names a short name that leads to another place", () => {
    expect(missingNames(answering("web-0", ["10.244.1.2"]), theEnd, WEB)).toEqual([
      "web-0.web-svc is 10.244.1.2 on bj-1; it should be 10.244.1.0"
    ])
  })

  it("names a short name that leads to both", () => {
    expect(missingNames(answering("web-1", ["10.244.1.1", "10.244.1.3"]), theEnd, WEB)).toEqual([
      "web-1.web-svc is 10.244.1.1, 10.244.1.3 on bj-1; it should be 10.244.1.1"
    ])
  })

  it("names a full name that is gone", () => {
    expect(missingNames(changed(theEnd, "names.1.got", new Map()), theEnd, WEB)).toContain(
      "web-beijing-0.web-svc is nothing on gz-1; it should be 10.244.1.0"
    )
  })

  it("says why a node doesn't answer, and which pod the cluster has not", () => {
    expect(missingNames(changed(theEnd, "names.0.got", "no answer: 503"), theEnd, WEB)).toEqual([
      "CoreDNS on bj-1: no answer: 503"
    ])
    const truth = changed(theEnd, "slices.1.endpoints.3", undefined)
    expect(missingNames(theEnd, truth, WEB)).toContain(
      "the slices of web-svc hold no ready pod web-guangzhou-1"
    )
  })
})

describe("answersOf", () => {
  it("makes a name of each ready endpoint that has a host name, whatever slice it is in", () => {
    const slice = (service: string, endpoints: readonly object[]) => ({
      metadata: { name: "x", labels: { "kubernetes.io/service-name": service } },
      endpoints: endpoints as []
    })
    const slices = [
      slice("web-svc", [
        { addresses: ["10.0.0.2"], hostname: "a" },
        { addresses: ["10.0.0.9"], hostname: "b", conditions: { ready: false } },
        { addresses: ["10.0.0.8"] }
      ]),
      slice("web-svc", [{ addresses: ["10.0.0.1"], hostname: "a", conditions: { ready: true } }]),
      slice("other", [{ addresses: ["10.0.0.7"], hostname: "a" }])
    ]
    expect(answersOf(slices, "web-svc")).toEqual(new Map([["a", ["10.0.0.1", "10.0.0.2"]]]))
  })
})

describe("resolving", () => {
  it("has a line for each name and a column for each node", () => {
    expect(resolving(theEnd, WEB, 100, plain)).toEqual([
      "NAME                     ON bj-1 (beijing)           ON gz-1 (guangzhou)",
      "web-0.web-svc            10.244.1.0 web-beijing-0    10.244.1.2 web-guangzhou-0",
      "web-1.web-svc            10.244.1.1 web-beijing-1    10.244.1.3 web-guangzhou-1",
      "web-beijing-0.web-svc    10.244.1.0 web-beijing-0    10.244.1.0 web-beijing-0",
      "web-guangzhou-0.web-svc  10.244.1.2 web-guangzhou-0  10.244.1.2 web-guangzhou-0",
      "Each name ends in .default.svc.cluster.local."
    ])
  })

  it("says that there is no such name, and why a node doesn't answer", () => {
    const scene = changed(changed(theEnd, "names.0.got", new Map()), "names.1.got", "no answer: 503")
    expect(resolving(scene, WEB, 100, plain)[1]).toMatch(/^web-0\.web-svc +no such name +no answer: 503$/)
  })
})
