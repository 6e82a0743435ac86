/** kubectl with its default flags on the embedded cluster: it says there, word for word, what it says on a real control plane. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { until } from "../deadline.ts"
import { done, type Kubectl, type Said } from "../kubectl.ts"
import { clusterTest } from "../skip.ts"
import * as Given from "./given.ts"
import { type Input, json, watched } from "./given.ts"
import { heard } from "./heard.ts"
import { type Sides, sides } from "./sides.ts"

let both: Sides | undefined
const tour = (): Sides => {
  if (both === undefined) throw new Error("there are no clusters")
  return both
}

/** What kubectl says on both sides, which must be the same. */
const said = async (args: readonly string[], more?: Parameters<Kubectl>[1]): Promise<Said> => {
  const { real, model } = tour()
  const [one, other] = await Promise.all([real(args, more), model(args, more)])
  expect.soft(heard(other), args.join(" ")).toEqual(heard(one))
  return one
}

/** What it writes, where it must succeed. */
const written = async (args: readonly string[], more?: Parameters<Kubectl>[1]): Promise<string> => {
  const { stdout, stderr, code } = await said(args, more)
  expect(code, `${args.join(" ")}: ${stderr}`).toBe(0)
  return stdout
}

const echo = (more: Parameters<typeof Given.echo>[1] = {}): Input => Given.echo(tour().key, more)

describe("kubectl", () => {
  beforeAll(async () => {
    both = await sides()
  }, 180_000)
  afterAll(() => both?.close())

  clusterTest("describes a node", async () => {
    const name = `${tour().namespace}-north`
    await written(["get", "node", name])
    await written(["get", "no", name, "-o", "wide", "--show-labels"])
    await written(["get", "node", name, "-o", "yaml"])
    await written(["describe", "node", name])
  })

  clusterTest("tells what is served", async () => {
    for (const args of [["api-resources"], ["api-resources", "-o", "wide"], ["api-versions"]]) {
      const { real, model } = tour()
      const [all, served] = await Promise.all(
        [real(args), model(args)].map(async (each) => lines(heard(await each).stdout))
      )
      // it serves fewer kinds
      expect(served?.filter((line) => !all?.includes(line))).toEqual([])
    }
    await written(["api-resources", "--api-group=superedge.io", "-o", "name"])
    await written(["api-resources", "--api-group=superedge.io", "--categories=grids", "-o", "wide"])
    expect(await done(tour().model(["version"]))).toContain("Server Version: v1.37.2")
  })

  clusterTest("explains the grids", async () => {
    await written(["explain", "deploymentgrid", "--recursive"])
    for (const path of [
      "deploymentgrid",
      "dg.spec.template",
      "dg.metadata",
      "ssg",
      "servicegrids.superedge.io.spec"
    ])
      await written(["explain", path])
    expect((await said(["explain", "dg.spec.nothing"])).code).toBe(1)
    expect(await done(tour().model(["explain", "deploy.spec.template.spec.containers"]))).toContain(
      "image\t<string>"
    )
  })

  clusterTest("applies on the client's side", async () => {
    expect(await written(["apply", "-f", "-"], echo())).toBe("deploymentgrid.superedge.io/echo created\n")
    expect(await written(["apply", "-f", "-"], echo())).toBe("deploymentgrid.superedge.io/echo unchanged\n")
    await ready()
    expect(await written(["diff", "-f", "-"], echo())).toBe("")
    expect((await said(["diff", "-f", "-"], echo({ replicas: 2 }))).code).toBe(1)
    expect(await written(["apply", "-f", "-", "--dry-run=server"], echo({ replicas: 2 }))).toBe(
      "deploymentgrid.superedge.io/echo configured (server dry run)\n"
    )
    expect(await written(["apply", "-f", "-"], echo({ replicas: 2 }))).toBe(
      "deploymentgrid.superedge.io/echo configured\n"
    )
    await written([
      "wait",
      "--for=jsonpath={.status.states.north.readyReplicas}=2",
      "dg/echo",
      "--timeout=60s"
    ])
    await written([
      "wait",
      "--for=jsonpath={.status.states.south.readyReplicas}=2",
      "dg/echo",
      "--timeout=60s"
    ])
    await ready()
    await said(["apply", "-f", "-"], echo({ gridUniqKey: "not a key" }))
    await said(["apply", "-f", "-"], echo({ nothing: 1 }))
    await written(["apply", "-f", "-"], Given.service(tour().key))
    await written(["wait", "--for=condition=Ready", "sg/echo", "--timeout=60s"])
    for (const side of [tour().real, tour().model]) await reached(side)
    await written(["apply", "view-last-applied", "dg/echo"])
  })

  clusterTest("gets", async () => {
    for (const form of ["wide", "yaml", "json", "name"])
      await written(["get", "dg,deploy,svc,sg", "-o", form])
    await written(["get", "dg,deploy,svc,sg", "--show-labels", "-L", "app"])
    await written(["get", "dg", "--no-headers"])
    await written([
      "get",
      "deploymentgrid.superedge.io/echo",
      "-o",
      "jsonpath={.spec.template.replicas} {.status.conditions[*].type}"
    ])
    await written([
      "get",
      "dg",
      "-o",
      "custom-columns=NAME:.metadata.name,READY:.status.readyUnits,NONE:.spec.none"
    ])
    await written(["get", "deploy", "--sort-by={.spec.replicas}", "-l", "superedge.io/grid-selector=echo"])
    await written(["get", "deploy", "--field-selector=metadata.name=echo-south", "--chunk-size=1"])
    await written(["get", "all"])
    await written(["get", "grids"])
    await written(["get", "pods", "--sort-by=.spec.nodeName", "-o", "wide"])
    await written(["get", "endpointslices", "-o", "name"])
    await written(["get", "dg", "none", "--ignore-not-found"])
    for (const args of [
      ["dg", "none"],
      ["nothing"],
      ["dg", "-l", "a in"],
      ["dg", "--field-selector=spec.nothing=1"],
      ["ssg"]
    ])
      await said(["get", ...args])
  })

  clusterTest("describes", async () => {
    for (const what of ["dg/echo", "sg/echo", "deploy/echo-north", "svc/echo-svc"])
      // a real server repairs its own allocation now and then, and says so
      await written(["describe", what, ...(what.startsWith("svc") ? ["--show-events=false"] : [])])
    await said(["describe", "dg", "none"])
  })

  clusterTest("labels and annotates", async () => {
    const each = ["label", "dg/echo"]
    expect(await written([...each, "tier=edge"])).toBe("deploymentgrid.superedge.io/echo labeled\n")
    expect((await said([...each, "tier=cloud"])).code).toBe(1)
    await written([...each, "tier=cloud", "--overwrite"])
    await written([...each, "tier=cloud", "--overwrite"])
    await written([...each, "tier-"])
    await said([...each, "tier=not a value"])
    expect(await written(["annotate", "dg", "--all", "example.com/note=a note"])).toBe(
      "deploymentgrid.superedge.io/echo annotated\n"
    )
    await written(["annotate", "dg/echo", "example.com/note-"])
  })

  clusterTest("applies on the server's side", async () => {
    const map = (value: string): Input =>
      json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "map" }, data: { a: value } })
    const apply = ["apply", "--server-side", "-f", "-"]
    expect(await written(apply, map("1"))).toBe("configmap/map serverside-applied\n")
    expect(await written(apply, map("1"))).toBe("configmap/map serverside-applied\n")
    const conflict = await said([...apply, "--field-manager=other"], map("2"))
    expect(conflict.code).toBe(1)
    expect(conflict.stderr).toContain('conflict with "kubectl": .data.a')
    await written([...apply, "--field-manager=other", "--force-conflicts"], map("2"))
    expect((await said(["diff", "--server-side", "--force-conflicts", "-f", "-"], map("3"))).code).toBe(1)
    await written(["get", "cm/map", "-o", "yaml", "--show-managed-fields"])
    // what was applied on the client's side is no conflict, and the note of it follows
    await said([...apply], echo({ replicas: 2 }))
    await written(["get", "dg/echo", "-o", "yaml"])
    await said([...apply], echo({ nothing: 1 }))
  })

  clusterTest("creates, patches and replaces", async () => {
    const map = (more: object): Input =>
      json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "made" }, ...more })
    expect(await written(["create", "-f", "-", "--dry-run=server"], map({}))).toBe(
      "configmap/made created (server dry run)\n"
    )
    expect(await written(["create", "-f", "-"], map({ data: { a: "1" } }))).toBe("configmap/made created\n")
    expect((await said(["create", "-f", "-"], map({}))).stderr).toContain("AlreadyExists")
    expect(await written(["replace", "-f", "-"], map({ data: { b: "2" } }))).toBe("configmap/made replaced\n")
    expect(await written(["patch", "cm/made", "-p", '{"data":{"c":"3"}}'])).toBe("configmap/made patched\n")
    expect(await written(["patch", "cm/made", "-p", '{"data":{"c":"3"}}'])).toBe(
      "configmap/made patched (no change)\n"
    )
    await written([
      "patch",
      "deploy/echo-north",
      "--type=strategic",
      "-p",
      '{"spec":{"template":{"spec":{"containers":[{"name":"echo","env":null}]}}}}'
    ])
    await written(["patch", "dg/echo", "--type=merge", "-p", '{"spec":{"template":{"minReadySeconds":0}}}'])
    await written([
      "patch",
      "dg/echo",
      "--type=json",
      "-p",
      '[{"op":"remove","path":"/spec/template/minReadySeconds"}]'
    ])
    await said(["patch", "dg/echo", "--type=json", "-p", '[{"op":"remove","path":"/spec/nothing"}]'])
    await said(["patch", "dg/echo", "-p", "{}", "--type=strategic"])
    await said(["patch", "cm/made", "-p", "{"])
    await said(
      ["replace", "-f", "-"],
      json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "none" } })
    )
    await written(["replace", "--force", "-f", "-"], map({ data: { d: "4" } }))
    await written(["get", "cm/made", "-o", "yaml"])
    await said(
      ["create", "-f", "-"],
      json({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "Not A Name" } })
    )
    await said(
      ["create", "-f", "-"],
      json({ apiVersion: "none.example/v1", kind: "None", metadata: { name: "a" } })
    )
    expect(await written(["auth", "can-i", "create", "dg"])).toBe("yes\n")
  })

  clusterTest("edits", async () => {
    const editor = (name: string, script: string): { readonly env: Readonly<Record<string, string>> } => {
      const file = join(tour().folder, name)
      writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      return { env: { KUBE_EDITOR: file } }
    }
    const edit = ["edit", "dg/echo"]
    const set = (value: string): string => `sed -i 's/gridUniqKey: .*/gridUniqKey: ${value}/' "$1"`
    expect((await said(edit, editor("nothing", "true"))).stderr).toBe("Edit cancelled, no changes made.\n")
    expect(await written(edit, editor("label", `sed -i 's/^    app: echo$/    app: edited/' "$1"`))).toBe(
      "deploymentgrid.superedge.io/echo edited\n"
    )
    const opened = 'if grep -q "was not valid" "$1"'
    const mended = await said(
      edit,
      editor(
        "mended",
        `${opened}; then ${set(tour().key)}; sed -i 's/app: edited/app: echo/' "$1"; else ${set("not a key")}; fi`
      )
    )
    expect(mended.stdout).toContain("deploymentgrid.superedge.io/echo edited")
    const given = await said(edit, editor("given-up", `${opened}; then true; else ${set("not a key")}; fi`))
    expect(given.code).toBe(1)
    await written(
      ["edit", "deploy/echo-north", "-o", "json"],
      editor("json", `sed -i 's/"app": "echo"/"app": "echo"/' "$1"`)
    )
  })

  clusterTest("scales and rolls out", async () => {
    const scale = ["scale", "deploy/echo-north"]
    expect((await said([...scale, "--replicas=1", "--current-replicas=7"])).code).toBe(1)
    expect(await written([...scale, "--replicas=3"])).toBe("deployment.apps/echo-north scaled\n")
    expect((await said(["scale", "dg/echo", "--replicas=3"])).code).toBe(1)
    // the controller sets it back
    await written(["wait", "--for=jsonpath={.spec.replicas}=2", "deploy/echo-north", "--timeout=60s"])
    await rolledOut()
    expect(await written(["rollout", "restart", "deploy/echo-north"])).toBe(
      "deployment.apps/echo-north restarted\n"
    )
    await rolledOut()
    await written(["rollout", "history", "deploy/echo-north"])
    await written(["rollout", "pause", "deploy/echo-south"])
    await written(["rollout", "resume", "deploy/echo-south"])
    await said(["rollout", "restart", "dg/echo"])
    await said(["rollout", "status", "dg/echo"])
  })

  clusterTest("watches", async () => {
    const { real, model } = tour()
    const [one, other] = await Promise.all([watched(real), watched(model)])
    expect(other).toBe(one)
    expect(lines(one).map((line) => line.split(" ")[0])).toEqual([
      "EVENT",
      "ADDED",
      "MODIFIED",
      "DELETED",
      "ADDED",
      "DELETED",
      "ADDED",
      ""
    ])
  })

  clusterTest("says that nothing runs in pods", async () => {
    const { model } = tour()
    const pod = await done(
      model(["get", "pods", "-l", "app=echo", "-o", "jsonpath={.items[0].metadata.name}"])
    )
    for (const args of [
      ["logs", pod],
      ["exec", pod, "--", "ls"],
      ["port-forward", pod, "8080:80"]
    ])
      expect((await model(args)).stderr, args.join(" ")).toMatch(
        /pod ".*" is not run: the embedded cluster has no containers\n$/
      )
  })

  clusterTest("deletes", async () => {
    for (const args of [["--dry-run=server"], ["--wait=false", "--cascade=orphan"]])
      await written(["delete", "sg/echo", ...args])
    // It says nothing where the grid has gone before it looked, which either side may or may not see.
    const gone = ["wait", "--for=delete", "sg/echo", "--timeout=60s"]
    await Promise.all([done(tour().real(gone)), done(tour().model(gone))])
    await written(["delete", "svc/echo-svc"])
    expect(await written(["delete", "dg", "echo", "--cascade=foreground"])).toBe(
      `deploymentgrid.superedge.io "echo" deleted from ${tour().namespace} namespace\n`
    )
    await written(["get", "dg,deploy,rs"])
    await written(["delete", "cm", "-l", "none=of-them"])
    await written(["delete", "cm", "made", "--now"])
    await written(["delete", "cm", "made", "--ignore-not-found"])
    await said(["delete", "cm", "made"])
    await written(["delete", "cm/map", "--cascade=background", "-o", "name"])
  })
})

/** Waits on both sides for the end of a rollout, and then hears that it has ended. */
const rolledOut = async (): Promise<void> => {
  const status = ["rollout", "status", "deploy/echo-north", "--timeout=60s"]
  await Promise.all([done(tour().real(status)), done(tour().model(status))])
  expect(await written(status)).toBe('deployment "echo-north" successfully rolled out\n')
}

/** Waits until the Service leads to all four pods. */
const reached = async (side: Kubectl): Promise<void> => {
  const slices = ["get", "endpointslices", "-l", "kubernetes.io/service-name=echo-svc", "-o"]
  await until({ what: "four pods behind echo-svc", seconds: 60 }, async () => {
    const addresses = await done(side([...slices, "jsonpath={.items[*].endpoints[*].addresses[0]}"]))
    return addresses.trim().split(" ").length === 4
  })
}

const lines = (text: string): readonly string[] => text.split("\n")

const ready = async (): Promise<void> => {
  await written(["wait", "--for=condition=Ready", "dg/echo", "--timeout=60s"])
}
