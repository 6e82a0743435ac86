/** Generators of lists, pages and watches. */
import fc from "fast-check"
import { fields, sometimes } from "./fields.ts"
import type { Kind } from "./kind.ts"
import type { Turn } from "./turns.ts"

type Query = Readonly<Record<string, string>>

/** How metadata is asked for: of a list or of one object, rightly or not. */
const FORMS = ["PartialObjectMetadataList", "PartialObjectMetadata"].map(
  (form) => `application/json;as=${form};g=meta.k8s.io;v=v1`
)
const [LIST_FORM = "", ONE_FORM = ""] = FORMS

const LABELS = ["a=1", "a", "a in (1,2)", "a notin (2)", "!b", "b!=2", "a==1,b", "a in 1", "a=", "a>0"]

/** Those that the object made at the end fulfils. */
const WATCHED = ["a=1", "a", "a in (1,2)", "!b", "b!=2"]

export const lists = (kind: Kind): fc.Arbitrary<Turn> => {
  const key = `${kind.kind}/${(kind.names[0] ?? "").replace("<ns>-", "")}`
  const revision = fc.constantFrom<Query>(
    ...Array.from({ length: 6 }, () => ({})),
    { resourceVersion: `<rv ${key}>`, resourceVersionMatch: "Exact" },
    { resourceVersion: `<first ${key}>`, resourceVersionMatch: "Exact" },
    { resourceVersion: "<start>", resourceVersionMatch: "Exact" },
    { resourceVersion: `<rv ${key}>` },
    { resourceVersion: `<rv ${key}>`, resourceVersionMatch: "NotOlderThan" },
    { resourceVersion: "0", resourceVersionMatch: "Exact" },
    { resourceVersionMatch: "Exact" },
    { resourceVersion: "x" },
    { resourceVersion: "<start>", resourceVersionMatch: "Sideways" },
    { sendInitialEvents: "true", resourceVersionMatch: "Sideways" }
  )
  const selectors = fields({
    labelSelector: sometimes(fc.constantFrom(...LABELS)),
    fieldSelector: sometimes(fc.constantFrom(...fieldSelectors(kind)), 4)
  })
  const plain = fc
    .tuple(
      fc.tuple(selectors, revision, fields({ limit: sometimes(fc.constantFrom("1", "2")) })),
      fields({ accept: sometimes(fc.constantFrom(LIST_FORM, LIST_FORM, ONE_FORM), 5) })
    )
    .map(([parts, form]): Turn => ({
      method: "GET",
      path: kind.collection,
      query: Object.assign({}, ...parts) as Query,
      ...form
    }))
  const next = fc
    .constantFrom<Query>({ limit: "1" }, {}, { limit: "1", resourceVersion: "<start>" })
    .map((more): Turn => {
      const query = { ...more, continue: `<token ${kind.kind}List>` }
      return { method: "GET", path: kind.collection, query }
    })
  const everywhere = fc.constant<Turn>({
    method: "GET",
    path: kind.everywhere,
    query: { fieldSelector: "metadata.namespace=<ns>" }
  })
  return fc.oneof(
    { weight: 6, arbitrary: plain },
    { weight: 4, arbitrary: next },
    { weight: 1, arbitrary: everywhere }
  )
}

/** One object's metadata, asked for rightly or as that of a list. */
export const inForm = (path: string): fc.Arbitrary<Turn> =>
  fc.constantFrom(ONE_FORM, ONE_FORM, LIST_FORM).map((accept) => ({ method: "GET", path, accept }))

const fieldSelectors = (kind: Kind): readonly string[] => [
  `metadata.name=${kind.names[0] ?? ""}`,
  `metadata.name!=${kind.names[0] ?? ""}`,
  "spec.nothing=1",
  "what",
  ...kind.fieldSelectors
]

export const watching = (kind: Kind): fc.Arbitrary<Turn> => {
  const key = `${kind.kind}/${(kind.names[0] ?? "").replace("<ns>-", "")}`
  const from = fc.constantFrom<Query>(
    { resourceVersion: "<start>" },
    { resourceVersion: `<rv ${key}>` },
    { resourceVersion: "<list>" },
    { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" },
    {
      sendInitialEvents: "",
      resourceVersion: `<rv ${key}>`,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "1"
    }
  )
  const selectors = fields({
    labelSelector: sometimes(fc.constantFrom(...WATCHED)),
    fieldSelector: sometimes(fc.constantFrom("metadata.name!=b", ...kind.watchedFields), 4)
  })
  return fc
    .tuple(from, selectors, fields({ accept: sometimes(fc.constant(ONE_FORM), 3) }))
    .map(([start, selector, form]) => ({
      watched: kind.collection,
      query: { ...start, ...selector },
      marker: marker(kind),
      ...form
    }))
}

/** Options that go together with no watch. */
export const refusedWatch = ({ collection: path }: Kind): fc.Arbitrary<Turn> =>
  fc
    .constantFrom<Query>(
      { resourceVersion: "x" },
      { resourceVersionMatch: "NotOlderThan" },
      { sendInitialEvents: "true" },
      { sendInitialEvents: "false" },
      { resourceVersionMatch: "Exact" },
      { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", continue: "x" },
      { sendInitialEvents: "true", resourceVersionMatch: "Exact", allowWatchBookmarks: "true" },
      { labelSelector: "a in 1" },
      { fieldSelector: "spec.nothing=1" }
    )
    .map((query) => ({ method: "GET", path, query: { watch: "true", timeoutSeconds: "1", ...query } }))

const marker = ({ apiVersion, kind, collection }: Kind): Extract<Turn, { marker: unknown }>["marker"] => ({
  method: "POST",
  path: collection,
  body: { apiVersion, kind, metadata: { name: "<ns>-last", labels: { a: "1" } }, ...SPECS[kind] }
})

const template = { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "c", image: "i" }] } }
const workload = { selector: { matchLabels: { app: "x" } }, template }

const SPECS: Readonly<Record<string, object>> = {
  Deployment: { spec: workload },
  StatefulSet: { spec: { ...workload, serviceName: "s" } },
  Service: { spec: { ports: [{ port: 80 }] } },
  DeploymentGrid: { spec: { gridUniqKey: "zone" } },
  ServiceGrid: { spec: { gridUniqKey: "zone" } },
  ServiceCIDR: { spec: { cidrs: ["198.51.100.0/24"] } },
  EndpointSlice: { addressType: "IPv4", endpoints: [{ addresses: ["10.1.0.8"] }] }
}
