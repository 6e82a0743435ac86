/**
 * Stories that went wrong once, in their shortest form.
 */
import type { Command, Story } from "./commands.ts"
import { plain, simple } from "./words.ts"

const story = (...beats: readonly (readonly [Command, number])[]): Story => ({
  seed: 0,
  pageSize: 100,
  concurrency: 2,
  beats: beats.map(([command, steps]) => ({ command, steps }))
})

const AT_REST = 1000
const a: Command = { _tag: "AddNode", node: 1, key: "zone", value: "a" }
const b: Command = { _tag: "AddNode", node: 2, key: "zone", value: "b" }
const made: Command = { _tag: "MakeGrid", grid: 0, words: simple }

export const KNOWN: readonly { readonly name: string; readonly story: Story }[] = [
  {
    name: "a child that was met as a stranger is deleted by another controller, which asked for it without end",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "Lag", kind: "deployments", back: 15, ms: 500 }, 0],
      [{ _tag: "Second" }, AT_REST],
      [{ _tag: "Unlabel", node: 1, key: "zone" }, AT_REST]
    )
  },
  {
    name: "unused templates are removed after the server was in trouble, and the grid was looked at without end",
    story: story(
      [{ _tag: "MakeGrid", grid: 0, words: { ...simple, pool: new Map([["t1", plain]]) } }, AT_REST],
      [{ _tag: "Storm", n: 3, trouble: "Internal" }, 0],
      [{ _tag: "EditGrid", grid: 0, edit: { _tag: "Whole", change: { autoDelete: true } } }, AT_REST]
    )
  },
  {
    name: "the clock is set back an hour in the grace time of a unit, which lasted an hour longer",
    story: story(
      [a, 0],
      [b, 0],
      [made, AT_REST],
      [{ _tag: "Unlabel", node: 2, key: "zone" }, AT_REST],
      [{ _tag: "Jump", ms: -3_600_000 }, 0]
    )
  },
  {
    name: "the end of a grid is lost, and its children were made as fast as the garbage collector took them",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "Lose", kind: "deploymentgrids", n: 1 }, 0],
      [{ _tag: "DeleteGrid", grid: 0, children: "collected" }, AT_REST]
    )
  },
  {
    name: "a child is deleted under a controller that sees it late",
    story: story(
      [a, 0],
      [made, AT_REST],
      [{ _tag: "Touch", child: 0, how: "hold" }, AT_REST],
      [{ _tag: "Kill", nth: 1, moment: "between" }, 0],
      [{ _tag: "EditGrid", grid: 0, edit: { _tag: "Template", of: "", change: { image: 2 } } }, AT_REST]
    )
  }
]
