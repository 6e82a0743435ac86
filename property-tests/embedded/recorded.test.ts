import { describe, expect, it } from "vitest"
import type { Exchange } from "../recorded/exchange.ts"
import { replay, stories } from "./replay.ts"

// What a real API server (1.37) answered, asked of the model request by request: code, reason, message, object and
// managedFields. The stories about the forms of answers over HTTP are told to the server (wire.test.ts).
const ON_THE_WIRE = ["tables", "discovery", "negotiation"]

interface Aside {
  readonly story: string
  readonly shows: RegExp
  readonly path: RegExp
  readonly why: string
}

const aside = (story: string, shows: RegExp, path: RegExp, why: string): Aside => ({
  story,
  shows,
  path,
  why
})

const MESSAGE = /message$/

const ASIDE: readonly Aside[] = [
  aside("replace", /merge patch of a wrong type/, MESSAGE, "quotes the whole object in Go's order of keys"),
  aside("list", /a malformed token/, MESSAGE, "quotes Go's JSON parser"),
  aside("watch", /with bookmarks/, /^body$/, "the line that the server adds when a watch's time is over"),
  aside("apply", /no YAML/, MESSAGE, "quotes Go's YAML parser"),
  aside(
    "completed",
    /a broad pod template/,
    /^warning$/,
    "warnings about volumes and spreading are not given"
  ),
  aside("workloads", /volumeClaimTemplates|two of them/, MESSAGE, "shows the value as a Go struct"),
  aside("other-kinds", /a bound pod can't move/, MESSAGE, "ends with a difference of Go structs"),
  aside("crd", /a rule that doesn't compile/, /./, "rules are compiled when they are first used"),
  aside(
    "crd",
    /no integer|a wrong type/,
    /message|causes/,
    "the server tells it again for its scale subresource"
  ),
  aside("crd", /a key twice/, MESSAGE, "a parsed body holds no key twice")
]

const isAside =
  (story: string) =>
  ({ shows = "" }: Exchange, path: string): boolean =>
    ASIDE.some((each) => each.story === story && each.shows.test(shows) && each.path.test(path))

describe("step", () => {
  const told = stories().filter(({ name }) => !ON_THE_WIRE.includes(name))
  it.each(told.map((story) => [story.name, story] as const))(
    "answers the story %s as the real server did",
    (name, story) => {
      const differences = replay(story, isAside(name)).map(({ at, ...each }) => ({
        request: `${at}: ${story.exchanges[at]?.shows ?? story.exchanges[at]?.request.path}`,
        ...each
      }))
      expect(differences).toEqual([])
    }
  )

  it("leaves nothing aside that isn't in the recordings", () => {
    const shown = told.flatMap(({ name, exchanges }) =>
      exchanges.map(({ shows = "" }) => `${name}: ${shows}`)
    )
    const unused = ASIDE.filter(
      ({ story, shows }) => !shown.some((each) => each.startsWith(`${story}: `) && shows.test(each))
    )
    expect(unused).toEqual([])
  })
})
