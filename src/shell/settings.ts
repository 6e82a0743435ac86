/**
 * What the program is told when it starts: flags, and for each of them an environment variable.
 *
 * *Guarantees*: a flag wins over its variable, that over the default; a value that can't be used is refused with
 * the flag, the value and what would be accepted. Read once.
 * *Assumes*: an empty variable is one that isn't set.
 * *Does not*: read files, or look at the cluster.
 */
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { isIP } from "node:net"
import { hostname } from "node:os"
import { duration } from "../core/duration.ts"

/** The program can't start as it was told to: the message names the flag, the file or the field. Exit code 1. */
export class Misconfigured extends Data.TaggedError("Misconfigured")<{ readonly message: string }> {}

/** Where a server listens; no host: on every address of the machine. */
export interface Address {
  readonly host: string | undefined
  readonly port: number
  /** as it was given, for messages */
  readonly text: string
}

export interface Access {
  /** empty: KUBECONFIG, then ~/.kube/config, then the service account of the pod */
  readonly kubeconfig: string
  /** empty: the kubeconfig's current context */
  readonly context: string
}

/** The Lease by which one of several replicas leads. */
export interface LeaseName {
  readonly namespace: string
  readonly name: string
}

export interface Settings extends Access {
  /** empty: all */
  readonly namespace: string
  /** seconds */
  readonly unitGrace: number
  readonly concurrency: number
  /** seconds */
  readonly relistInterval: number
  readonly legacyManager: string
  /** whether units and groups are looked after */
  readonly sites: boolean
  /** a share of the nodes, 0 to 1 */
  readonly maxNodesChanged: number
  /** undefined: off */
  readonly lease: LeaseName | undefined
  /** undefined: off */
  readonly healthAddress: Address | undefined
  readonly logFormat: "json" | "text"
}

interface Setting<A> {
  readonly flag: string
  readonly says: string
  /** the default, as it would be written */
  readonly otherwise: string
  readonly accepts: string
  readonly read: (text: string) => { readonly value: A } | undefined
}

const variable = (flag: string): string => `SERVICEGROUP_${flag.replaceAll("-", "_").toUpperCase()}`

const fromEnvironment = (name: string): Config.Config<string> =>
  Config.mapOrFail(Config.string(name), (text) =>
    text === "" ? Either.left(ConfigError.MissingData([name], "empty")) : Either.right(text)
  )

export const setting = <A>(o: Setting<A>): Options.Options<A> => {
  const name = variable(o.flag)
  const help = `${o.says} (${o.accepts}; default ${o.otherwise === "" ? "none" : o.otherwise}) [${name}]`
  return Options.text(o.flag).pipe(
    Options.withDescription(help),
    Options.withFallbackConfig(fromEnvironment(name)),
    Options.withDefault(o.otherwise),
    Options.mapEffect((text) => {
      const read = o.read(text)
      if (read !== undefined) return Effect.succeed(read.value)
      const message = `--${o.flag} (${name}): ${JSON.stringify(text)} can't be used; accepted: ${o.accepts}`
      return Effect.fail(ValidationError.invalidValue(HelpDoc.p(message)))
    })
  )
}

export const aText = (text: string): { readonly value: string } => ({ value: text })

export const aDuration =
  (least: number, most: number) =>
  (text: string): { readonly value: number } | undefined => {
    const value = duration(text)
    return value !== undefined && value >= least && value <= most ? { value } : undefined
  }

/** Seconds; timers of more than 24 days never ring. */
export const DAY_S = 86_400

const aCount = (text: string): { readonly value: number } | undefined => {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return value >= 1 && value <= 32 ? { value } : undefined
}

const aNamespace = (text: string): { readonly value: string } | undefined =>
  text === "" || (/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(text) && text.length <= 63)
    ? { value: text }
    : undefined

const aManager = (text: string): { readonly value: string } | undefined =>
  /^[\x21-\x7e]{1,128}$/.test(text) ? { value: text } : undefined

export const anAddress = (text: string): { readonly value: Address | undefined } | undefined => {
  if (text === "off") return { value: undefined }
  const [, v6, name, digits = ""] = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? []
  const port = digits === "" ? -1 : Number(digits)
  if (port < 0 || port > 65535) return undefined
  if (v6 !== undefined) return isIP(v6) === 6 ? { value: { host: v6, port, text } } : undefined
  return /^[-.a-zA-Z0-9]*$/.test(name ?? "")
    ? { value: { host: name === "" ? undefined : name, port, text } }
    : undefined
}

const aLease = (text: string): { readonly value: LeaseName | undefined } | undefined => {
  if (text === "off") return { value: undefined }
  const [, namespace, name] = /^([a-z0-9][-a-z0-9]*)\/([a-z0-9][-.a-z0-9]*)$/.exec(text) ?? []
  return namespace === undefined || name === undefined ? undefined : { value: { namespace, name } }
}

const aFormat = (text: string): { readonly value: "json" | "text" } | undefined =>
  text === "json" || text === "text" ? { value: text } : undefined

export const someDurations = "a duration such as 5s, 10m, 1h30m"

const kubeconfig = setting({
  flag: "kubeconfig",
  says: "the file that says how to reach the cluster; without it KUBECONFIG, ~/.kube/config or the pod's own account",
  otherwise: "",
  accepts: "a path",
  read: aText
})

const context = setting({
  flag: "context",
  says: "the context of the kubeconfig",
  otherwise: "",
  accepts: "a name in it",
  read: aText
})

const namespace = setting({
  flag: "namespace",
  says: "look after the grids of one namespace only",
  otherwise: "",
  accepts: "the name of a namespace; without it all of them",
  read: aNamespace
})

export const unitGrace = setting({
  flag: "unit-grace",
  says: "how long a unit that lost its last node keeps its workload",
  otherwise: "60s",
  accepts: `${someDurations}, 0s`,
  read: aDuration(0, Number.POSITIVE_INFINITY)
})

const concurrency = setting({
  flag: "concurrency",
  says: "how many writes of children, grids, nodes and statuses are under way at most",
  otherwise: "16",
  accepts: "a number from 1 to 32",
  read: aCount
})

export const relistInterval = setting({
  flag: "relist-interval",
  says: "how often everything is listed again, in case that a watch has lost an event",
  otherwise: "10m",
  accepts: `${someDurations}, from 1s to 24h`,
  read: aDuration(1, DAY_S)
})

export const legacyManager = setting({
  flag: "legacy-manager",
  says: "the field manager under which SuperEdge wrote the children that are taken over",
  otherwise: "application-grid-controller",
  accepts: "a field manager's name",
  read: aManager
})

export const aSwitch = (text: string): { readonly value: boolean } | undefined =>
  text === "on" || text === "off" ? { value: text === "on" } : undefined

const aShare = (text: string): { readonly value: number } | undefined => {
  const [, digits] = /^(\d{1,3})%$/.exec(text) ?? []
  const percent = Number(digits ?? Number.NaN)
  return percent <= 100 ? { value: percent / 100 } : undefined
}

const sites = setting({
  flag: "sites",
  says: "look after NodeUnits and NodeGroups, and what nodes carry because of them",
  otherwise: "on",
  accepts: "on, or off where nodes are labelled by hand",
  read: aSwitch
})

/** How many nodes may leave their units at once. */
export const maxNodesChanged = setting({
  flag: "max-nodes-changed",
  says: "the share of nodes that an edit may take out of their units at once, though at least one; what is more waits until it is confirmed",
  otherwise: "20%",
  accepts: "a percentage from 0% to 100%",
  read: aShare
})

const lease = setting({
  flag: "lease",
  says: "the Lease by which one of several replicas leads, while the others stand by",
  otherwise: "off",
  accepts: "namespace/name, or off where there is one replica",
  read: aLease
})

const healthAddress = setting({
  flag: "health-address",
  says: "where /livez, /readyz and /metrics are served",
  otherwise: ":8080",
  accepts: "host:port, :port, [IPv6]:port, or off",
  read: anAddress
})

export const logFormat = setting({
  flag: "log-format",
  says: "how the log is written, on standard error",
  otherwise: "json",
  accepts: "json or text",
  read: aFormat
})

/** `--kubeconfig` and `--context`, for commands that only look at a cluster. */
export const access: Options.Options<Access> = Options.all({ kubeconfig, context })

/** Every flag of the controller. `--log-level` is every command's own: see `leveled`. */
export const options: Options.Options<Settings> = Options.all({
  kubeconfig,
  context,
  namespace,
  unitGrace,
  concurrency,
  relistInterval,
  legacyManager,
  sites,
  maxNodesChanged,
  lease,
  healthAddress,
  logFormat
})

/** Writes the log in the given format. */
export const logs = (format: "json" | "text"): Layer.Layer<never> =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.withConsoleError(format === "json" ? Logger.jsonLogger : Logger.logfmtLogger)
  )

const levels = LogLevel.allLevels.map((level) => level._tag.toLowerCase())

/**
 * Runs a program at the log level of SERVICEGROUP_LOG_LEVEL. To be put around the whole command line: its flag
 * `--log-level` is handled inside, and wins.
 */
export const leveled = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E | Misconfigured, R> =>
  Effect.gen(function* () {
    const name = variable("log-level")
    const text = yield* Effect.orElseSucceed(fromEnvironment(name), () => "info")
    const level = LogLevel.allLevels.find(({ _tag }) => _tag.toLowerCase() === text.toLowerCase())
    if (level === undefined) {
      const message = `--log-level (${name}): ${JSON.stringify(text)} can't be used; accepted: ${levels.join(", ")}`
      return yield* new Misconfigured({ message })
    }
    return yield* Logger.withMinimumLogLevel(program, level)
  })

const aNode = (text: string): { readonly value: string } | undefined => {
  const value = text === "" ? hostname().toLowerCase() : text
  return value.length <= 253 && /^[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?$/.test(value) ? { value } : undefined
}

/** The node that a process on it looks after. */
export const nodeName = (says: string): Options.Options<string> =>
  setting({
    flag: "node-name",
    says,
    otherwise: "",
    accepts: "the name of a Node; without it the machine's host name",
    read: aNode
  })

const aDomain = (text: string): { readonly value: string } | undefined =>
  text.length <= 200 && /^(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\.(?!$)|$))+$/.test(text)
    ? { value: text }
    : undefined

/** Where names of Services end. */
export const clusterDomain = setting({
  flag: "cluster-domain",
  says: "the domain in which the cluster's Services are named",
  otherwise: "cluster.local",
  accepts: "a DNS domain in lower case, without a dot at its end",
  read: aDomain
})
