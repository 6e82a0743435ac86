/**
 * What explanations are made from: objects of a cluster, or of the snapshot that a node's wrapper keeps. It is only ever read.
 */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import type { EndpointSlice } from "../core/endpoints.ts"
import { isObject } from "../core/json.ts"
import type { KubeObject } from "../core/kube.ts"
import { SERVICE_NAME } from "../core/topology.ts"
import type { Api, ApiError } from "../shell/api.ts"
import { disk } from "../shell/disk.ts"
import { look } from "../shell/keep.ts"
import { slicesIn } from "../shell/kinds.ts"
import { listed } from "../shell/listed.ts"
import { Misconfigured } from "../shell/settings.ts"

export const snapshot = Options.text("snapshot").pipe(
  Options.withDescription("ask no cluster: the folder in which this node's wrapper keeps what it saw last"),
  Options.optional
)

export const output = Options.choice("output", ["text", "json"]).pipe(
  Options.withAlias("o"),
  Options.withDefault("text")
)

/** The slices of a Service. */
export const slicesOf = (service: {
  readonly namespace: string
  readonly name: string
}): Effect.Effect<readonly EndpointSlice[], ApiError, Api> => {
  const { namespace, name } = service
  const where = { namespace, labelSelector: `${SERVICE_NAME}=${name}` }
  return listed(slicesIn("v1"), where).pipe(
    // clusters before 1.21
    Effect.catchIf(
      (error) => error.reason === "NotFound",
      () => listed(slicesIn("v1beta1"), where)
    ),
    Effect.map((slices) => slices as readonly EndpointSlice[])
  )
}

/** What a wrapper kept, and of which node it is. */
interface Kept {
  readonly node: string
  /** whether anything was kept of a feed */
  readonly has: (feed: string) => boolean
  readonly of: <A extends KubeObject>(feed: string) => readonly A[]
}

/** The snapshot in a folder. */
export const kept = (folder: string): Effect.Effect<Kept, Misconfigured> =>
  look(disk, folder).pipe(
    Effect.mapError(
      ({ message }) =>
        new Misconfigured({
          message: `${message}; --snapshot takes the folder that the wrapper of this node was given, /var/lib/servicegroup unless told otherwise`
        })
    ),
    Effect.map(({ node, parts }) => {
      const partsOf = (feed: string) => parts.filter((part) => part.kind.split("/")[0] === feed)
      return {
        node,
        has: (feed) => partsOf(feed).length > 0,
        of: <A extends KubeObject>(feed: string) =>
          partsOf(feed)
            .flatMap(({ objects }) => objects.flatMap((bytes) => object(bytes)))
            .map((each) => each as A)
      }
    })
  )

/** An object of a snapshot; none where it can't be read: the wrapper leaves it out, too. */
const object = (bytes: Uint8Array): readonly KubeObject[] => {
  try {
    const read: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"))
    return isObject(read) && isObject(read["metadata"]) ? [read as unknown as KubeObject] : []
  } catch {
    return []
  }
}

/** That the snapshot of another node is asked. */
export const foreign = (node: string, folder: string, own: string): Misconfigured =>
  new Misconfigured({
    message: `--node ${node}: the snapshot in ${folder} is of ${own}; leave --node out, or ask the cluster`
  })
