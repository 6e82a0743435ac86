/** The hosts file: one block of ours among the lines of others. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { BEGIN, END, hosts } from "../src/core/hosts.ts"
import type { Name } from "../src/core/names.ts"
import { runs } from "./runs.ts"

const RUNS = runs(10_000)

const host = fc
  .stringMatching(/^[a-z]([-a-z0-9]{0,6}[a-z0-9])?$/)
  .map((name) => `${name}.svc-a.default.svc.cluster.local`)
const address = fc.oneof(fc.ipV4(), fc.constantFrom("fd00::5", "fd00::6"))
const names: fc.Arbitrary<readonly Name[]> = fc
  .uniqueArray(
    fc.record({ name: host, addresses: fc.uniqueArray(address, { minLength: 1, maxLength: 3 }) }),
    {
      selector: ({ name }) => name,
      maxLength: 8
    }
  )
  .map((all) => [...all].sort((a, b) => (a.name < b.name ? -1 : 1)))

/** Lines that others write; none is one of our marks. */
const foreign = fc.constantFrom(
  "10.9.9.9 registry.local reg",
  "# mine",
  "",
  "127.0.0.1\tlocalhost",
  "  ",
  "# END",
  "::1 localhost # svc",
  "\r"
)
const file = fc
  .tuple(fc.array(foreign, { maxLength: 5 }), fc.boolean())
  .map(([lines, closed]) => lines.join("\n") + (closed && lines.length > 0 ? "\n" : ""))

/** What a resolver finds in the block: address -> names. Written as hosts(5) says, without a look at the product. */
const read = (text: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const found = new Map<string, Set<string>>()
  const lines = text.split("\n")
  for (const line of lines.slice(lines.indexOf(BEGIN) + 1, lines.indexOf(END))) {
    const [to = "", ...all] = line.split(" ")
    found.set(to, new Set([...(found.get(to) ?? []), ...all]))
  }
  return found
}

const without = (text: string): string => {
  const from = text.indexOf(BEGIN)
  return text.slice(0, from) + text.slice(text.indexOf(END) + END.length + 1)
}

describe("hosts", () => {
  it("R145 keeps the lines of others to the byte, whatever was in the block before", () => {
    fc.assert(
      fc.property(file, names, names, fc.nat(5), (before, first, second, at) => {
        const once = hosts(before, first)
        expect(without(once)).toBe(before === "" || before.endsWith("\n") ? before : `${before}\n`)
        // someone moves the block up
        const lines = without(once).split("\n")
        const block = once.slice(once.indexOf(BEGIN), once.indexOf(END) + END.length)
        const place = Math.min(at, lines.length - 1)
        const moved = [...lines.slice(0, place), block, ...lines.slice(place)].join("\n")
        const twice = hosts(moved, second)
        expect(without(twice)).toBe(without(moved))
        expect(twice.indexOf(BEGIN)).toBe(moved.indexOf(BEGIN))
      }),
      RUNS
    )
  })

  it("R146 says each address of each name, once, sorted, and the same twice", () => {
    fc.assert(
      fc.property(file, names, (before, all) => {
        const text = hosts(before, all)
        const expected = new Map<string, Set<string>>()
        for (const { name, addresses } of all)
          for (const each of addresses) expected.set(each, new Set([...(expected.get(each) ?? []), name]))
        expect(read(text)).toEqual(expected)
        const block = text
          .split("\n")
          .slice(text.split("\n").indexOf(BEGIN) + 1, text.split("\n").indexOf(END))
        expect(block).toEqual([...block].sort())
        expect(hosts(text, all)).toBe(text)
        expect(text.split(BEGIN)).toHaveLength(2)
      }),
      RUNS
    )
  })

  it("R156 keeps an empty block where the last name goes", () => {
    expect(hosts(hosts("# mine\n", [{ name: "a.b.default.svc.x", addresses: ["10.0.0.1"] }]), [])).toBe(
      `# mine\n${BEGIN}\n${END}\n`
    )
  })

  it("writes no line that is too long for CoreDNS", () => {
    const many = Array.from({ length: 3000 }, (_, i) => ({
      name: `web-${i}.web-svc.default.svc.cluster.local`,
      addresses: ["10.0.0.1"]
    }))
    const text = hosts("", many)
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(4096)
    expect(read(text).get("10.0.0.1")?.size).toBe(3000)
  })

  it.each([
    [
      "whose end was lost",
      `# a\n${BEGIN}\n10.0.0.1 w.s.d.svc.x\n10.0.0.2 w.s.d.svc.x\n9.9.9.9 mine\n# b\n`,
      "# a\n",
      "9.9.9.9 mine\n# b\n"
    ],
    [
      "that another version marked",
      `# a\n# BEGIN servicegroup: as it was\n10.0.0.1 w.s.d.svc.x\n${END}\n# b\n`,
      "# a\n",
      "# b\n"
    ],
    [
      "that is there twice",
      `${BEGIN}\n10.0.0.1 w.s.d.svc.x\n${END}\n# b\n${BEGIN}\n${END}\n# c\n`,
      "",
      "# b\n# c\n"
    ],
    [
      "that begins twice",
      `${BEGIN}\n10.0.0.1 w.s.d.svc.x\n9.9.9.9 mine\n${BEGIN}\n${END}\n`,
      "",
      "9.9.9.9 mine\n"
    ]
  ])("mends a block %s, and loses no line of others", (_, before, head, tail) => {
    expect(hosts(before, [])).toBe(`${head}${BEGIN}\n${END}\n${tail}`)
  })
})
