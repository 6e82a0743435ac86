/** Which headers go on to the next connection, and what some of them say. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { framing, hosted, identified, impersonating, onward, pairs, without } from "../src/core/hop.ts"
import { cased, endToEnd, someHeaders } from "./exchanges.ts"

const runs = { numRuns: 10_000 }

describe("onward", () => {
  it("keeps what goes all the way, in order, case and repetition, and nothing else", () => {
    fc.assert(
      fc.property(someHeaders, (headers) => {
        expect(onward(headers.flat())).toEqual(endToEnd(headers))
      }),
      runs
    )
  })

  it("takes away whatever a Connection header names, but for the length", () => {
    const name = fc.constantFrom("x-a", "x-b", "authorization", "content-length", "host")
    fc.assert(
      fc.property(name.chain(cased), name, fc.boolean(), (named, present, behind) => {
        const connection = ["Connection", `close , ${named},`]
        const raw = behind ? [present, "1", ...connection] : [...connection, present, "1"]
        const stays = named.toLowerCase() !== present || present === "content-length"
        expect(onward(raw)).toEqual(stays ? [present, "1"] : [])
      }),
      runs
    )
  })
})

describe("hosted", () => {
  it("puts the host where the client's was, else first", () => {
    expect(hosted(["a", "host", "hOst", "x", "b", "y"], "new")).toEqual([
      "a",
      "host",
      "hOst",
      "new",
      "b",
      "y"
    ])
    expect(hosted(["a", "1"], "new")).toEqual(["Host", "new", "a", "1"])
  })
})

describe("framing", () => {
  it("knows chunks in any case, and calls every other coding unknown", () => {
    const of = (...codings: readonly string[]) =>
      framing(codings.flatMap((one) => ["Transfer-Encoding", one]))
    expect([of(), of("chunked"), of(" CHUNKED ")]).toEqual(["Plain", "Chunked", "Chunked"])
    const unknown = ["gzip", "gzip, chunked", "chunked, chunked", "chunked;x", "identity"]
    for (const coding of unknown) expect(of(coding)).toBe("Unknown")
    expect(of("gzip", "chunked")).toBe("Unknown")
  })
})

describe("impersonating", () => {
  it("names the first header, as it was written, in any case", () => {
    fc.assert(
      fc.property(someHeaders, cased("impersonate-extra-x"), (headers, name) => {
        expect(impersonating(headers.flat())).toBeUndefined()
        expect(impersonating([...headers.flat(), name, "", "Impersonate-User", "u"])).toBe(name)
      }),
      runs
    )
  })

  it("reads names, never values", () => {
    expect(impersonating(["x", "Impersonate-User"])).toBeUndefined()
  })
})

describe("identified", () => {
  it("sees Authorization in any case, empty too", () => {
    fc.assert(
      fc.property(cased("authorization"), fc.constantFrom("", "Bearer t"), (name, value) => {
        expect(identified(["a", "authorization", name, value])).toBe(true)
      }),
      runs
    )
  })

  it("sees a token among the protocols of a web socket", () => {
    const token = "base64url.bearer.authorization.k8s.io.dG9r"
    expect(identified(["sec-websocket-protocol", `v4.channel.k8s.io, ${token}`])).toBe(true)
    expect(identified(["Sec-WebSocket-Protocol", "v4.channel.k8s.io"])).toBe(false)
    expect(identified(["x", token])).toBe(false)
  })
})

describe("without", () => {
  it("leaves all others", () => {
    expect(without(["Trailer", "a", "b", "trailer", "TRAILER", "c"], "trailer")).toEqual(["b", "trailer"])
  })
})

describe("pairs", () => {
  it("puts name and value together", () => {
    expect(pairs(["a", "1", "a", "2"])).toEqual([
      ["a", "1"],
      ["a", "2"]
    ])
  })
})
