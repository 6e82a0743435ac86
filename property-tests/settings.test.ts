/** Flags and variables, through the command line that people use. */
import * as Command from "@effect/cli/Command"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { describe, expect } from "vitest"
import { leveled, options, type Settings } from "../src/shell/settings.ts"
import { live } from "./effect.ts"

/** What a command line amounts to: its settings, or what is printed about it. */
const parsed = (flags: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    let settings: Settings | undefined
    let level = ""
    const printed: string[] = []
    const command = Command.make("controller", { settings: options }, (given) =>
      Effect.map(FiberRef.get(FiberRef.currentMinimumLogLevel), ({ _tag }) => {
        settings = given.settings
        level = _tag
      })
    )
    const console = yield* Console.consoleWith(Effect.succeed)
    const note = (...all: readonly unknown[]) => Effect.sync(() => printed.push(all.join(" ")))
    const recording = { ...console, log: note, error: note } as Console.Console
    const outcome = yield* leveled(
      Command.run(command, { name: "servicegroup", version: "0" })(["node", "servicegroup", ...flags])
    ).pipe(
      Effect.provide(NodeContext.layer),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)))),
      Effect.withConsole(recording),
      Effect.either
    )
    const failed = outcome._tag === "Left"
    if (outcome._tag === "Left" && outcome.left._tag === "Misconfigured") printed.push(outcome.left.message)
    // oxlint-disable-next-line no-control-regex
    return { settings, level, failed, printed: printed.join("\n").replaceAll(/\u001b\[\d*m/g, "") }
  })

describe("options", () => {
  live("have defaults", () =>
    Effect.gen(function* () {
      expect((yield* parsed([])).settings).toEqual({
        kubeconfig: "",
        context: "",
        namespace: "",
        unitGrace: 60,
        concurrency: 16,
        relistInterval: 600,
        legacyManager: "application-grid-controller",
        sites: true,
        maxNodesChanged: 0.2,
        healthAddress: { host: undefined, port: 8080, text: ":8080" },
        logFormat: "json"
      })
    })
  )

  live("take the flag before the variable, and the variable before the default", () =>
    Effect.gen(function* () {
      const environment = {
        SERVICEGROUP_UNIT_GRACE: "10m",
        SERVICEGROUP_CONCURRENCY: "3",
        SERVICEGROUP_NAMESPACE: ""
      }
      const { settings } = yield* parsed(["--unit-grace", "5s"], environment)
      expect(settings).toMatchObject({ unitGrace: 5, concurrency: 3, namespace: "" })
    })
  )

  live("read every flag from a variable of its name", () =>
    Effect.gen(function* () {
      const given = {
        KUBECONFIG: "/k",
        CONTEXT: "c",
        NAMESPACE: "shop",
        UNIT_GRACE: "1h30m",
        CONCURRENCY: "32",
        RELIST_INTERVAL: "20s",
        LEGACY_MANAGER: "m",
        SITES: "off",
        MAX_NODES_CHANGED: "5%",
        HEALTH_ADDRESS: "[::1]:0",
        LOG_FORMAT: "text"
      }
      const prefixed = Object.entries(given).map(([name, value]) => [`SERVICEGROUP_${name}`, value])
      expect((yield* parsed([], Object.fromEntries(prefixed) as Record<string, string>)).settings).toEqual({
        kubeconfig: "/k",
        context: "c",
        namespace: "shop",
        unitGrace: 5400,
        concurrency: 32,
        relistInterval: 20,
        legacyManager: "m",
        sites: false,
        maxNodesChanged: 0.05,
        healthAddress: { host: "::1", port: 0, text: "[::1]:0" },
        logFormat: "text"
      })
    })
  )

  live("R200 refuse what can't be used, with the flag, the value and what would be accepted", () =>
    Effect.gen(function* () {
      const table: readonly (readonly [string, string, string])[] = [
        ["unit-grace", "abc", "a duration such as 5s, 10m, 1h30m, 0s"],
        ["unit-grace", "60", "a duration such as"],
        ["unit-grace", "-5s", "a duration such as"],
        ["concurrency", "0", "a number from 1 to 32"],
        ["concurrency", "33", "a number from 1 to 32"],
        ["concurrency", "1e2", "a number from 1 to 32"],
        ["relist-interval", "0s", "from 1s to 24h"],
        ["relist-interval", "600h", "from 1s to 24h"],
        ["namespace", "Shop", "the name of a namespace"],
        ["namespace", "a/b", "the name of a namespace"],
        ["legacy-manager", "a b", "a field manager's name"],
        ["sites", "yes", "on, or off"],
        ["max-nodes-changed", "0.2", "a percentage"],
        ["max-nodes-changed", "101%", "a percentage"],
        ["max-nodes-changed", "-1%", "a percentage"],
        ["health-address", "8080", "host:port, :port, [IPv6]:port, or off"],
        ["health-address", ":65536", "host:port"],
        ["health-address", "::1:8080", "host:port"],
        ["health-address", "[10.0.0.1]:80", "host:port"],
        ["log-format", "xml", "json or text"]
      ]
      for (const [flag, value, accepted] of table) {
        const variable = `SERVICEGROUP_${flag.replaceAll("-", "_").toUpperCase()}`
        for (const { settings, failed, printed } of [
          yield* parsed([`--${flag}=${value}`]),
          yield* parsed([], { [variable]: value })
        ]) {
          expect([flag, value, settings, failed]).toEqual([flag, value, undefined, true])
          const said = printed.replaceAll(/\s+/g, " ")
          expect(said).toContain(`--${flag} (${variable}): "${value}" can't be used; accepted: `)
          expect(said).toContain(accepted)
        }
      }
    })
  )

  live("R200 refuse a flag that there isn't", () =>
    Effect.gen(function* () {
      const { failed, printed } = yield* parsed(["--no-such-flag"])
      expect(failed).toBe(true)
      expect(printed).toContain("--no-such-flag")
    })
  )

  live("turn the health server off", () =>
    Effect.gen(function* () {
      expect((yield* parsed(["--health-address", "off"])).settings?.healthAddress).toBeUndefined()
    })
  )

  live("name themselves, their variables and their defaults in --help", () =>
    Effect.gen(function* () {
      const { printed } = yield* parsed(["--help"])
      for (const word of [
        "--unit-grace",
        "SERVICEGROUP_UNIT_GRACE",
        "default 60s",
        "--kubeconfig",
        "--log-level"
      ]) {
        expect(printed).toContain(word)
      }
    })
  )
})

describe("leveled", () => {
  live("takes the flag before the variable, and info without either", () =>
    Effect.gen(function* () {
      expect((yield* parsed([])).level).toBe("Info")
      expect((yield* parsed([], { SERVICEGROUP_LOG_LEVEL: "debug" })).level).toBe("Debug")
      expect((yield* parsed(["--log-level", "error"], { SERVICEGROUP_LOG_LEVEL: "debug" })).level).toBe(
        "Error"
      )
    })
  )

  live("R200 refuses a level that there isn't", () =>
    Effect.gen(function* () {
      const { failed, printed } = yield* parsed([], { SERVICEGROUP_LOG_LEVEL: "loud" })
      expect(failed).toBe(true)
      expect(printed).toMatch(
        /--log-level \(SERVICEGROUP_LOG_LEVEL\): "loud" can't be used; accepted: all, trace, debug, info/
      )
    })
  )
})
