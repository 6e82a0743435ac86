import { Effect } from "effect"
import { expect, it } from "vitest"
import { controllers } from "../../src/embedded/controllers.ts"
import { embedded, type Embedded } from "../../src/embedded/server.ts"
import type { Exchange } from "../recorded/exchange.ts"
import { preparation, stories } from "./replay.ts"

// What a real API server (1.37) said over HTTP, in stories of which the forms of answers are the point.
it.each(["tables", "discovery", "negotiation"])(
  "the server answers the recorded story %s as the API server did",
  async (name) => {
    const served = Effect.flatMap(embedded({ port: 0, controllers: controllers([]) }), (cluster) =>
      Effect.promise(() => told(cluster, story(name)))
    )
    const answers = await Effect.runPromise(Effect.scoped(served))
    expect(answers.map(({ said }) => said)).toEqual(answers.map(({ recorded }) => recorded))
  }
)

const story = (name: string): readonly Exchange[] =>
  stories().find((each) => each.name === name)?.exchanges ?? []

interface Told {
  readonly said: unknown
  readonly recorded: unknown
}

/** Asks what the story asks; each answer beside the recorded one, both with what they are an answer to. */
const told = async (cluster: Embedded, exchanges: readonly Exchange[]): Promise<readonly Told[]> => {
  prepare(cluster)
  const meaning = new Map<string, string>()
  const all: Told[] = []
  for (const { request, response } of exchanges) {
    const query = new URLSearchParams(
      Object.entries(request.query ?? {}).map(([key, value]) => [key, meaning.get(value) ?? value])
    ).toString()
    const text = request.text ?? (request.body === undefined ? undefined : JSON.stringify(request.body))
    const answer = await fetch(`${cluster.url}${request.path}?${query}`, {
      method: request.method,
      headers: {
        accept: request.accept ?? "application/json",
        "user-agent": "recorder",
        ...(text === undefined ? {} : { "content-type": request.contentType ?? "application/json" })
      },
      ...(text === undefined ? {} : { body: text })
    })
    const question = `${request.method} ${request.path}?${query} (${request.accept ?? ""})`
    const body = veiled(response.body, understood(await answer.text()), meaning)
    all.push({
      said: { question, code: answer.status, body: kept(body) },
      recorded: { question, code: response.code, body: kept(response.body) }
    })
  }
  return all
}

/** Each story finds what the recorded one found. */
const prepare = ({ request }: Embedded): void => {
  for (const each of preparation()) {
    const answer = request({ ...each, method: "POST", query: {}, contentType: "application/json" })
    if (answer.code !== 201) throw new Error(JSON.stringify(answer.body))
  }
}

/** JSON, the lines of a watch, or text. */
const understood = (text: string): unknown => {
  try {
    const value = JSON.parse(text) as Fields
    return typeof value["type"] === "string" && value["object"] !== undefined ? [value] : value
  } catch {
    const lines = text.trim().split("\n")
    return lines.length > 1 && lines.every((line) => line.startsWith("{"))
      ? lines.map((line) => JSON.parse(line) as unknown)
      : text
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The answer, with the recording's placeholders where those stand for what is there. */
const veiled = (recorded: unknown, said: unknown, meaning: Map<string, string>): unknown => {
  if (recorded === "<left out>") return recorded
  if (typeof recorded === "string") return veiledText(recorded, said, meaning)
  if (Array.isArray(recorded) && Array.isArray(said)) return veiledList(recorded, said, meaning)
  if (typeof recorded !== "object" || recorded === null || typeof said !== "object" || said === null)
    return said
  return Object.fromEntries(
    Object.entries(said).map(([key, value]) => [key, veiled((recorded as Fields)[key], value, meaning)])
  )
}

const veiledText = (recorded: string, said: unknown, meaning: Map<string, string>): unknown => {
  if (/^<[\w-]+>$/.test(recorded)) meaning.set(recorded, String(said))
  const pattern = recorded
    .split(/<(?!none|unknown|unset)[\w-]+>/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&"))
    .join(".*")
  return new RegExp(`^${pattern}$`, "s").test(String(said)) ? recorded : said
}

/** Of what discovery lists only some kinds were recorded; managers are told in no particular order. */
const veiledList = (
  recorded: readonly unknown[],
  said: readonly unknown[],
  meaning: Map<string, string>
): readonly unknown[] => {
  const names = recorded.map(nameOf)
  if (names.some((each) => each === undefined)) {
    return said.map((each, place) => veiled(recorded[place], each, meaning))
  }
  const known = said.filter((each) => names.includes(nameOf(each)))
  return recorded.flatMap((each) =>
    known.filter((other) => nameOf(other) === nameOf(each)).map((other) => veiled(each, other, meaning))
  )
}

const nameOf = (value: unknown): string | undefined => {
  const { name, resource, manager, operation, metadata, subresource } = (value ?? {}) as Fields
  const own = name ?? resource ?? (metadata as Fields | undefined)?.["name"] ?? manager
  return own === undefined ? undefined : [own, operation, subresource].join(" ")
}

/**
 * An answer without what is the model's part (managers), and what is this very server's: its address,
 * its build, that it knows no protobuf, and how its parser words what
 * is wrong.
 */
const kept = (value: unknown): unknown => {
  if (typeof value === "string") {
    return value.replaceAll(
      /, application\/vnd\.kubernetes\.protobuf[^,]*|(?<=json parse error|invalid JSON patch):.*/gs,
      ""
    )
  }
  if (Array.isArray(value)) return value.map(kept)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !ASIDE.has(key))
      .map(([key, each]) => [key, kept(each)])
  )
}

const ASIDE: ReadonlySet<string> = new Set([
  "managedFields",
  "storageVersionHash",
  "serverAddress",
  "gitVersion",
  "gitCommit",
  "goVersion",
  "compiler"
])
