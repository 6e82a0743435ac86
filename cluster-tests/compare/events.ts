/** What is asked of events in both of their groups, in which one store is told in two spellings. */
import { type Ask, NAMESPACE, type Sequence } from "./turns.ts"

const CORE = `/api/v1/namespaces/${NAMESPACE}/events`
const NEWER = `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`
const MERGE = "application/merge-patch+json"

const posted = (path: string, name: string, rest: object): Ask => ({
  method: "POST",
  path,
  body: {
    apiVersion: path === CORE ? "v1" : "events.k8s.io/v1",
    kind: "Event",
    metadata: { name, namespace: NAMESPACE },
    ...rest
  }
})

const got = (path: string, query: Ask["query"] = {}): Ask => ({ method: "GET", path, query })

const patched = (path: string, body: object): Ask => ({ method: "PATCH", path, contentType: MERGE, body })

const newer = {
  eventTime: "2020-01-01T00:00:00.123456Z",
  reportingController: "kube-proxy",
  reportingInstance: "n1",
  action: "Start",
  reason: "Starting",
  regarding: { kind: "Pod", namespace: NAMESPACE, name: "p", uid: "u" },
  note: "hello",
  type: "Normal"
}

const core = {
  involvedObject: { kind: "Pod", namespace: NAMESPACE, name: "p", uid: "u" },
  reason: "Pulled",
  message: "m",
  source: { component: "kubelet", host: "n1" },
  firstTimestamp: "2020-01-01T00:00:00Z",
  lastTimestamp: "2020-01-01T00:00:00Z",
  count: 1,
  type: "Normal"
}

const series = (count: number): object => ({
  series: { count, lastObservedTime: "2020-01-01T00:00:01.000000Z" }
})

export const EVENTS: Sequence = {
  turns: [
    posted(NEWER, "a", newer),
    posted(CORE, "b", core),
    ...["a", "b"].flatMap((name) => [got(`${CORE}/${name}`), got(`${NEWER}/${name}`)]),
    got(CORE),
    got(NEWER),
    got(NEWER, { fieldSelector: "regarding.kind=Pod,reportingController=kube-proxy" }),
    got(NEWER, { fieldSelector: "involvedObject.kind=Pod" }),
    got(CORE, { fieldSelector: "involvedObject.kind=Pod" }),
    patched(`${NEWER}/a`, series(3)),
    patched(`${NEWER}/a`, series(1)),
    patched(`${NEWER}/a`, { note: "other", reason: "Other" }),
    patched(`${NEWER}/b`, { deprecatedCount: 2 }),
    patched(`${CORE}/b`, { count: 2, lastTimestamp: "2020-01-01T00:01:00Z" }),
    got(`${NEWER}/b`),
    posted(NEWER, "c", { regarding: newer.regarding, deprecatedCount: 1, deprecatedSource: core.source }),
    posted(NEWER, "c", { ...newer, reason: "", action: "", reportingInstance: "" }),
    posted(NEWER, "c", { ...newer, reportingController: "", note: "x".repeat(1025) }),
    posted(NEWER, "c", { ...newer, regarding: { kind: "Node", name: "n" } }),
    posted(CORE, "c", { ...core, eventTime: newer.eventTime }),
    posted(CORE, "c", { ...core, involvedObject: { kind: "Node", name: "n" } }),
    { ...posted(CORE, "c", core), path: NEWER },
    { ...posted(NEWER, "c", newer), path: CORE },
    { ...posted(NEWER, "d", { ...newer, note: "put" }), method: "PUT", path: `${NEWER}/d` },
    got(`${CORE}/d`),
    got(`${NEWER}/none`),
    { method: "DELETE", path: `${NEWER}/d` },
    { method: "DELETE", path: `${CORE}/a` },
    got(NEWER)
  ]
}
