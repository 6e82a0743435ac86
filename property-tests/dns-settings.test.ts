/** The DNS daemon's flags and variables, through the command line that people use. */
import * as Command from "@effect/cli/Command"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { describe, expect } from "vitest"
import { type DnsOptions, dnsOptions } from "../src/shell/dns-settings.ts"
import { live } from "./effect.ts"

const parsed = (flags: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    let settings: DnsOptions | undefined
    const printed: string[] = []
    const command = Command.make("dns", { settings: dnsOptions }, (given) =>
      Effect.sync(() => void (settings = given.settings))
    )
    const console = yield* Console.consoleWith(Effect.succeed)
    const note = (...all: readonly unknown[]) => Effect.sync(() => printed.push(all.join(" ")))
    yield* Command.run(command, { name: "servicegroup", version: "0" })(["node", "dns", ...flags]).pipe(
      Effect.provide(NodeContext.layer),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)))),
      Effect.withConsole({ ...console, log: note, error: note } as Console.Console),
      Effect.ignore
    )
    return { settings, printed: printed.join("\n") }
  })

describe("dnsOptions", () => {
  live("have defaults that go with the manifests", () =>
    Effect.gen(function* () {
      const { settings } = yield* parsed(["--node-name", "bj-1"])
      expect(settings).toEqual({
        access: { kubeconfig: "", context: "" },
        node: "bj-1",
        hostsFile: "/etc/servicegroup/dns/hosts",
        clusterDomain: "cluster.local",
        relistInterval: 600,
        healthAddress: { host: "127.0.0.1", port: 51008, text: "127.0.0.1:51008" },
        logFormat: "json"
      })
    })
  )

  live("read every flag from a variable of its name", () =>
    Effect.gen(function* () {
      const { settings } = yield* parsed([], {
        SERVICEGROUP_NODE_NAME: "gz-1",
        SERVICEGROUP_HOSTS_FILE: "/data/hosts",
        SERVICEGROUP_CLUSTER_DOMAIN: "edge.local",
        SERVICEGROUP_HEALTH_ADDRESS: "off"
      })
      expect(settings).toMatchObject({ node: "gz-1", hostsFile: "/data/hosts", clusterDomain: "edge.local" })
      expect(settings?.healthAddress).toBeUndefined()
    })
  )

  for (const [flag, value] of [
    ["hosts-file", "/etc/servicegroup/dns/"],
    ["cluster-domain", "cluster.local."],
    ["cluster-domain", "Edge.local"],
    ["cluster-domain", "a..b"],
    ["cluster-domain", `${"a".repeat(64)}.local`],
    ["node-name", "Bad_Name"]
  ] as const)
    live(`refuse --${flag} ${value}, and say what is accepted`, () =>
      Effect.gen(function* () {
        const { settings, printed } = yield* parsed(
          ["--node-name", "n1", `--${flag}`, value].slice(flag === "node-name" ? 2 : 0)
        )
        expect(settings).toBeUndefined()
        expect(printed).toContain(`--${flag} (SERVICEGROUP_`)
        expect(printed).toContain(`${JSON.stringify(value)} can't be used; accepted: `)
      })
    )
})
