import { Effect, Either } from "effect"
import { request as httpRequest, type IncomingMessage } from "node:http"
import { describe, expect, it } from "vitest"
import { LIMIT, understood } from "../../src/embedded/body.ts"
import { controllers } from "../../src/embedded/controllers.ts"
import type { Seen } from "../../src/embedded/engine.ts"
import { embedded, type Embedded, type Options } from "../../src/embedded/server.ts"
import { DEPLOYMENTS, NODES, deployment, node } from "./stage.ts"

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

describe("the server", () => {
  it("makes a deployment's pods ready within moments", () =>
    serving({ port: 0 }, async ({ url }) => {
      await post(url, NODES, node("n0"))
      await post(url, DEPLOYMENTS, deployment("web", { replicas: 3 }))
      const watch = await opened(url, "/api/v1/namespaces/default/pods?watch=true&labelSelector=app%3Dweb")
      const ready = new Set<string>()
      while (ready.size < 3) {
        const { object } = await watch.next()
        if (JSON.stringify(object).includes('"type":"Ready","status":"True"')) ready.add(object.metadata.name)
      }
      watch.close()
    }))

  it("reads YAML where the client says so", () =>
    serving(QUIET, async ({ url }) => {
      const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  day: '2026-11-29'\n"
      const answer = await ask(url, "POST", CONFIG_MAPS, yaml, { "content-type": "application/yaml" })
      expect([answer.code, answer.body["data"]]).toEqual([201, { day: "2026-11-29" }])
    }))

  it("applies YAML", () =>
    serving(QUIET, async ({ url }) => {
      const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: b\n"
      const path = `${CONFIG_MAPS}/a?fieldManager=me`
      const answer = await ask(url, "PATCH", path, yaml, { "content-type": "application/apply-patch+yaml" })
      expect([answer.code, answer.body["data"]]).toEqual([201, { a: "b" }])
    }))

  it("answers YAML to who asks for it", () =>
    serving(QUIET, async ({ url }) => {
      const answer = await raw(url, "GET", "/api/v1/namespaces/default", undefined, {
        accept: "application/yaml"
      })
      expect(answer.text).toContain("kind: Namespace\n")
    }))

  it("refuses JSON that can't be read with 400", () =>
    serving(QUIET, async ({ url }) => {
      const answer = await ask(url, "POST", CONFIG_MAPS, '{"kind": ')
      expect([answer.code, answer.body["kind"], answer.body["reason"]]).toEqual([400, "Status", "BadRequest"])
    }))

  it("refuses a patch that can't be read", () =>
    serving(QUIET, async ({ url }) => {
      const type = { "content-type": "application/strategic-merge-patch+json" }
      const answer = await ask(url, "PATCH", `${CONFIG_MAPS}/a`, "{", type)
      expect([answer.code, answer.body["message"]]).toEqual([400, "invalid JSON patch"])
    }))

  it("refuses a body in a form that it can't read with 415", () =>
    serving(QUIET, async ({ url }) => {
      const answer = await ask(url, "POST", CONFIG_MAPS, "k8s", {
        "content-type": "application/vnd.kubernetes.protobuf"
      })
      expect([answer.code, answer.body["reason"]]).toEqual([415, "UnsupportedMediaType"])
    }))

  it("refuses a body beyond 3 MB with 413, and goes on", () =>
    serving(QUIET, async ({ url }) => {
      const answer = await ask(url, "POST", CONFIG_MAPS, `{"data":{"a":"${"x".repeat(LIMIT)}"}}`)
      expect([answer.code, answer.body["reason"]]).toEqual([413, "RequestEntityTooLarge"])
      expect((await ask(url, "GET", "/version")).code).toBe(200)
    }))

  it.each(["/healthz", "/livez", "/readyz", "/readyz?verbose"])("is well: %s", (path) =>
    serving(QUIET, async ({ url }) => {
      expect(await raw(url, "GET", path)).toMatchObject({ code: 200, text: "ok" })
    })
  )

  it.each([
    "/nothing",
    "/..%2f..%2fetc",
    "/apis/none.example.com/v1/things",
    "/api/v1/namespaces/default/nothing"
  ])("knows nothing at %s", (path) =>
    serving(QUIET, async ({ url }) => {
      expect((await raw(url, "GET", path)).code).toBe(404)
    })
  )

  it.each(["//", "//x:99999999", "/%", "/api/v1/%zz?%=%", "*", "/?watch=1"])(
    "lives through the target %s",
    (target) =>
      serving(QUIET, async ({ url }) => {
        const { hostname, port } = new URL(url)
        const answer = await new Promise<IncomingMessage>((resolve, reject) => {
          const request = httpRequest({ hostname, port, path: target, agent: false }, resolve)
          request.once("error", reject)
          request.end()
        })
        answer.resume()
        expect([200, 404]).toContain(answer.statusCode)
        expect((await ask(url, "GET", "/version")).code).toBe(200)
      })
  )

  it("refuses a form that it doesn't have with 406", () =>
    serving(QUIET, async ({ url }) => {
      const accept = "application/vnd.kubernetes.protobuf"
      expect((await ask(url, "GET", CONFIG_MAPS, undefined, { accept })).code).toBe(406)
    }))

  it("answers a Table to who asks for it, and an error as it is", () =>
    serving(QUIET, async ({ url }) => {
      const list = await ask(url, "GET", "/api/v1/namespaces", undefined, { accept: TABLE })
      expect(list.body["kind"]).toBe("Table")
      const none = await ask(url, "GET", "/api/v1/namespaces/none", undefined, { accept: TABLE })
      expect([none.code, none.body["kind"]]).toEqual([404, "Status"])
    }))

  it("says which port it couldn't take", () =>
    serving(QUIET, async ({ url }) => {
      const port = Number(new URL(url).port)
      const answer = await Effect.runPromise(Effect.either(Effect.scoped(embedded({ ...QUIET, port }))))
      expect(Either.getLeft(answer)).toMatchObject({ value: { _tag: "PortTaken", port } })
    }))

  it("tells of every request, by its verb", async () => {
    const seen: Seen[] = []
    const onRequest = (each: Seen): void => {
      seen.push(each)
    }
    await serving({ ...QUIET, onRequest }, async ({ url }) => {
      await post(url, CONFIG_MAPS, { metadata: { name: "a" } })
      await ask(url, "GET", `${CONFIG_MAPS}/a`)
      await ask(url, "GET", CONFIG_MAPS)
      await ask(url, "DELETE", `${CONFIG_MAPS}/a`)
      await ask(url, "DELETE", CONFIG_MAPS)
      const watch = await opened(url, `${CONFIG_MAPS}?watch=1`)
      watch.close()
    })
    expect(seen.map((each) => [each.verb, each.target?.plural, each.target?.name, each.code])).toEqual([
      ["create", "configmaps", undefined, 201],
      ["get", "configmaps", "a", 200],
      ["list", "configmaps", undefined, 200],
      ["delete", "configmaps", "a", 200],
      ["deletecollection", "configmaps", undefined, 200],
      ["watch", "configmaps", undefined, 200]
    ])
  })

  it("ends at once, with watches open", async () => {
    let ended: Promise<unknown> = Promise.resolve()
    await serving(QUIET, async ({ url }) => {
      const watch = await opened(url, `${CONFIG_MAPS}?watch=1`)
      ended = watch.ended
    })
    await ended
  })
})

describe("a watch", () => {
  it("is answered before there is anything to tell", () =>
    serving(QUIET, async ({ url }) => {
      const watch = await opened(url, `${CONFIG_MAPS}?watch=1&resourceVersion=${await revision(url)}`)
      await post(url, CONFIG_MAPS, { metadata: { name: "a" } })
      expect(await watch.next()).toMatchObject({
        type: "ADDED",
        object: { kind: "ConfigMap", metadata: { name: "a" } }
      })
      watch.close()
    }))

  it("tells every change in order, also to one of many", () =>
    serving(QUIET, async ({ url, request }) => {
      const from = await revision(url)
      const watches = await Promise.all(
        [1, 2, 3].map(() => opened(url, `${CONFIG_MAPS}?watch=1&resourceVersion=${from}`))
      )
      const names = Array.from({ length: 200 }, (_, place) => `c${place}`)
      for (const name of names) created(request, name)
      for (const watch of watches) {
        const told: string[] = []
        while (told.length < names.length) told.push((await watch.next()).object.metadata.name)
        expect(told).toEqual(names)
        watch.close()
      }
    }))

  it("ends after its timeoutSeconds", () =>
    serving(QUIET, async ({ url }) => {
      const watch = await opened(url, `${CONFIG_MAPS}?watch=1&timeoutSeconds=1`)
      await watch.ended
    }))

  it("bears bookmarks for who asks", () =>
    serving({ ...QUIET, pace: { backlog: 100, bookmarkEvery: 20 } }, async ({ url, cluster }) => {
      const from = await revision(url)
      const watch = await opened(
        url,
        `${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion=${from}`
      )
      const line = await watch.next()
      expect(line.type).toBe("BOOKMARK")
      expect(Number(line.object.metadata.resourceVersion)).toBe(cluster().revision)
      watch.close()
    }))

  it("tells the columns of a Table once", () =>
    serving(QUIET, async ({ url, request }) => {
      const watch = await opened(url, `${CONFIG_MAPS}?watch=1&resourceVersion=${await revision(url)}`, TABLE)
      created(request, "a")
      created(request, "b")
      const [first, second] = [await watch.next(), await watch.next()]
      expect([first.object.kind, first.object.columnDefinitions?.length]).toEqual(["Table", 3])
      expect(second.object.columnDefinitions).toBeNull()
      watch.close()
    }))

  it.each(["/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"])(
    "takes no protobuf at %s",
    (path) =>
      serving(QUIET, async ({ url }) => {
        const answer = await ask(url, "POST", path, "k8s\0", {
          "content-type": "application/vnd.kubernetes.protobuf"
        })
        expect(answer).toMatchObject({ code: 415, body: { reason: "UnsupportedMediaType" } })
      })
  )

  it("of metadata tells metadata, up to the bookmark that ends the initial events", () =>
    serving(QUIET, async ({ url, request }) => {
      created(request, "a", "x")
      const query =
        "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
      const watch = await opened(url, `${CONFIG_MAPS}?${query}`, partial("PartialObjectMetadata"))
      const [first, end] = [await watch.next(), await watch.next()]
      expect([first.type, first.object.kind, first.object]).toEqual([
        "ADDED",
        "PartialObjectMetadata",
        expect.not.objectContaining({ data: expect.anything() as unknown })
      ])
      expect(end).toMatchObject({
        type: "BOOKMARK",
        object: { metadata: { annotations: { "k8s.io/initial-events-end": "true" } } }
      })
      watch.close()
    }))

  it("asked for as a list of metadata ends without a line", () =>
    serving(QUIET, async ({ url, request }) => {
      created(request, "a")
      const answer = await fetch(`${url}${CONFIG_MAPS}?watch=1`, {
        headers: { accept: partial("PartialObjectMetadataList") }
      })
      expect([answer.status, await answer.text()]).toEqual([200, ""])
    }))

  it("begun before what is remembered gets 410", () =>
    serving({ ...QUIET, history: 10 }, async ({ url, request }) => {
      for (let count = 0; count < 30; count++) created(request, `c${count}`)
      const lines = await everything(url, `${CONFIG_MAPS}?watch=1&resourceVersion=1`)
      expect(lines).toContain('"code":410')
    }))

  it("whose client reads nothing gets 410, while another gets everything", () =>
    serving({ ...QUIET, pace: { backlog: 20, bookmarkEvery: 60_000 } }, async ({ url, request }) => {
      const path = `${CONFIG_MAPS}?watch=1&resourceVersion=${await revision(url)}`
      const stalled = await response(url, path)
      stalled.pause()
      const healthy = await opened(url, path)
      for (let count = 0; count < 100; count++) {
        created(request, `c${count}`, "x".repeat(200_000))
        expect((await healthy.next()).object.metadata.name).toBe(`c${count}`)
      }
      healthy.close()
      let text = ""
      stalled.on("data", (chunk: Buffer) => {
        text = (text + chunk.toString()).slice(-1000)
      })
      stalled.resume()
      await new Promise((resolve) => stalled.once("close", resolve))
      expect(text).toContain('"code":410')
    }))
})

describe("understood", () => {
  it.each([
    ["a: yes", true],
    ["a: 2026-11-29", "2026-11-29"],
    ["a: ~", null],
    ["a: '1'", "1"],
    ["a: 1", 1]
  ])("reads %s as Kubernetes does", (text, value) => {
    expect(understood(text, "application/yaml")).toEqual({ _tag: "Read", value: { a: value } })
  })

  it("takes an empty body as none", () => {
    expect(understood("", "application/json")).toEqual({ _tag: "Read", value: undefined })
  })
})

const partial = (form: string): string => `application/json;as=${form};g=meta.k8s.io;v=v1`

/** A cluster in which nothing moves by itself. */
const QUIET: Options = { port: 0, controllers: controllers([]) }

const serving = (options: Options, story: (cluster: Embedded) => Promise<void>): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(Effect.flatMap(embedded(options), (cluster) => Effect.promise(() => story(cluster))))
  )

interface Answer {
  readonly code: number
  readonly text: string
}

const raw = async (
  url: string,
  method: string,
  path: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {}
): Promise<Answer> => {
  const answer = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body })
  })
  return { code: answer.status, text: await answer.text() }
}

const ask = async (
  ...given: Parameters<typeof raw>
): Promise<{ readonly code: number; readonly body: Readonly<Record<string, unknown>> }> => {
  const { code, text } = await raw(...given)
  return { code, body: JSON.parse(text) as Readonly<Record<string, unknown>> }
}

const post = async (url: string, path: string, object: object): Promise<void> => {
  const answer = await ask(url, "POST", path, JSON.stringify(object))
  if (answer.code !== 201) throw new Error(JSON.stringify(answer.body))
}

const revision = async (url: string): Promise<string> => {
  const { body } = await ask(url, "GET", CONFIG_MAPS)
  return (body["metadata"] as { readonly resourceVersion: string }).resourceVersion
}

/** Makes a config map without HTTP between. */
const created = (request: Embedded["request"], name: string, text = ""): void => {
  const body = { metadata: { name }, data: { text } }
  const answer = request({
    method: "POST",
    path: CONFIG_MAPS,
    query: {},
    contentType: "application/json",
    body
  })
  if (answer.code !== 201) throw new Error(JSON.stringify(answer.body))
}

interface Line {
  readonly type: string
  readonly object: {
    readonly kind: string
    readonly metadata: { readonly name: string; readonly resourceVersion: string }
    readonly columnDefinitions?: readonly unknown[] | null
  }
}

interface Opened {
  /** the next line, within five seconds */
  readonly next: () => Promise<Line>
  readonly close: () => void
  readonly ended: Promise<unknown>
}

const response = (url: string, path: string, accept = "application/json"): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(url + path, { headers: { accept }, agent: false }, resolve)
    request.once("error", reject)
    request.end()
  })

const opened = async (url: string, path: string, accept?: string): Promise<Opened> => {
  const answer = await response(url, path, accept)
  const lines: Line[] = []
  let rest = ""
  let wake = (): void => undefined
  answer.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n")
    rest = parts.pop() ?? ""
    lines.push(...parts.map((part) => JSON.parse(part) as Line))
    wake()
  })
  answer.on("error", () => undefined)
  const next = async (): Promise<Line> => {
    const deadline = AbortSignal.timeout(5000)
    while (lines.length === 0) {
      await new Promise<void>((resolve, reject) => {
        wake = resolve
        deadline.onabort = () => {
          reject(new Error(`no line came of ${path}`))
        }
      })
    }
    return lines.shift() as Line
  }
  return {
    next,
    close: () => answer.destroy(),
    ended: new Promise((resolve) => answer.once("close", resolve))
  }
}

const everything = async (url: string, path: string): Promise<string> => {
  const answer = await fetch(url + path)
  return answer.text()
}
