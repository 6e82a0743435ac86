import { controllers, settled, told, world } from "../../src/embedded/controllers.ts"
import { start, step } from "../../src/embedded/model.ts"
const at = Date.now()
let w = world(start(at), controllers(), at)
const ask = (method: string, path: string, body: unknown) => { const s = step(w.look.cluster, { method, path, query: {}, body, contentType: method === "PATCH" ? "application/merge-patch+json" : "application/json", userAgent: "x", at } as never); if (s.response.code > 299) throw new Error(JSON.stringify(s.response.body)); w = told(w, s.cluster, s.changes, at) }
const run = (): number => { const s = settled(w, at); w = s.world; return s.changes.length }
for (let i = 0; i < 6; i++) ask("POST", "/api/v1/nodes", { metadata: { name: `n${i}`, labels: { zone: `z${i % 2}` } } })
run()
for (let round = 0; round < 4; round++) {
  const t = performance.now()
  let n = 0
  for (let i = 0; i < 50; i++) {
    ask("POST", "/apis/apps/v1/namespaces/default/deployments", { metadata: { name: `web-${round}-${i}` }, spec: { replicas: 2, selector: { matchLabels: { app: `w${i}` } }, template: { metadata: { labels: { app: `w${i}` } }, spec: { containers: [{ name: "a", image: "a:1" }] } } } })
    n += 1 + run()
  }
  const d = performance.now() - t
  console.log(`${n} changes, ${d.toFixed(0)} ms, ${(d / n).toFixed(2)} ms each`)
}
