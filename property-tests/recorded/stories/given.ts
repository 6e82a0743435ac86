/** Paths, objects and calls that the stories share. */
import type { Answer, Call } from "../exchange.ts"

export interface Teller {
  /** sends, and records the exchange; `trimmed` leaves out of the recorded answer what no reader needs */
  readonly send: (call: Call, shows?: string, trimmed?: (body: unknown) => unknown) => Promise<Answer>
  /** sends without recording */
  readonly aside: (call: Call) => Promise<Answer>
}

export interface Story {
  readonly name: string
  readonly shows: string
  readonly run: (teller: Teller) => Promise<void>
}

export const core = (plural: string, name?: string): string => place("/api/v1", plural, name)
export const apps = (plural: string, name?: string): string => place("/apis/apps/v1", plural, name)
export const grids = (plural: string, name?: string): string => place("/apis/superedge.io/v1", plural, name)

const place = (group: string, plural: string, name: string | undefined): string =>
  `${group}/namespaces/recorded/${plural}${name === undefined ? "" : `/${name}`}`

export const get = (path: string, query?: Readonly<Record<string, string>>): Call => ({
  method: "GET",
  path,
  ...(query === undefined ? {} : { query })
})

export const post = (path: string, body: unknown, query?: Readonly<Record<string, string>>): Call => ({
  method: "POST",
  path,
  body,
  ...(query === undefined ? {} : { query })
})

export const put = (path: string, body: unknown): Call => ({ method: "PUT", path, body })

export const remove = (path: string, body?: unknown): Call => ({
  method: "DELETE",
  path,
  ...(body === undefined ? {} : { body })
})

export const merge = (path: string, body: unknown, fieldManager = "hand"): Call => ({
  method: "PATCH",
  path,
  query: { fieldManager },
  contentType: "application/merge-patch+json",
  body
})

export const strategic = (path: string, body: unknown, fieldManager = "hand"): Call => ({
  ...merge(path, body, fieldManager),
  contentType: "application/strategic-merge-patch+json"
})

/** Server-side apply as `fieldManager`, without force unless `query` says so. */
export const apply = (
  path: string,
  fieldManager: string,
  body: unknown,
  query: Readonly<Record<string, string>> = {}
): Call => ({
  method: "PATCH",
  path,
  query: { fieldManager, ...query },
  contentType: "application/apply-patch+yaml",
  body
})

export const force = { force: "true" }

type Fields = Readonly<Record<string, unknown>>

export const configMap = (name: string, data: Fields, metadata: Fields = {}): Fields => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data
})

/** A Deployment with one container `main`; `container`, `pod` and `spec` add to or replace its fields. */
export const deployment = (
  name: string,
  more: {
    readonly metadata?: Fields
    readonly spec?: Fields
    readonly pod?: Fields
    readonly container?: Fields
  } = {}
): Fields => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, ...more.metadata },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "main", image: "app:1", ...more.container }], ...more.pod }
    },
    ...more.spec
  }
})

export const statefulSet = (name: string, spec: Fields = {}): Fields => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name },
  spec: {
    serviceName: "set",
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: "main", image: "app:1" }] }
    },
    ...spec
  }
})

export const service = (name: string, spec: Fields): Fields => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec
})

interface Meta {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly continue?: string }
}

export const uidOf = (answer: Answer): string => (answer.body as Meta).metadata.uid
export const versionOf = (answer: Answer): string => (answer.body as Meta).metadata.resourceVersion
export const continueOf = (answer: Answer): string => (answer.body as Meta).metadata.continue ?? ""

/** The answered object with some of its top level replaced, to be put back. */
export const changed = (answer: Answer, change: Fields): Fields => ({ ...(answer.body as Fields), ...change })
export const metaOf = (answer: Answer): Fields => (answer.body as { readonly metadata: Fields }).metadata
export const specOf = (answer: Answer): Fields => (answer.body as { readonly spec: Fields }).spec
