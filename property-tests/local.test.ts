/** The local endpoint of `default/kubernetes`: which annotations name one, who holds it, and what it is shown as. */
import fc from "fast-check"
import { isIP } from "node:net"
import { describe, expect, it } from "vitest"
import { render } from "../src/core/cut.ts"
import {
  ANY_FAMILY,
  familyOf,
  local,
  LOCAL_ENDPOINT,
  LOCAL_PORT,
  localPorts,
  placing
} from "../src/core/local.ts"
import type { Obj } from "./naive.ts"
import { runs } from "./runs.ts"
import { endpointsOf, objectOf, sliceOf } from "./sliced.ts"

const says = (address: unknown, port: unknown): Obj => ({ [LOCAL_ENDPOINT]: address, [LOCAL_PORT]: port })

describe("local", () => {
  it("R97 takes exactly the addresses that are an IP, however they are written", () => {
    const group = fc.constantFrom("0", "1", "ab", "FFFF", "12345", "g", "", "255", "256", "01")
    const ip = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.array(group, { minLength: 3, maxLength: 5 }).map((all) => all.join(".")),
      fc.array(group, { minLength: 1, maxLength: 9 }).map((all) => all.join(":")),
      fc
        .tuple(fc.array(group, { maxLength: 7 }), fc.constantFrom("1.2.3.4", "1.2.3", "1.2.3.256"))
        .map(([all, last]) => [...all, last].join(":")),
      fc.string({ maxLength: 8 })
    )
    fc.assert(
      fc.property(ip, (address) => {
        const wanted = isIP(address) === 0 ? undefined : { address, port: 51003 }
        expect(local(says(address, "51003"))).toEqual(wanted)
        if (wanted !== undefined) expect(familyOf(address)).toBe(`IPv${isIP(address)}`)
      }),
      runs(10_000)
    )
  })

  it("takes exactly the ports from 1 to 65535 as decimals", () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 70_000 }), (port) => {
        const wanted = port < 1 || port > 65_535 ? undefined : { address: "::1", port }
        expect(local(says("::1", String(port)))).toEqual(wanted)
      }),
      runs(10_000)
    )
    for (const port of ["", "080", "1e3", " 80", "80 ", "0x50", "8.0", 80, null, undefined])
      expect(local(says("127.0.0.1", port))).toBe(undefined)
    for (const annotations of [undefined, null, [], "x", {}, { [LOCAL_ENDPOINT]: "127.0.0.1" }])
      expect(local(annotations)).toBe(undefined)
  })
})

describe("placing", () => {
  it("P9 R97 lets the first object by key hold the address, of those of its family", () => {
    const slices = fc.uniqueArray(
      fc.record({
        key: fc.constantFrom("a", "b", "c", "d"),
        family: fc.constantFrom("IPv4", "IPv6", "FQDN", ANY_FAMILY)
      }),
      { selector: ({ key }) => key, maxLength: 4 }
    )
    fc.assert(
      fc.property(slices, fc.constantFrom("127.0.0.1", "::1"), (all, address) => {
        const family = address === "::1" ? "IPv6" : "IPv4"
        const fit = all.filter((each) => each.family === family || each.family === "").map(({ key }) => key)
        const [held] = fit.toSorted()
        const instead = placing({ address, port: 1 }, all)
        expect(instead?.size).toBe(held === undefined ? undefined : all.length)
        for (const each of all)
          expect(instead?.get(each)).toEqual(
            held === undefined ? undefined : each.key === held ? { address, port: 1 } : "none"
          )
      }),
      runs(10_000)
    )
  })
})

const here = { address: "fd00::1", port: 51003 }
const metadata = { name: "kubernetes", namespace: "default", uid: "u", resourceVersion: "7" }
const stamp = (kind: string, apiVersion: string) => ({ revision: "8", kind, apiVersion })

describe("localPorts", () => {
  it("R104 never gives a port without a protocol, and keeps what the first port says of itself", () => {
    const https = { name: "https", protocol: "TCP", port: 51003 }
    for (const none of [undefined, null, [], [null], ["x"]]) expect(localPorts(here, none)).toEqual([https])
    const first = { name: "api", protocol: "UDP", port: 6443, appProtocol: "x" }
    expect(localPorts(here, [first, { name: "b", port: 1 }])).toEqual([{ ...first, port: 51003 }])
    expect(localPorts(here, [{ name: null, protocol: null, port: 6443 }])).toEqual([https])
  })
})

describe("what is shown instead", () => {
  const ENDPOINTS = [
    { addresses: ["fd00::1"], conditions: { ready: true, serving: true, terminating: false } }
  ]
  const PORTS = [{ name: "https", protocol: "TCP", port: 51003 }]

  it.each<[string, Obj]>([
    ["nothing of both", {}],
    ["null", { endpoints: null, ports: null }],
    ["ports first", { ports: [{ name: "https", port: 6443, protocol: "TCP" }], endpoints: [{}, {}] }],
    ["endpoints first", { endpoints: [{}], ports: [{ name: "https", port: 6443, protocol: "TCP" }] }]
  ])("R97 puts the address into a slice with %s", (_, fields) => {
    const slice = sliceOf({ addressType: "IPv6", ...fields, metadata })
    const render1 = (shown: "none" | typeof here) =>
      objectOf(render({ slice, dropped: [], local: shown }, stamp("EndpointSlice", "discovery.k8s.io/v1")))
    const rest = {
      kind: "EndpointSlice",
      apiVersion: "discovery.k8s.io/v1",
      addressType: "IPv6",
      metadata: { ...metadata, resourceVersion: "8" }
    }
    expect(render1(here)).toEqual({ ...rest, endpoints: ENDPOINTS, ports: PORTS })
    const ports = Object.hasOwn(fields, "ports") && { ports: fields["ports"] }
    expect(render1("none")).toEqual({ ...rest, ...ports, endpoints: [] })
  })

  it.each<[string, Obj]>([
    ["no subsets", {}],
    ["null", { subsets: null }],
    ["two subsets", { subsets: [{ addresses: [{ ip: "1.2.3.4" }] }, { ports: [] }] }]
  ])("R97 puts the address into Endpoints with %s", (_, fields) => {
    const slice = endpointsOf({ ...fields, metadata })
    const shown = objectOf(render({ slice, dropped: [], local: here }, stamp("Endpoints", "v1")))
    expect(shown).toEqual({
      kind: "Endpoints",
      apiVersion: "v1",
      metadata: { ...metadata, resourceVersion: "8" },
      subsets: [{ addresses: [{ ip: "fd00::1" }], ports: PORTS }]
    })
  })
})
