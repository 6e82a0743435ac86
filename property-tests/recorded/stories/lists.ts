/** Lists with selectors and pages, and watches. A watch is recorded after the writes that it tells. */
import * as given from "./given.ts"
import { configMap, core, get, merge, post, remove } from "./given.ts"
import type { Answer, Call } from "../exchange.ts"
import type { Story, Teller } from "./given.ts"

const maps = core("configmaps")

const listing: Story = {
  name: "list",
  shows: "selectors, pages, and the revision that a list asks for",
  run: async ({ send }) => {
    const list = (query: Readonly<Record<string, string>>, shows: string): Promise<Answer> =>
      send(get(maps, query), shows)
    await send(get(maps), "empty")
    const first = await send(post(maps, configMap("a", {}, { labels: { app: "web", tier: "front" } })))
    await send(post(maps, configMap("c", {}, { labels: { app: "db", "x.io/n": "" } })))
    await send(post(maps, configMap("b", {}, { labels: { app: "web" } })))
    await send(get(maps), "sorted by name")
    await list({ labelSelector: "app=web" }, "one label")
    await list({ labelSelector: "app==web,tier!=front" }, "equal and unequal")
    await list({ labelSelector: "tier" }, "exists")
    await list({ labelSelector: "!tier,app in (db, web)" }, "absent, one of")
    await list({ labelSelector: "tier notin (front)" }, "none of: absent matches")
    await list({ labelSelector: "x.io/n=" }, "an empty value")
    await list({ labelSelector: "app=web,app=db" }, "none matches")
    await list({ labelSelector: "app in web" }, "malformed")
    await list({ labelSelector: "a b=c" }, "an illegal key")
    await list({ labelSelector: "app=no way" }, "an illegal value")
    await list({ fieldSelector: "metadata.name=b" }, "by name")
    await list({ fieldSelector: "metadata.name!=b,metadata.namespace=recorded" }, "by other names")
    await list({ fieldSelector: "data.k=1" }, "a field that can't be selected")
    await send(get("/api/v1/configmaps", { fieldSelector: "metadata.namespace=recorded" }), "cluster-wide")
    const page = await list({ limit: "2" }, "a page of two")
    await list({ limit: "2", continue: given.continueOf(page) }, "the rest")
    await list({ limit: "1", labelSelector: "app=web" }, "a page with a selector: no count of the rest")
    await list({ limit: "3" }, "a page that holds all")
    await list({ limit: "1", continue: "nonsense" }, "a malformed token")
    await list(
      { limit: "1", continue: given.continueOf(page), resourceVersion: "5" },
      "token and resourceVersion"
    )
    await list({ limit: "-1" }, "a negative limit")
    await list({ resourceVersion: "0" }, "from the cache")
    await list(
      { resourceVersion: given.versionOf(first), resourceVersionMatch: "NotOlderThan" },
      "not older than"
    )
    await list(
      { resourceVersion: given.versionOf(first), resourceVersionMatch: "Exact" },
      "exactly: one object then"
    )
    await list({ resourceVersionMatch: "Exact" }, "match without a resourceVersion")
    await list({ resourceVersion: "0", resourceVersionMatch: "Exact" }, "exactly 0")
    await list({ resourceVersion: "99999999" }, "a future revision")
    await list({ resourceVersion: "x" }, "no revision")
    await list(
      { resourceVersion: "1", resourceVersionMatch: "Exact" },
      "a revision that is compacted or before all"
    )
    await list({ watch: "0" }, "watch=0 is a list")
    await send(get(core("configmaps", "a"), { resourceVersion: "99999999" }), "one object, a future revision")
    await send(get("/api/v1/namespaces/absent/configmaps"), "an absent namespace: an empty list")
    await send(get(core("pods"), { fieldSelector: "spec.nodeName=n,status.phase!=Failed" }), "fields of pods")
    await send(get(core("events"), { fieldSelector: "involvedObject.name=x,reason=y" }), "fields of events")
    await send(
      get("/api/v1/nodes", { fieldSelector: "spec.unschedulable=true,metadata.name=recorded-9" }),
      "fields of nodes"
    )
    await send(get("/api/v1/namespaces/recorded"), "a namespace")
  }
}

const watchCall = (query: Readonly<Record<string, string>>, path = maps): Call =>
  get(path, { watch: "true", timeoutSeconds: "1", ...query })

/** a is made, changed twice and deleted; b is made, and loses and gets its label. */
const history = async ({ send }: Teller): Promise<readonly string[]> => {
  const start = given.versionOf(await send(get(maps), "the revision before"))
  const versions = [start]
  const note = async (call: Call): Promise<void> => {
    versions.push(given.versionOf(await send(call)))
  }
  await note(post(maps, configMap("a", { k: "1" }, { labels: { on: "1" } })))
  await note(post(maps, configMap("b", {}, { labels: { on: "1" } })))
  await note(merge(core("configmaps", "a"), { data: { k: "2" } }))
  await note(merge(core("configmaps", "b"), { metadata: { labels: { on: null } } }))
  await note(merge(core("configmaps", "b"), { data: { k: "1" } }))
  await note(merge(core("configmaps", "b"), { metadata: { labels: { on: "1" } } }))
  await send(merge(core("configmaps", "b"), { metadata: { labels: { on: "1" } } }), "no change: no event")
  await send(remove(core("configmaps", "a")))
  return versions
}

const watching: Story = {
  name: "watch",
  shows: "what a watch tells from where it begins",
  run: async (teller) => {
    const { send } = teller
    const [start = "", first = ""] = await history(teller)
    const from = { resourceVersion: start }
    await send(watchCall(from), "from before the first write: all of it")
    await send(watchCall({ resourceVersion: first }), "from the first write on")
    await send(
      watchCall({ ...from, labelSelector: "on=1" }),
      "with a label: DELETED and ADDED where it goes and comes"
    )
    await send(watchCall({ ...from, fieldSelector: "metadata.name=b" }), "one name")
    await send(watchCall({ ...from, labelSelector: "on=9" }), "nothing matches")
    await send(watchCall(from, core("configmaps", "a")), "a watch of one object's path is a GET")
    await send(watchCall({}), "without a revision: what is there, as ADDED, then on")
    await send(watchCall({ resourceVersion: "0" }), "from any revision: the same")
    await send(watchCall({ resourceVersion: "0", allowWatchBookmarks: "true" }), "with bookmarks")
    const initial = {
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "true"
    }
    await send(watchCall(initial), "initial events, then the bookmark that ends them")
    await send(watchCall({ ...initial, labelSelector: "on=9" }), "initial events of nothing")
    await send(watchCall({ ...initial, resourceVersion: "0" }), "initial events from the cache")
    await send(watchCall({ sendInitialEvents: "true" }), "initial events without resourceVersionMatch")
    await send(
      watchCall({ ...initial, sendInitialEvents: "false", resourceVersion: start }),
      "no initial events, from a revision"
    )
    await send(
      watchCall({ sendInitialEvents: "true", resourceVersionMatch: "Exact" }),
      "initial events, exactly"
    )
    await send(watchCall({ resourceVersion: "1" }), "too old")
    await send(watchCall({ resourceVersion: "99999999" }), "a future revision: silence, or an error")
    await send(watchCall({ resourceVersion: "x" }), "no revision")
    await send(watchCall({ ...from, labelSelector: "a b" }), "a malformed selector")
    await send(watchCall({ ...from, limit: "1" }), "a limit is ignored")
    await send(
      watchCall({ resourceVersionMatch: "NotOlderThan" }),
      "resourceVersionMatch without initial events"
    )
    await send(watchCall(from, "/api/v1/namespaces/absent/configmaps"), "an absent namespace")
    await send(watchCall(from, "/api/v1/namespaces/recorded/nothings"), "an absent kind")
  }
}

const deletions: Story = {
  name: "watch-delete",
  shows: "events around finalizers and collections",
  run: async ({ send }) => {
    const start = given.versionOf(await send(get(maps)))
    await send(post(maps, configMap("held", {}, { finalizers: ["x.io/hold"] })))
    await send(remove(core("configmaps", "held")))
    await send(merge(core("configmaps", "held"), { metadata: { finalizers: null } }), "let go: gone")
    await send(post(maps, configMap("held", {})), "made again")
    await send({ ...remove(maps), query: { labelSelector: "!x" } })
    await send(watchCall({ resourceVersion: start }), "ADDED, MODIFIED, DELETED, ADDED, DELETED")
  }
}

export const lists: readonly Story[] = [listing, watching, deletions]
