/** What isn't compared, and why: the whole list. */
import type { Difference } from "./differences.ts"
import { type Ask, isWatching, type Turn } from "./turns.ts"

interface Aside {
  readonly why: string
  readonly when: (difference: Difference, ask: Ask | undefined) => boolean
}

/** The older Kubernetes that the real server stands for; empty for the newest, which the model is of. */
export const VERSION = process.env["SERVICEGROUP_CLUSTER_VERSION"] ?? ""

const isBefore = (minor: number): boolean => VERSION !== "" && Number(VERSION.split(".")[1]) < minor

export const ASIDE: readonly Aside[] = [
  {
    why: "a list of any revision comes from a cache, whose own revision depends on when it last heard of others",
    when: ({ path }, ask) =>
      path === ".body.metadata.resourceVersion" &&
      ask?.query?.["resourceVersion"] !== undefined &&
      ask.query["resourceVersionMatch"] !== "Exact"
  },
  {
    why: "an ExternalName Service's internalTrafficPolicy and clusterIPs are stored otherwise than a hook shows them, and its deletion tells them as they are stored",
    when: ({ path, real, model }) =>
      /(internalTrafficPolicy|object\.spec\.clusterIPs)$/.test(path) &&
      (real === undefined || model === undefined)
  },
  {
    why: "an apply to a custom object answers null where it emptied a field of metadata, which later answers leave out",
    when: ({ path, real, model }) =>
      /\.metadata\.(labels|annotations|finalizers)$/.test(path) && real === null && model === undefined
  },
  {
    why: "who owns the fields of an Event of the newer group is told in core's spelling",
    when: ({ path }, ask) => /\/events(\/|$)/.test(ask?.path ?? "") && path.includes("managedFields")
  },
  {
    why: "before 1.35 a StatefulSet's rolling update has no maxUnavailable",
    when: ({ path, real, model }) =>
      isBefore(35) &&
      (real === undefined
        ? /[uU]pdate(\.f:|\.)maxUnavailable$|f:rollingUpdate\.\.$/.test(path)
        : withoutUnavailable(model) === withoutUnavailable(real))
  },
  {
    why: "before 1.37 an EndpointSlice whose addressType changes is told which one it may not have",
    when: ({ real, model }) => isBefore(37) && withoutType(model) === withoutType(real)
  }
]

/** A message without what it quotes of the field. */
const withoutUnavailable = (message: unknown): string =>
  String(message).replaceAll(/\\?"maxUnavailable\\?":(?:1|null),?/gi, "")

const withoutType = (message: unknown): string =>
  String(message).replaceAll(/Invalid value: (?:null|"\w+"): field is immutable/g, "immutable")

export const isAside = (difference: Difference, turn: Turn): boolean =>
  ASIDE.some(({ when }) => when(difference, isWatching(turn) ? undefined : turn))
