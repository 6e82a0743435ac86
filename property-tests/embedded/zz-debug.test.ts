import { it } from "vitest"
import { controllers } from "../../src/embedded/controllers.ts"
import { step } from "../../src/embedded/model.ts"
import { Stage, DEPLOYMENTS, NODES, SETS, SERVICES, deployment, node, service, statefulSet } from "./stage.ts"
it("debug", () => {
  const wrapped = controllers().map((c) => ({
    ...c,
    act: (look: any, key: string, at: number) => {
      const act = c.act(look, key, at)
      let cl = look.cluster
      for (const r of act.requests) {
        const s = step(cl, r)
        cl = s.cluster
        if (s.response.code >= 300)
          console.log(
            c.name,
            key,
            r.method,
            r.path,
            s.response.code,
            JSON.stringify(s.response.body).slice(0, 400),
            JSON.stringify(r.body).slice(0, 300)
          )
        else if (process.env.ALL) console.log(c.name, r.method, r.path)
      }
      return act
    }
  }))
  const stage = new Stage(wrapped as never)
  stage.must("POST", NODES, node("n0", { "topology.kubernetes.io/zone": "bj" }))
  stage.must("POST", DEPLOYMENTS, deployment("web", { replicas: 2 }))
  stage.must("POST", SERVICES, service("web", "web"))
  stage.must(
    "POST",
    SETS,
    statefulSet("db", {
      replicas: 2,
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } }
        }
      ]
    })
  )
  stage.settle()
  console.log(
    JSON.stringify(
      stage.all("/pods").map((p: any) => p.status),
      null,
      1
    ).slice(0, 1500)
  )
})
